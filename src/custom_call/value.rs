//! What a custom call is made of: named values and the types of arrays.

use super::config::sink::Sink;
use crate::dtype::Dtype;
use crate::error::{Code, Fault};
use crate::word::Shown;
use std::fmt;

/// An operand of a call.
///
/// ```
/// use mosaic_memspace::Dtype;
/// use mosaic_memspace::custom_call::{CallOperand, TensorType, ValueName};
/// let operand = CallOperand::new(ValueName::new("%1")?, TensorType::new(&[], Dtype::Int32));
/// assert_eq!(operand.array.to_string(), "tensor<i32>");
/// # Ok::<(), mosaic_memspace::custom_call::NotAValueName>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct CallOperand<'a> {
    /// The value.
    pub name: ValueName<'a>,
    /// Its type.
    pub array: TensorType<'a>,
}

impl<'a> CallOperand<'a> {
    /// The value with this name, of this type.
    ///
    /// ```
    /// use mosaic_memspace::Dtype;
    /// use mosaic_memspace::custom_call::{CallOperand, TensorType, ValueName};
    /// let name = ValueName::new("%x")?;
    /// assert_eq!(CallOperand::new(name, TensorType::new(&[4], Dtype::Bool)).name, name);
    /// # Ok::<(), mosaic_memspace::custom_call::NotAValueName>(())
    /// ```
    pub const fn new(name: ValueName<'a>, array: TensorType<'a>) -> Self {
        Self { name, array }
    }
}

/// The type of an array outside of kernels.
///
/// ```
/// use mosaic_memspace::Dtype;
/// use mosaic_memspace::custom_call::TensorType;
/// let array = TensorType::new(&[2, 3], Dtype::Uint8);
/// assert_eq!(array.to_string(), "tensor<2x3xui8>");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct TensorType<'a> {
    /// The extents, major to minor.
    pub shape: &'a [u64],
    /// The type of its elements.
    pub dtype: Dtype,
}

impl<'a> TensorType<'a> {
    /// The type of arrays with this shape and these elements.
    ///
    /// ```
    /// use mosaic_memspace::Dtype;
    /// use mosaic_memspace::custom_call::TensorType;
    /// const SCALAR: TensorType<'static> = TensorType::new(&[], Dtype::Bfloat16);
    /// assert_eq!(SCALAR.to_string(), "tensor<bf16>");
    /// ```
    pub const fn new(shape: &'a [u64], dtype: Dtype) -> Self {
        Self { shape, dtype }
    }

    pub(super) const fn parts(self) -> (&'a [u64], Dtype) {
        (self.shape, self.dtype)
    }
}

impl fmt::Display for TensorType<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        tensor(*self, &mut text);
        f.pad(&text)
    }
}

/// The name of a value in MLIR: `%0`, `%arg0`, `%2#1`.
///
/// ```
/// use mosaic_memspace::custom_call::ValueName;
/// assert!(ValueName::new("%arg0").is_ok());
/// assert_eq!(
///     ValueName::new("arg0").unwrap_err().to_string(),
///     "not the name of a value: arg0; expected one such as %0, %arg0 or %2#1"
/// );
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ValueName<'a>(&'a str);

impl<'a> ValueName<'a> {
    /// `%0`
    pub const FIRST: Self = Self("%0");

    /// The name, if MLIR reads it as one.
    ///
    /// # Errors
    /// [`NotAValueName`]
    ///
    /// ```
    /// use mosaic_memspace::custom_call::ValueName;
    /// assert!(ValueName::new("%2#1").is_ok());
    /// assert!(ValueName::new("%2x").is_err());
    /// ```
    pub fn new(name: &'a str) -> Result<Self, NotAValueName> {
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let letter =
            |byte: u8| byte.is_ascii_alphabetic() || matches!(byte, b'$' | b'.' | b'_' | b'-');
        let word = |text: &str| {
            text.bytes().next().is_some_and(letter)
                && text.bytes().all(|byte| letter(byte) || byte.is_ascii_digit())
        };
        let is_name = name.strip_prefix('%').is_some_and(|name| match name.split_once('#') {
            Some((name, part)) => (digits(name) || word(name)) && digits(part),
            None => digits(name) || word(name),
        });
        if is_name { Ok(Self(name)) } else { Err(NotAValueName(name.to_owned())) }
    }

    /// The name, with its percent sign.
    ///
    /// ```
    /// assert_eq!(mosaic_memspace::custom_call::ValueName::FIRST.as_str(), "%0");
    /// ```
    pub const fn as_str(self) -> &'a str {
        self.0
    }
}

/// A text that is no value's name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not the name of a value: {}; expected one such as %0, %arg0 or %2#1", Shown(.0))]
pub struct NotAValueName(String);

impl Fault for NotAValueName {
    fn code(&self) -> Code {
        Code::NotAValueName
    }
}

/// The type of an array that a call of a dump takes or gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DumpedType {
    /// In elements.
    pub shape: Vec<u64>,
    /// What it holds; `None` for a type of another kind.
    pub dtype: Option<Dtype>,
}

/// An array's type, as MLIR writes it.
pub(super) fn tensor<S: Sink>(array: TensorType<'_>, sink: &mut S) {
    sink.text("tensor<");
    for extent in array.shape {
        sink.natural(*extent);
        sink.text("x");
    }
    sink.text(array.dtype.as_stablehlo());
    sink.text(">");
}
