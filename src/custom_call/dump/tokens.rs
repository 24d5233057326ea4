//! The tokens of a line of MLIR or HLO, as far as a search for calls needs them.

use std::borrow::Cow;
use std::ops::Range;

/// The tokens of a line of MLIR or HLO, as far as they matter here.
pub(super) struct Tokens<'l> {
    line: &'l str,
    pub(super) at: usize,
}

pub(super) enum Token<'l> {
    /// A name or a number, with what sets it apart: `%0`, `@main`, `stablehlo.add`.
    Word(&'l str),
    /// What stands between quotes, with its escapes, and where.
    Text(&'l str, Range<usize>),
    /// `->`
    Arrow,
    /// Any other character.
    Mark(u8),
}

impl<'l> Tokens<'l> {
    pub(super) const fn new(line: &'l str) -> Self {
        Self { line, at: 0 }
    }

    fn rest(&self) -> &'l [u8] {
        self.line.as_bytes().get(self.at..).unwrap_or_default()
    }

    fn pass(&mut self, bytes: usize) {
        self.at = self.at.saturating_add(bytes);
    }

    pub(super) fn next(&mut self) -> Option<Token<'l>> {
        self.pass(self.rest().iter().take_while(|byte| byte.is_ascii_whitespace()).count());
        let rest = self.rest();
        let first = *rest.first()?;
        if first == b'"' {
            self.pass(1);
            return Some(self.quoted());
        }
        if rest.starts_with(b"->") {
            self.pass(2);
            return Some(Token::Arrow);
        }
        let length = word_len(rest);
        if length == 0 {
            self.pass(1);
            return Some(Token::Mark(first));
        }
        let word = self.line.get(self.at..self.at.saturating_add(length)).unwrap_or_default();
        self.pass(length);
        Some(Token::Word(word))
    }

    /// The rest of a string, up to its closing quote or the line's end.
    fn quoted(&mut self) -> Token<'l> {
        let begin = self.at;
        let mut end = self.line.len();
        while let Some(next) = self.line.get(self.at..).and_then(|rest| rest.find(['"', '\\'])) {
            self.pass(next);
            if self.rest().starts_with(b"\"") {
                end = self.at;
                self.pass(1);
                break;
            }
            // What is escaped is never the end; past the line's end there is nothing.
            self.pass(2);
        }
        if end == self.line.len() {
            self.at = end;
        }
        Token::Text(self.line.get(begin..end).unwrap_or_default(), begin..end)
    }

    /// Passes over `word` if it comes next.
    pub(super) fn skip(&mut self, word: &str) -> bool {
        let blanks = self.rest().iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let after = self.rest().get(blanks..).and_then(|rest| rest.strip_prefix(word.as_bytes()));
        let whole =
            after.is_some_and(|after| word_len(word.as_bytes()) == 0 || word_len(after) == 0);
        if whole {
            self.pass(blanks.saturating_add(word.len()));
        }
        whole
    }

    /// Passes over a bracketed list, whose opening bracket has been passed, and
    /// counts its elements.
    pub(super) fn group(&mut self) -> usize {
        let mut depth = 1_usize;
        let mut commas = 0_usize;
        let mut empty = true;
        while let Some(token) = self.next() {
            match token {
                Token::Mark(b'(' | b'[' | b'{' | b'<') => depth = depth.saturating_add(1),
                Token::Mark(b')' | b']' | b'}' | b'>') => depth = depth.saturating_sub(1),
                Token::Mark(b',') if depth == 1 => commas = commas.saturating_add(1),
                Token::Mark(_) | Token::Word(_) | Token::Text(..) | Token::Arrow => {}
            }
            if depth == 0 {
                break;
            }
            empty = false;
        }
        if empty { 0 } else { commas.saturating_add(1) }
    }
}

/// The brackets that are open in a line, which may grow.
#[derive(Default)]
pub(super) struct Brackets {
    depth: usize,
    at: usize,
}

impl Brackets {
    /// Whether any is open at the end of the line, which begins as it did before.
    pub(super) fn open_at_end(&mut self, line: &str) -> bool {
        let mut tokens = Tokens { line, at: self.at };
        while let Some(token) = tokens.next() {
            match token {
                Token::Mark(b'(' | b'[' | b'{') => self.depth = self.depth.saturating_add(1),
                Token::Mark(b')' | b']' | b'}') => self.depth = self.depth.saturating_sub(1),
                Token::Mark(_) | Token::Word(_) | Token::Text(..) | Token::Arrow => {}
            }
        }
        self.at = tokens.at;
        self.depth > 0
    }
}

/// How many bytes of a word come first. A dash is part of HLO's words, but not of an arrow.
fn word_len(bytes: &[u8]) -> usize {
    let part = |byte: u8, next: Option<&u8>| match byte {
        b'-' => next != Some(&b'>'),
        b'_' | b'.' | b'$' | b'%' | b'@' | b'#' | b'!' => true,
        _ => byte.is_ascii_alphanumeric(),
    };
    let nexts = bytes.iter().skip(1).map(Some).chain([None]);
    bytes.iter().zip(nexts).take_while(|(byte, next)| part(**byte, *next)).count()
}

/// How a string of a dump is escaped.
#[derive(Clone, Copy, Debug)]
pub(super) enum Escapes {
    None,
    /// `\22`: two hexadecimal digits; or `\\`, `\"`, `\n`, `\t`.
    Mlir,
    /// `\042`: three octal digits; or as in C.
    Hlo,
}

/// The string without its escapes; what is no escape stands for itself.
pub(super) fn unescape(text: &str, escapes: Escapes) -> Cow<'_, str> {
    let (base, digits) = match escapes {
        Escapes::None => return Cow::Borrowed(text),
        Escapes::Mlir => (16, 2),
        Escapes::Hlo => (8, 3),
    };
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, escaped)) = rest.split_once('\\') {
        plain.extend_from_slice(before.as_bytes());
        let number = escaped.get(..digits).and_then(|code| u8::from_str_radix(code, base).ok());
        let (byte, length) = match (number, escaped.as_bytes().first()) {
            (Some(byte), _) => (byte, digits),
            (None, Some(b'n')) => (b'\n', 1),
            (None, Some(b't')) => (b'\t', 1),
            (None, Some(b'r')) => (b'\r', 1),
            (None, Some(byte @ (b'"' | b'\'' | b'\\'))) => (*byte, 1),
            (None, _) => (b'\\', 0),
        };
        plain.push(byte);
        rest = escaped.get(length..).unwrap_or_default();
    }
    plain.extend_from_slice(rest.as_bytes());
    Cow::Owned(match String::from_utf8(plain) {
        Ok(plain) => plain,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    })
}
