//! The versions of libtpu, the compiler's library, and what depends on them.

use crate::error::{Code, Fault};
use crate::word::Word;
use std::str::FromStr;

/// How the compiler is told that a SparseCore kernel runs on one core.
///
/// ```
/// use mosaic_memspace::custom_call::{LibtpuVersion, OneCoreMark};
/// assert_eq!(LibtpuVersion::NEWEST.one_core_mark(), OneCoreMark::CoreIds);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OneCoreMark {
    /// `sparse_core_config.core_ids`, from libtpu 0.0.50 on.
    CoreIds,
    /// `megachip_parallelism_config`, before.
    Megachip,
}

/// A version of libtpu, such as 0.0.52.
///
/// ```
/// use mosaic_memspace::custom_call::LibtpuVersion;
///
/// let nightly: LibtpuVersion = "0.0.50.dev20260601+nightly".parse()?;
/// assert_eq!(nightly, LibtpuVersion::new(0, 0, 50));
/// assert!(nightly < LibtpuVersion::NEWEST);
/// # Ok::<(), mosaic_memspace::custom_call::UnknownLibtpuVersion>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LibtpuVersion([u32; 3]);

impl LibtpuVersion {
    /// The newest version that this crate was tested against: 0.0.52.
    pub const NEWEST: Self = Self::new(0, 0, 52);

    const FIRST_WITH_CORE_IDS: Self = Self::new(0, 0, 50);

    /// The version with these parts.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::LibtpuVersion;
    /// assert!(LibtpuVersion::new(0, 1, 0) > LibtpuVersion::new(0, 0, 99));
    /// ```
    pub const fn new(major: u32, minor: u32, patch: u32) -> Self {
        Self([major, minor, patch])
    }

    /// How this version is told that a SparseCore kernel runs on one core. JAX
    /// takes the older mark for a module that is exported.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::{LibtpuVersion, OneCoreMark};
    /// assert_eq!(LibtpuVersion::new(0, 0, 49).one_core_mark(), OneCoreMark::Megachip);
    /// assert_eq!(LibtpuVersion::new(0, 0, 50).one_core_mark(), OneCoreMark::CoreIds);
    /// ```
    pub fn one_core_mark(self) -> OneCoreMark {
        if self >= Self::FIRST_WITH_CORE_IDS { OneCoreMark::CoreIds } else { OneCoreMark::Megachip }
    }
}

impl FromStr for LibtpuVersion {
    type Err = UnknownLibtpuVersion;

    /// Reads three numbers with points between them. A suffix after another point or a
    /// plus is ignored.
    fn from_str(text: &str) -> Result<Self, UnknownLibtpuVersion> {
        let mut parts = text.split(['.', '+']).map(str::parse);
        match (parts.next(), parts.next(), parts.next()) {
            (Some(Ok(major)), Some(Ok(minor)), Some(Ok(patch))) => {
                Ok(Self::new(major, minor, patch))
            }
            _ => Err(UnknownLibtpuVersion(Word::new(text))),
        }
    }
}

/// A text that is not a version of libtpu.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown libtpu version: {0}; expected three numbers, as in 0.0.52")]
pub struct UnknownLibtpuVersion(Word);

impl Fault for UnknownLibtpuVersion {
    fn code(&self) -> Code {
        Code::UnknownLibtpuVersion
    }
}
