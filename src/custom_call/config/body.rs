//! A kernel's body: its bytes, its base64 in the config, and what can be read from it.

use crate::attribute::MemorySpaceAttr;
use crate::error::{Code, Fault};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Bytes that stand in the JSON as base64: a kernel's body, its debug locations.
///
/// ```
/// use mosaic_memspace::custom_call::Body;
/// let body = Body::Bytes(b"a module");
/// assert_eq!(body.decode()?, b"a module".as_slice());
/// # Ok::<(), mosaic_memspace::custom_call::InvalidBase64>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body<'a> {
    /// The bytes themselves.
    Bytes(&'a [u8]),
    /// Their base64 as it was read. It has not been decoded yet, and may be invalid.
    Base64(Base64<'a>),
}

impl Default for Body<'_> {
    fn default() -> Self {
        Self::Bytes(&[])
    }
}

impl Body<'_> {
    /// The bytes, decoded now if they were read.
    ///
    /// # Errors
    /// [`InvalidBase64`]: what was read is not base64.
    ///
    /// ```
    /// # #[cfg(feature = "read")] {
    /// use mosaic_memspace::custom_call::BackendConfig;
    /// let config = BackendConfig::from_json(r#"{"custom_call_config": {"body": "TUw="}}"#)?;
    /// assert_eq!(config.body.decode()?, b"ML".as_slice());
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn decode(&self) -> Result<Cow<'_, [u8]>, InvalidBase64> {
        match self {
            Self::Bytes(bytes) => Ok(Cow::Borrowed(bytes)),
            Self::Base64(base64) => base64_simd::forgiving_decode_to_vec(base64.0.as_bytes())
                .map(Cow::Owned)
                .map_err(|_| InvalidBase64 { length: base64.0.len() }),
        }
    }

    /// Whether there are no bytes.
    ///
    /// ```
    /// assert!(mosaic_memspace::custom_call::Body::Bytes(b"").is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Bytes(bytes) => bytes.is_empty(),
            Self::Base64(base64) => base64.0.is_empty(),
        }
    }
}

/// A string that was read where base64 is expected.
///
/// It is borrowed from the JSON, or owned if it contained an escape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base64<'a>(pub(super) Cow<'a, str>);

impl Base64<'_> {
    /// The string.
    ///
    /// ```
    /// # #[cfg(feature = "read")] {
    /// use mosaic_memspace::custom_call::{BackendConfig, Body};
    /// let config = BackendConfig::from_json(r#"{"custom_call_config": {"body": "TUw="}}"#)?;
    /// match &config.body {
    ///     Body::Base64(base64) => assert_eq!(base64.as_str(), "TUw="),
    ///     Body::Bytes(_) => unreachable!("it was read"),
    /// }
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A string that should be base64, but is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a string of {length} characters is no base64")]
pub struct InvalidBase64 {
    length: usize,
}

impl Fault for InvalidBase64 {
    fn code(&self) -> Code {
        Code::InvalidConfig
    }

    fn help(&self) -> String {
        "encode the bytes as standard base64: A–Z, a–z, 0–9, + and /, padded with =".to_owned()
    }
}

/// Whether a body is Mosaic text. Bytecode begins with bytes that no text has, and the
/// compiler takes text only where no serialization format is said.
pub(in crate::custom_call) fn is_text(body: &[u8]) -> bool {
    !body.is_empty() && std::str::from_utf8(body).is_ok()
}

/// The memory spaces that a kernel's body names, as Mosaic writes them, each once and
/// in order; `None` when they cannot be seen, because the body is neither MLIR
/// bytecode nor text.
///
/// ```
/// use mosaic_memspace::custom_call::body_memory_spaces;
///
/// let body = b"memref<8xf32, #tpu.memory_space< vmem >>, memref<2xi32, #tpu.memory_space<smem>>";
/// let spaces = body_memory_spaces(body);
/// assert_eq!(spaces, Some(vec!["#tpu.memory_space<smem>", "#tpu.memory_space<vmem>"]));
/// assert_eq!(body_memory_spaces(&[0xff, 0]), None);
/// ```
pub fn body_memory_spaces(body: &[u8]) -> Option<Vec<&str>> {
    const BYTECODE: &[u8] = b"ML\xefR";
    const BEGIN: &[u8] = b"#tpu.memory_space<";
    /// The longest text of a memory space in bytes. Longer texts are something else.
    const LONGEST: usize = 100;

    if !body.starts_with(BYTECODE) && std::str::from_utf8(body).is_err() {
        return None;
    }
    let mut spaces = BTreeSet::new();
    let mut rest = body;
    while let Some(begin) = rest.iter().position(|byte| *byte == b'#') {
        let here = rest.get(begin..).unwrap_or_default();
        if here.starts_with(BEGIN)
            && let Some(end) = here.iter().take(LONGEST).position(|byte| *byte == b'>')
            && let Ok(space) = std::str::from_utf8(here.get(..=end).unwrap_or_default())
        {
            spaces.insert(space.parse().map_or(space, |known: MemorySpaceAttr| known.as_str()));
        }
        rest = here.get(1..).unwrap_or_default();
    }
    Some(spaces.into_iter().collect())
}
