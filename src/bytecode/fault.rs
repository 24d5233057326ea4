//! What can be wrong with the bytes, and where.

use super::text::Text;
use crate::error::{Code, Fault};

/// A place in the bytes that is not what the format says, and what would be right.
///
/// ```
/// use mosaic_memspace::bytecode::Bytecode;
/// let fault = Bytecode::parse(b"ML\xefR\x0fx\0").unwrap_err();
/// assert_eq!(fault.offset(), 4);
/// assert_eq!(
///     fault.to_string(),
///     "byte 4: version 7 of the bytecode format, expected 0 to 6"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("byte {offset}: {problem}")]
pub struct BytecodeFault {
    offset: usize,
    problem: BytecodeProblem,
}

impl BytecodeFault {
    pub(super) const fn new(offset: usize, problem: BytecodeProblem) -> Self {
        Self { offset, problem }
    }

    /// Where it is, in bytes from the start of the file.
    pub const fn offset(&self) -> usize {
        self.offset
    }

    /// What is wrong there.
    pub const fn problem(&self) -> &BytecodeProblem {
        &self.problem
    }
}

impl Fault for BytecodeFault {
    fn code(&self) -> Code {
        Code::InvalidBytecode
    }
}

/// What is wrong at a place in the bytes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BytecodeProblem {
    /// The first four bytes are others.
    #[error("this is no MLIR bytecode, which begins with the bytes 4d 4c ef 52")]
    Magic,
    /// A version of the format that is not known.
    #[error("version {found} of the bytecode format, expected 0 to {newest}")]
    Version {
        /// The version that the file says.
        found: u64,
        /// The newest one that is known.
        newest: u64,
    },
    /// More bytes than this crate numbers.
    #[error("a file of {length} bytes, expected at most {most}")]
    FileTooLong {
        /// How many there are.
        length: usize,
        /// How many there may be.
        most: usize,
    },
    /// The data end within something.
    #[error("{what} ends after {left} of {needed} bytes")]
    Ends {
        /// What was being read.
        what: &'static str,
        /// How many bytes it takes.
        needed: u64,
        /// How many there are.
        left: usize,
    },
    /// A count of more things than the bytes that are left can hold.
    #[error("{count} {what}, expected at most {most} in the bytes that are left")]
    Count {
        /// What is counted.
        what: &'static str,
        /// How many, it says.
        count: u64,
        /// How many there can be.
        most: usize,
    },
    /// A number of something that does not exist.
    #[error("{what} {index}, expected less than {count}")]
    Index {
        /// What is numbered.
        what: &'static str,
        /// The number.
        index: u64,
        /// How many there are.
        count: usize,
    },
    /// Bytes after the last thing of a section or an entry.
    #[error("{left} bytes left at the end of {what}, expected none")]
    LeftOver {
        /// What should have ended.
        what: &'static str,
        /// How many bytes there are.
        left: usize,
    },
    /// A section that must be there is not.
    #[error("no section {id} ({what}), which every file has")]
    MissingSection {
        /// Its number.
        id: u8,
        /// What it holds.
        what: &'static str,
    },
    /// A section that is there twice.
    #[error("section {id} a second time, expected each once")]
    RepeatedSection {
        /// Its number.
        id: u8,
    },
    /// A section that does not belong there.
    #[error("section {found}, expected {expected}")]
    Section {
        /// Its number.
        found: u8,
        /// What would be right.
        expected: &'static str,
    },
    /// An alignment that is no power of two, or a padding byte that is not `cb`.
    #[error("{what}, expected {expected}")]
    Alignment {
        /// What stands there.
        what: &'static str,
        /// What would be right.
        expected: &'static str,
    },
    /// A string without the NUL that ends it.
    #[error("{what} without a NUL at its end")]
    Unterminated {
        /// What it is.
        what: &'static str,
    },
    /// The code of an attribute or a type that is not known.
    #[error("unknown code {code} of {what}, expected 0 to {most}")]
    Code {
        /// Attribute, type, or a part of one.
        what: &'static str,
        /// The code.
        code: u64,
        /// The highest that is known.
        most: u64,
    },
    /// An entry in a dialect's own encoding that only the dialect can read.
    #[error("{what} in the encoding of dialect {dialect}, expected text or the builtin dialect")]
    Dialect {
        /// Attribute or type.
        what: &'static str,
        /// The dialect's name.
        dialect: String,
    },
    /// An entry of another kind than the place wants.
    #[error("{found}, expected {expected}")]
    Kind {
        /// What stands there.
        found: &'static str,
        /// What would be right.
        expected: &'static str,
    },
    /// Things nested in each other deeper than is read.
    #[error("{what} nested deeper than {most}")]
    Depth {
        /// What is nested.
        what: &'static str,
        /// How deep it may be.
        most: usize,
    },
    /// A region that says how many values it defines, and defines another number.
    #[error("a region that defines {found} values, expected the {said} that it says")]
    Values {
        /// How many there are.
        found: u64,
        /// How many it says.
        said: u64,
    },
    /// A value that is used and that nothing defines.
    #[error("value {number} is defined nowhere, expected a block argument or a result")]
    Undefined {
        /// Its number.
        number: u64,
    },
    /// A mask of an operation with bits that this version does not have.
    #[error("operation mask {mask:#04x}, expected no bit but those of {known:#04x}")]
    Mask {
        /// The mask.
        mask: u8,
        /// The bits that there are.
        known: u8,
    },
    /// The file's one operation is another.
    #[error("operation {name} outermost, expected builtin.module")]
    NotAModule {
        /// Its name.
        name: String,
    },
}

impl BytecodeProblem {
    pub(super) fn of_dialect(what: &'static str, dialect: Text<'_>) -> Self {
        Self::Dialect { what, dialect: dialect.to_string() }
    }
}
