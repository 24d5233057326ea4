//! The memory spaces that the TPU has.

use super::{
    ACCUMULATORS, CoreMemorySpace, MemorySpace, TpuSpace, accumulator, is_word, tpu_space_consts,
    unknown,
};
use crate::error::UnknownWord;
use crate::word::{printed, serde_impls};
use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;
use strum::EnumCount;

/// What is left of a memory space once it is resolved for a core.
///
/// No logical space but `any` exists here, and an accumulator is set apart: it
/// is never a memref, so it has no attribute to ask for.
///
/// ```
/// use mosaic_memspace::{MemrefSpace, Resolved, TpuSpace};
///
/// fn is_on_chip(resolved: Resolved) -> bool {
///     match resolved {
///         Resolved::VMEM | Resolved::VMEM_SHARED | Resolved::SMEM => true,
///         Resolved::CMEM | Resolved::SEMAPHORE_MEM | Resolved::Acc(_) => true,
///         Resolved::HBM | Resolved::ANY | Resolved::HOST => false,
///         Resolved::Memref(MemrefSpace::Core(_)) => true,
///     }
/// }
/// assert!(is_on_chip(Resolved::Memref(MemrefSpace::Tpu(TpuSpace::Vmem))));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Resolved {
    /// A space that a memref can lie in.
    Memref(MemrefSpace),
    /// The result buffer of the MXU with this id.
    Acc(u8),
}

/// A space that a memref can lie in, once it is resolved.
///
/// ```
/// use mosaic_memspace::{MemrefSpace, TpuSpace};
/// assert_eq!(MemrefSpace::SMEM, MemrefSpace::Tpu(TpuSpace::Smem));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MemrefSpace {
    /// `any`: wherever the compiler puts it.
    Any,
    /// The host's memory.
    Host,
    /// A memory of this core.
    Tpu(TpuSpace),
    /// A memory of another core type's mesh.
    Core(CoreMemorySpace),
}

tpu_space_consts!(MemrefSpace, MemrefSpace::Tpu);
tpu_space_consts!(Resolved, Resolved::tpu);

impl Resolved {
    /// `any`
    pub const ANY: Self = Self::Memref(MemrefSpace::Any);
    /// `host`
    pub const HOST: Self = Self::Memref(MemrefSpace::Host);

    pub(crate) const fn tpu(space: TpuSpace) -> Self {
        Self::Memref(MemrefSpace::Tpu(space))
    }

    /// The space that a memref can lie in, or `None` for an accumulator.
    ///
    /// ```
    /// use mosaic_memspace::{MemrefSpace, Resolved};
    /// assert_eq!(Resolved::VMEM.memref(), Some(MemrefSpace::VMEM));
    /// assert_eq!(Resolved::Acc(0).memref(), None);
    /// ```
    pub const fn memref(self) -> Option<MemrefSpace> {
        match self {
            Self::Memref(space) => Some(space),
            Self::Acc(_) => None,
        }
    }

    /// Whether it is this memory of the core itself.
    ///
    /// ```
    /// use mosaic_memspace::{CoreMemorySpace, MemrefSpace, Resolved, TpuSpace};
    /// assert!(Resolved::VMEM.is(TpuSpace::Vmem));
    /// let other = Resolved::Memref(MemrefSpace::Core(CoreMemorySpace::VmemOfTc));
    /// assert!(!other.is(TpuSpace::Vmem));
    /// ```
    pub const fn is(self, space: TpuSpace) -> bool {
        match self {
            Self::Memref(memref) => match memref {
                MemrefSpace::Tpu(own) => own as u8 == space as u8,
                MemrefSpace::Any | MemrefSpace::Host | MemrefSpace::Core(_) => false,
            },
            Self::Acc(_) => false,
        }
    }

    /// Whether a pipelined kernel is given the array where it lies, without a window:
    /// `any` and `hbm`.
    pub(crate) const fn is_left_in_place(self) -> bool {
        matches!(self, Self::ANY | Self::HBM)
    }

    /// The word an author would write for it.
    ///
    /// ```
    /// use mosaic_memspace::{MemorySpace, Resolved};
    /// assert_eq!(Resolved::VMEM.written(), MemorySpace::VMEM);
    /// ```
    pub const fn written(self) -> MemorySpace {
        match self {
            Self::Memref(space) => space.written(),
            Self::Acc(mxu_id) => MemorySpace::Acc(mxu_id),
        }
    }
}

impl MemrefSpace {
    /// Every space that a memref can lie in.
    ///
    /// ```
    /// assert_eq!(mosaic_memspace::MemrefSpace::ALL.len(), 19);
    /// ```
    #[allow(clippy::indexing_slicing, reason = "evaluated at compile time")]
    pub const ALL: &'static [Self] = &{
        let mut all = [Self::Any; 2 + TpuSpace::COUNT + CoreMemorySpace::COUNT];
        all[1] = Self::Host;
        let mut i = 0;
        while i < TpuSpace::COUNT {
            all[2 + i] = Self::Tpu(TpuSpace::ALL[i]);
            i += 1;
        }
        let mut i = 0;
        while i < CoreMemorySpace::COUNT {
            all[2 + TpuSpace::COUNT + i] = Self::Core(CoreMemorySpace::ALL[i]);
            i += 1;
        }
        all
    };

    /// The word an author would write for it.
    ///
    /// ```
    /// use mosaic_memspace::{MemorySpace, MemrefSpace};
    /// assert_eq!(MemrefSpace::Any.written(), MemorySpace::ANY);
    /// ```
    pub const fn written(self) -> MemorySpace {
        match self {
            Self::Any => MemorySpace::ANY,
            Self::Host => MemorySpace::HOST,
            Self::Tpu(space) => MemorySpace::Tpu(space),
            Self::Core(tagged) => MemorySpace::Core(tagged),
        }
    }
}

impl fmt::Display for MemrefSpace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.written().fmt(f)
    }
}

impl fmt::Display for Resolved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.written().fmt(f)
    }
}

impl FromStr for MemrefSpace {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        let memref = Self::ALL.iter().find(|space| is_word(space.written(), word));
        memref.copied().ok_or_else(|| unknown(&MEMREF, word))
    }
}

impl FromStr for Resolved {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        match accumulator(word) {
            Some(mxu_id) => Ok(Self::Acc(mxu_id)),
            None => match word.parse() {
                Ok(space) => Ok(Self::Memref(space)),
                Err(_) => Err(unknown(&RESOLVED, word)),
            },
        }
    }
}

serde_impls!(MemrefSpace, "a resolved memory space of a memref");
serde_impls!(Resolved, "a resolved memory space");

static MEMREF: LazyLock<Vec<&str>> = LazyLock::new(|| printed(MemrefSpace::ALL).collect());
static RESOLVED: LazyLock<Vec<&str>> =
    LazyLock::new(|| printed(MemrefSpace::ALL).chain(ACCUMULATORS).collect());
