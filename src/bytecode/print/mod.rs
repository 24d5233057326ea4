//! Types and attributes as MLIR prints them, up to a bound: a small file can say what
//! unfolds without end.

mod affine;
mod attributes;
mod dense;
mod locations;
mod types;

use super::file::Bytecode;
use super::tables::{AttributeId, TypeId};
use super::text::Text;
use std::fmt::{self, Write};

/// A type or attribute to be printed, as MLIR does; what would be longer than
/// [`LONGEST`](Self::LONGEST) bytes ends in `…`, and what cannot be read is told.
#[derive(Clone, Copy, Debug)]
pub struct Printed<'m, 'a> {
    file: &'m Bytecode<'a>,
    what: What,
    longest: usize,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Type(TypeId),
    Attribute(AttributeId),
}

impl<'a> Bytecode<'a> {
    /// The type, as MLIR prints it.
    pub const fn show_type(&self, id: TypeId) -> Printed<'_, 'a> {
        Printed { file: self, what: What::Type(id), longest: Printed::LONGEST }
    }

    /// The attribute, as MLIR prints it.
    pub const fn show_attribute(&self, id: AttributeId) -> Printed<'_, 'a> {
        Printed { file: self, what: What::Attribute(id), longest: Printed::LONGEST }
    }
}

impl Printed<'_, '_> {
    /// Bytes that are printed at most, where no other number was asked for.
    pub const LONGEST: usize = 1 << 16;

    /// The same, cut after so many bytes.
    #[must_use]
    pub const fn at_most(self, longest: usize) -> Self {
        Self { longest, ..self }
    }
}

impl fmt::Display for Printed<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = Limited { out: f, left: self.longest, full: false };
        let mut printer = Printer { file: self.file, out: &mut out, depth: 0 };
        let written = match self.what {
            What::Type(id) => printer.r#type(id),
            What::Attribute(id) => printer.attribute(id, Elide::Nothing),
        };
        // The only failure that is not the formatter's own is that of a bound.
        if written.is_err() && out.full { f.write_char('…') } else { written }
    }
}

/// Lets so many bytes through.
struct Limited<'f, 'g> {
    out: &'f mut fmt::Formatter<'g>,
    left: usize,
    full: bool,
}

impl Bounded for Limited<'_, '_> {
    fn stop(&mut self) -> fmt::Error {
        self.full = true;
        fmt::Error
    }
}

/// Where one writes up to a bound.
trait Bounded: Write {
    /// Says that the bound is reached.
    fn stop(&mut self) -> fmt::Error;
}

impl Write for Limited<'_, '_> {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        match self.left.checked_sub(piece.len()) {
            Some(left) if !self.full => {
                self.left = left;
                self.out.write_str(piece)
            }
            _ => Err(self.stop()),
        }
    }
}

/// Whether a number says its type where the usual one is meant.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Elide {
    Nothing,
    UsualType,
}

/// Things nested deeper are not printed.
const DEEPEST: usize = 128;

struct Printer<'p, 'm, 'a> {
    file: &'m Bytecode<'a>,
    out: &'p mut dyn Bounded,
    depth: usize,
}

impl Printer<'_, '_, '_> {
    /// Writes what `inside` writes, one level deeper.
    fn deeper(&mut self, inside: impl FnOnce(&mut Self) -> fmt::Result) -> fmt::Result {
        if self.depth >= DEEPEST {
            return Err(self.out.stop());
        }
        self.depth = self.depth.saturating_add(1);
        let written = inside(self);
        self.depth = self.depth.saturating_sub(1);
        written
    }

    /// Writes things with commas between them.
    fn list<T>(
        &mut self,
        things: impl IntoIterator<Item = T>,
        mut one: impl FnMut(&mut Self, T) -> fmt::Result,
    ) -> fmt::Result {
        for (place, thing) in things.into_iter().enumerate() {
            if place > 0 {
                self.out.write_str(", ")?;
            }
            one(self, thing)?;
        }
        Ok(())
    }

    /// Writes text that stands in the file as MLIR prints it; nothing that would steer a
    /// terminal.
    fn plain(&mut self, text: Text<'_>) -> fmt::Result {
        let text = text.to_str_lossy();
        for piece in text.split_inclusive(char::is_control) {
            let harmless = piece.trim_end_matches(char::is_control);
            self.out.write_str(harmless)?;
            for control in piece.chars().filter(|character| character.is_control()) {
                write!(self.out, "{}", control.escape_debug())?;
            }
        }
        Ok(())
    }

    fn quoted(&mut self, text: Text<'_>) -> fmt::Result {
        self.out.write_str("\"")?;
        for byte in text.as_bytes() {
            match byte {
                b'\\' => self.out.write_str("\\\\")?,
                b' '..=b'~' if *byte != b'"' => self.out.write_char(char::from(*byte))?,
                _ => write!(self.out, "\\{byte:02X}")?,
            }
        }
        self.out.write_str("\"")
    }
}

/// Whether a name needs no quotes.
fn is_bare(name: Text<'_>) -> bool {
    match name.as_bytes().split_first() {
        Some((first, rest)) => {
            (first.is_ascii_alphabetic() || *first == b'_')
                && rest
                    .iter()
                    .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.'))
        }
        None => false,
    }
}
