//! Lines and columns of a text.

use super::fault::Span;
use std::ops::Range;

/// A place in a text: its byte, and its line and column, both from 1; columns count
/// characters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Position {
    pub(super) byte: usize,
    pub(super) line: usize,
    pub(super) column: usize,
}

impl Position {
    pub(super) const START: Self = Self { byte: 0, line: 1, column: 1 };

    /// The position of a byte that is further on in the same text.
    pub(super) fn after(self, text: &str, byte: usize) -> Self {
        let bytes = text.as_bytes().get(self.byte..byte).unwrap_or_default();
        let lines = bytes.split(|byte| *byte == b'\n');
        let (newlines, last_line) = lines.enumerate().last().unwrap_or_default();
        // A character has one byte that does not continue another.
        let characters = last_line.iter().filter(|byte| (**byte & 0xc0) != 0x80).count();
        let column = if newlines == 0 { self.column } else { 1 };
        Self {
            byte,
            line: self.line.saturating_add(newlines),
            column: column.saturating_add(characters),
        }
    }
}

/// Positions in a text: it is read once, as far as it is asked for, whatever is asked.
#[derive(Debug)]
pub(super) struct Positions<'a> {
    text: &'a str,
    /// Positions at equal distances.
    marks: Vec<Position>,
}

impl<'a> Positions<'a> {
    /// Bytes from one mark to the next.
    const STEP: usize = 4096;

    /// Those that are no earlier than `start`.
    pub(super) fn new(text: &'a str, start: Position) -> Self {
        Self { text, marks: vec![start] }
    }

    /// The part of the text with these bytes.
    pub(super) fn span(&mut self, range: Range<usize>) -> Span {
        let first = self.marks.first().map_or(0, |mark| mark.byte);
        let number = range.start.saturating_sub(first).checked_div(Self::STEP).unwrap_or(0);
        while let Some(last) = self.marks.last()
            && self.marks.len() <= number
        {
            self.marks.push(last.after(self.text, last.byte.saturating_add(Self::STEP)));
        }
        let mark = self.marks.get(number).copied().unwrap_or(Position::START);
        let Position { line, column, .. } = mark.after(self.text, range.start);
        Span { range, line, column }
    }
}
