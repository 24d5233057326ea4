//! Faults: what is wrong, with a stable code and what would be right.

mod codes;
mod faults;
mod row;
mod unknown;
mod words;

pub use codes::{Code, Severity};
pub use faults::Faults;
pub(crate) use row::faults;
pub use unknown::UnknownWord;
pub(crate) use words::words;

/// What an error of this crate says besides its message.
///
/// ```
/// use mosaic_memspace::CoreType;
/// use mosaic_memspace::error::{Code, Fault};
///
/// let error = "gpu".parse::<CoreType>().unwrap_err();
/// assert_eq!(error.code(), Code::UnknownCoreType);
/// assert_eq!(error.help(), "write one of the three core types, in lower case");
/// ```
pub trait Fault: std::error::Error {
    /// The stable code of the fault.
    fn code(&self) -> Code;

    /// What would be right; by default what the code says of it.
    fn help(&self) -> String {
        self.code().mend().to_owned()
    }

    /// The field that it is about, of the object of a description in which it is
    /// found, e.g. `block_shape`; `None` where it is about the object as a whole.
    fn field(&self) -> Option<&'static str> {
        None
    }
}
