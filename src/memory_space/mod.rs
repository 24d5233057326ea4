//! What an author may write, and what a TPU has.

mod resolved;

pub use resolved::{MemrefSpace, Resolved};

use crate::core_type::CoreType;
use crate::error::{Code, UnknownWord, words};
use crate::word::{printed, serde_impls};
use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;
use strum::{EnumCount, EnumIter, VariantArray};

words! {
    /// A memory of a TPU (JAX's Mosaic `MemorySpace`).
    ///
    /// ```
    /// use mosaic_memspace::TpuSpace;
    ///
    /// assert_eq!("vmem_shared".parse(), Ok(TpuSpace::VmemShared));
    /// assert_eq!(TpuSpace::SemaphoreMem.as_str(), "semaphore_mem");
    /// ```
    #[repr(u8)]
    pub enum TpuSpace {
        /// Vector memory, per TensorCore or per vector subcore.
        Vmem,
        /// Vector memory that the subcores of a SparseCore share.
        VmemShared,
        /// Scalar memory.
        Smem,
        /// Common memory of the chips that have it (v4 and v4i).
        Cmem,
        /// Where semaphores live.
        SemaphoreMem,
        /// High-bandwidth memory, the chip's main memory.
        Hbm,
    }
    path: "TpuSpace",
    all: 6 "Every TPU space",
    as_str: Hbm "hbm" "The word that JAX and Mosaic use",
    expecting: "a TPU memory space: vmem, vmem_shared, smem, cmem, semaphore_mem or hbm",
    unknown: UnknownMemorySpace "unknown memory space",
}

/// A TPU space owned by a mesh of some core type (JAX's `CoreMemorySpace`),
/// written `vmem@sc_vector_subcore`. Only pairs that a mesh can own exist.
///
/// ```
/// use mosaic_memspace::{CoreMemorySpace, CoreType, TpuSpace};
///
/// let tagged = CoreMemorySpace::new(TpuSpace::Vmem, CoreType::ScVectorSubcore);
/// assert_eq!(tagged, Some(CoreMemorySpace::VmemOfScVectorSubcore));
/// assert_eq!(CoreMemorySpace::new(TpuSpace::Vmem, CoreType::ScScalarSubcore), None);
/// ```
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, EnumCount, EnumIter, VariantArray,
)]
#[repr(u8)]
pub enum CoreMemorySpace {
    /// `vmem@tc`
    VmemOfTc,
    /// `smem@tc`
    SmemOfTc,
    /// `cmem@tc`
    CmemOfTc,
    /// `semaphore_mem@tc`
    SemaphoreMemOfTc,
    /// `vmem_shared@sc_scalar_subcore`
    VmemSharedOfScScalarSubcore,
    /// `smem@sc_scalar_subcore`
    SmemOfScScalarSubcore,
    /// `semaphore_mem@sc_scalar_subcore`
    SemaphoreMemOfScScalarSubcore,
    /// `vmem@sc_vector_subcore`
    VmemOfScVectorSubcore,
    /// `vmem_shared@sc_vector_subcore`
    VmemSharedOfScVectorSubcore,
    /// `smem@sc_vector_subcore`
    SmemOfScVectorSubcore,
    /// `semaphore_mem@sc_vector_subcore`
    SemaphoreMemOfScVectorSubcore,
}

impl CoreMemorySpace {
    /// Every core-tagged space.
    ///
    /// ```
    /// assert_eq!(mosaic_memspace::CoreMemorySpace::ALL.len(), 11);
    /// ```
    pub const ALL: &'static [Self] = <Self as VariantArray>::VARIANTS;

    /// The space as a mesh of `core_type` owns it, or `None` when such a mesh
    /// doesn't own it (JAX: `CoreMesh.supported_memory_spaces`).
    ///
    /// ```
    /// use mosaic_memspace::{CoreMemorySpace, CoreType, TpuSpace};
    /// const CMEM: Option<CoreMemorySpace> = CoreMemorySpace::new(TpuSpace::Cmem, CoreType::Tc);
    /// assert_eq!(CMEM, Some(CoreMemorySpace::CmemOfTc));
    /// assert_eq!(CoreMemorySpace::new(TpuSpace::Hbm, CoreType::Tc), None);
    /// ```
    pub const fn new(space: TpuSpace, core_type: CoreType) -> Option<Self> {
        match core_type {
            CoreType::Tc => match space {
                TpuSpace::Vmem => Some(Self::VmemOfTc),
                TpuSpace::Smem => Some(Self::SmemOfTc),
                TpuSpace::Cmem => Some(Self::CmemOfTc),
                TpuSpace::SemaphoreMem => Some(Self::SemaphoreMemOfTc),
                TpuSpace::VmemShared | TpuSpace::Hbm => None,
            },
            CoreType::ScScalarSubcore => match space {
                TpuSpace::VmemShared => Some(Self::VmemSharedOfScScalarSubcore),
                TpuSpace::Smem => Some(Self::SmemOfScScalarSubcore),
                TpuSpace::SemaphoreMem => Some(Self::SemaphoreMemOfScScalarSubcore),
                TpuSpace::Vmem | TpuSpace::Cmem | TpuSpace::Hbm => None,
            },
            CoreType::ScVectorSubcore => match space {
                TpuSpace::Vmem => Some(Self::VmemOfScVectorSubcore),
                TpuSpace::VmemShared => Some(Self::VmemSharedOfScVectorSubcore),
                TpuSpace::Smem => Some(Self::SmemOfScVectorSubcore),
                TpuSpace::SemaphoreMem => Some(Self::SemaphoreMemOfScVectorSubcore),
                TpuSpace::Cmem | TpuSpace::Hbm => None,
            },
        }
    }

    /// The space, without its owner.
    ///
    /// ```
    /// use mosaic_memspace::{CoreMemorySpace, TpuSpace};
    /// assert_eq!(CoreMemorySpace::CmemOfTc.space(), TpuSpace::Cmem);
    /// ```
    pub const fn space(self) -> TpuSpace {
        match self {
            Self::VmemOfTc | Self::VmemOfScVectorSubcore => TpuSpace::Vmem,
            Self::VmemSharedOfScScalarSubcore | Self::VmemSharedOfScVectorSubcore => {
                TpuSpace::VmemShared
            }
            Self::SmemOfTc | Self::SmemOfScScalarSubcore | Self::SmemOfScVectorSubcore => {
                TpuSpace::Smem
            }
            Self::CmemOfTc => TpuSpace::Cmem,
            Self::SemaphoreMemOfTc
            | Self::SemaphoreMemOfScScalarSubcore
            | Self::SemaphoreMemOfScVectorSubcore => TpuSpace::SemaphoreMem,
        }
    }

    /// The core type of the mesh that owns it.
    ///
    /// ```
    /// use mosaic_memspace::{CoreMemorySpace, CoreType};
    /// assert_eq!(CoreMemorySpace::CmemOfTc.core_type(), CoreType::Tc);
    /// ```
    pub const fn core_type(self) -> CoreType {
        match self {
            Self::VmemOfTc | Self::SmemOfTc | Self::CmemOfTc | Self::SemaphoreMemOfTc => {
                CoreType::Tc
            }
            Self::VmemSharedOfScScalarSubcore
            | Self::SmemOfScScalarSubcore
            | Self::SemaphoreMemOfScScalarSubcore => CoreType::ScScalarSubcore,
            Self::VmemOfScVectorSubcore
            | Self::VmemSharedOfScVectorSubcore
            | Self::SmemOfScVectorSubcore
            | Self::SemaphoreMemOfScVectorSubcore => CoreType::ScVectorSubcore,
        }
    }
}

impl fmt::Display for CoreMemorySpace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.space(), self.core_type())
    }
}

impl FromStr for CoreMemorySpace {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        let unknown = || unknown(&CORE, word);
        let (space, core_type) = word.split_once('@').ok_or_else(unknown)?;
        let space = space.parse().map_err(|_| unknown())?;
        let core_type = core_type.parse().map_err(|_| unknown())?;
        Self::new(space, core_type).ok_or_else(unknown)
    }
}

serde_impls!(CoreMemorySpace, "a memory space with its owner, as vmem@sc_vector_subcore");

/// A memory space as a kernel's author may write it.
///
/// Saying nothing is not a space: [`CallSite`](crate::CallSite) decides what it means.
///
/// ```
/// use mosaic_memspace::{MemorySpace, TpuSpace};
///
/// assert_eq!("default".parse(), Ok(MemorySpace::DEFAULT));
/// assert_eq!("acc(3)".parse(), Ok(MemorySpace::Acc(3)));
/// assert_eq!("vmem".parse(), Ok(MemorySpace::Tpu(TpuSpace::Vmem)));
/// assert_eq!(MemorySpace::VMEM.to_string(), "vmem");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MemorySpace {
    /// None of the TPU's own memories.
    Plain(PlainSpace),
    /// A memory of the TPU.
    Tpu(TpuSpace),
    /// A memory of the TPU, with the core type of the mesh that owns it.
    Core(CoreMemorySpace),
    /// `acc(n)`: the result buffer of the MXU with this id.
    Acc(u8),
}

words! {
    /// A memory space that is none of the TPU's own: the logical ones (JAX's Pallas
    /// `MemorySpace`), which resolving turns into one, and the host's.
    ///
    /// ```
    /// use mosaic_memspace::{MemorySpace, PlainSpace};
    ///
    /// assert_eq!("index".parse(), Ok(PlainSpace::Index));
    /// assert_eq!(MemorySpace::INDEX, MemorySpace::Plain(PlainSpace::Index));
    /// ```
    #[repr(u8)]
    pub enum PlainSpace {
        /// Wherever the compiler puts it.
        Any,
        /// The core's own memory.
        Default,
        /// Where checkify's error codes lie.
        Error,
        /// Where an index of the grid or a scalar-prefetch value lies.
        Index,
        /// Where a random-number key lies.
        Key,
        /// The host's memory.
        Host,
    }
    path: "PlainSpace",
    all: 6 "Every plain space",
    as_str: Host "host" "The word that JAX uses",
    expecting: "a plain memory space: any, default, error, index, key or host",
    unknown: UnknownMemorySpace "unknown memory space",
}

/// The TPU spaces by name, usable as values and as exhaustive patterns.
macro_rules! tpu_space_consts {
    ($type:ident, $wrap:path) => {
        /// The TPU's memories by name; they serve as patterns too.
        impl $type {
            /// `vmem`
            pub const VMEM: Self = $wrap(TpuSpace::Vmem);
            /// `vmem_shared`
            pub const VMEM_SHARED: Self = $wrap(TpuSpace::VmemShared);
            /// `smem`
            pub const SMEM: Self = $wrap(TpuSpace::Smem);
            /// `cmem`
            pub const CMEM: Self = $wrap(TpuSpace::Cmem);
            /// `semaphore_mem`
            pub const SEMAPHORE_MEM: Self = $wrap(TpuSpace::SemaphoreMem);
            /// `hbm`
            pub const HBM: Self = $wrap(TpuSpace::Hbm);
        }
    };
}
use tpu_space_consts;
tpu_space_consts!(MemorySpace, MemorySpace::Tpu);

/// The plain spaces by name; they serve as patterns too.
impl MemorySpace {
    /// `any`: wherever the compiler puts it.
    pub const ANY: Self = Self::Plain(PlainSpace::Any);
    /// `default`: the core's own memory.
    pub const DEFAULT: Self = Self::Plain(PlainSpace::Default);
    /// `error`: where checkify's error codes lie.
    pub const ERROR: Self = Self::Plain(PlainSpace::Error);
    /// `index`: an index of the grid or a scalar-prefetch value.
    pub const INDEX: Self = Self::Plain(PlainSpace::Index);
    /// `key`: a random-number key.
    pub const KEY: Self = Self::Plain(PlainSpace::Key);
    /// `host`: the host's memory.
    pub const HOST: Self = Self::Plain(PlainSpace::Host);
}

impl MemorySpace {
    /// How many words there are, accumulators left out.
    pub(crate) const WORDS: usize = PlainSpace::COUNT + TpuSpace::COUNT + CoreMemorySpace::COUNT;

    /// Every word, accumulators left out: the logical spaces, the host, the TPU
    /// spaces, the core-tagged spaces.
    ///
    /// ```
    /// use mosaic_memspace::MemorySpace;
    /// assert_eq!(MemorySpace::ALL.len(), 23);
    /// ```
    #[allow(clippy::indexing_slicing, reason = "evaluated at compile time")]
    pub const ALL: &'static [Self] = &{
        let mut all = [Self::ANY; Self::WORDS];
        let (plain, rest) = all.split_at_mut(PlainSpace::COUNT);
        let (tpu, core) = rest.split_at_mut(TpuSpace::COUNT);
        let mut i = 0;
        while i < plain.len() {
            plain[i] = Self::Plain(PlainSpace::ALL[i]);
            i += 1;
        }
        let mut i = 0;
        while i < tpu.len() {
            tpu[i] = Self::Tpu(TpuSpace::ALL[i]);
            i += 1;
        }
        let mut i = 0;
        while i < core.len() {
            core[i] = Self::Core(CoreMemorySpace::ALL[i]);
            i += 1;
        }
        all
    };

    /// Whether it is device-agnostic: `any`, `default`, `error`, `index`, `key`.
    ///
    /// ```
    /// use mosaic_memspace::MemorySpace;
    /// assert!(MemorySpace::KEY.is_logical());
    /// assert!(!MemorySpace::HOST.is_logical());
    /// ```
    pub const fn is_logical(self) -> bool {
        match self {
            Self::ANY | Self::DEFAULT | Self::ERROR | Self::INDEX | Self::KEY => true,
            Self::HOST | Self::Tpu(_) | Self::Core(_) | Self::Acc(_) => false,
        }
    }
}

impl fmt::Display for MemorySpace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Plain(space) => space.as_str(),
            Self::Tpu(space) => space.as_str(),
            Self::Core(tagged) => return tagged.fmt(f),
            Self::Acc(mxu_id) => return write!(f, "acc({mxu_id})"),
        })
    }
}

impl FromStr for MemorySpace {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        if let Some(mxu_id) = accumulator(word) {
            return Ok(Self::Acc(mxu_id));
        }
        let written = Self::ALL.iter().find(|space| is_word(**space, word));
        written.copied().ok_or_else(|| unknown(&WRITTEN, word))
    }
}

serde_impls!(MemorySpace, "a memory space");

/// A space is one of the wider words: a row a conversion.
macro_rules! wider {
    ($($from:ty => $to:ty, $make:expr;)*) => {
        $(impl From<$from> for $to {
            fn from(space: $from) -> Self {
                ($make)(space)
            }
        })*
    };
}

wider! {
    PlainSpace => MemorySpace, MemorySpace::Plain;
    TpuSpace => MemorySpace, MemorySpace::Tpu;
    CoreMemorySpace => MemorySpace, MemorySpace::Core;
    MemrefSpace => MemorySpace, MemrefSpace::written;
    Resolved => MemorySpace, Resolved::written;
    TpuSpace => MemrefSpace, MemrefSpace::Tpu;
    CoreMemorySpace => MemrefSpace, MemrefSpace::Core;
    MemrefSpace => Resolved, Resolved::Memref;
    TpuSpace => Resolved, |space| Resolved::Memref(MemrefSpace::Tpu(space));
}

/// Every word of a kind of memory space, made when one is first misspelled.
fn unknown(words: &'static LazyLock<Vec<&'static str>>, word: &str) -> UnknownWord {
    UnknownWord::new(Code::UnknownMemorySpace, "unknown memory space", words, word)
}

const ACCUMULATORS: [&str; 1] = ["acc(0) to acc(255)"];

static CORE: LazyLock<Vec<&str>> = LazyLock::new(|| printed(CoreMemorySpace::ALL).collect());
static WRITTEN: LazyLock<Vec<&str>> =
    LazyLock::new(|| printed(MemorySpace::ALL).chain(ACCUMULATORS).collect());

/// The MXU id of `acc(n)`, written without a sign or a leading zero.
fn accumulator(word: &str) -> Option<u8> {
    let digits = word.strip_prefix("acc(")?.strip_suffix(')')?;
    let plain = digits.bytes().all(|digit| digit.is_ascii_digit());
    let shortest = digits == "0" || !digits.starts_with('0');
    if plain && shortest { digits.parse().ok() } else { None }
}

/// Whether `space` is written as `word`, found without allocating.
fn is_word(space: MemorySpace, word: &str) -> bool {
    struct Rest<'a>(&'a str);
    impl fmt::Write for Rest<'_> {
        fn write_str(&mut self, piece: &str) -> fmt::Result {
            self.0 = self.0.strip_prefix(piece).ok_or(fmt::Error)?;
            Ok(())
        }
    }
    let mut rest = Rest(word);
    fmt::Write::write_fmt(&mut rest, format_args!("{space}")).is_ok() && rest.0.is_empty()
}
