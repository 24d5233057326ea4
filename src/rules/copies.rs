//! Copies by DMA: which pairs of memory spaces a core copies between, and how.

use crate::attribute::MemorySpaceAttr;
use crate::core_type::CoreType;
use crate::dtype::Dtype;
use crate::error::{Code, Fault, words};
use crate::memory_space::{MemrefSpace, Resolved, TpuSpace};
use std::fmt;
use strum::VariantArray;

words! {
    /// How a copy finds its rows.
    ///
    /// ```
    /// use mosaic_memspace::rules::DmaMode;
    /// assert_eq!("gather".parse(), Ok(DmaMode::Gather));
    /// assert_eq!(DmaMode::Scatter.as_str(), "scatter");
    /// ```
    pub enum DmaMode {
        /// Without indices: row after row.
        Copy,
        /// The source's rows are picked by indices.
        Gather,
        /// The destination's rows are picked by indices.
        Scatter,
    }
    path: "rules::DmaMode",
    all: 3 "All of them",
    as_str: Copy "copy" "The word",
    expecting: "copy, gather or scatter",
    unknown: UnknownAccess "unknown access",
}

/// An asynchronous copy (`pltpu.async_copy`, Mosaic's `tpu.enqueue_dma` and
/// `tpu.enqueue_indirect_dma`).
///
#[doc = include_str!("../../docs/copies.md")]
///
/// ```
/// use mosaic_memspace::rules::Dma;
/// use mosaic_memspace::{CoreType, Resolved};
///
/// let core = CoreType::ScVectorSubcore;
/// assert!(Dma::GATHER.check(Resolved::HBM, Resolved::VMEM, core).is_ok());
/// let refused = Dma::COPY.check(Resolved::HBM, Resolved::SMEM, core).unwrap_err();
/// assert_eq!(
///     refused.to_string(),
///     "sc_vector_subcore cannot copy from hbm to smem: it has no way between the two"
/// );
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Dma {
    /// How it finds its rows.
    pub mode: DmaMode,
    /// Whether it adds to the destination (`add=True`).
    pub add: bool,
}

impl Dma {
    /// A plain copy.
    pub const COPY: Self = Self { mode: DmaMode::Copy, add: false };
    /// A gather.
    pub const GATHER: Self = Self { mode: DmaMode::Gather, add: false };
    /// A scatter.
    pub const SCATTER: Self = Self { mode: DmaMode::Scatter, add: false };

    /// The same, adding to the destination.
    ///
    /// ```
    /// use mosaic_memspace::rules::Dma;
    /// assert_eq!(Dma::SCATTER.adding().to_string(), "scatter with add");
    /// ```
    #[must_use]
    pub const fn adding(self) -> Self {
        Self { mode: self.mode, add: true }
    }

    /// Every copy: the modes, without and with add.
    ///
    /// ```
    /// assert_eq!(mosaic_memspace::rules::Dma::ALL.len(), 6);
    /// ```
    pub const ALL: &'static [Self] = &[
        Self::COPY,
        Self::GATHER,
        Self::SCATTER,
        Self::COPY.adding(),
        Self::GATHER.adding(),
        Self::SCATTER.adding(),
    ];

    /// Whether a core of this type can make it from `src` to `dst`: JAX lowers
    /// it and libtpu compiles it, on every chip that has the core.
    ///
    /// # Errors
    /// [`IllegalCopy`], with the reason and, where there is one, a way out.
    ///
    /// ```
    /// use mosaic_memspace::rules::{CopyRefusal, Dma};
    /// use mosaic_memspace::{CoreType, Resolved};
    ///
    /// assert_eq!(Dma::COPY.check(Resolved::SMEM, Resolved::VMEM, CoreType::Tc), Ok(()));
    /// let refused = Dma::COPY.adding().check(Resolved::HBM, Resolved::VMEM, CoreType::Tc);
    /// assert_eq!(refused.unwrap_err().reason(), CopyRefusal::AddWithoutIndices);
    /// ```
    pub const fn check(
        self,
        src: Resolved,
        dst: Resolved,
        core_type: CoreType,
    ) -> Result<(), IllegalCopy> {
        match self.refusal(src, dst, core_type) {
            None => Ok(()),
            Some(reason) => Err(IllegalCopy { dma: self, src, dst, core_type, reason }),
        }
    }

    /// Whether JAX lowers it, on a chip that has the core.
    ///
    /// JAX lowers a plain copy between any two memrefs and leaves the rest to
    /// the compiler; with indices or add its answer is the compiler's.
    ///
    /// ```
    /// use mosaic_memspace::rules::Dma;
    /// use mosaic_memspace::{CoreType, Resolved};
    ///
    /// let core = CoreType::ScScalarSubcore;
    /// assert!(Dma::COPY.jax_lowers(Resolved::SMEM, Resolved::VMEM_SHARED, core));
    /// assert!(Dma::COPY.check(Resolved::SMEM, Resolved::VMEM_SHARED, core).is_err());
    /// ```
    pub const fn jax_lowers(self, src: Resolved, dst: Resolved, core_type: CoreType) -> bool {
        match self.mode {
            DmaMode::Copy => !self.add && has_attribute(src) && has_attribute(dst),
            DmaMode::Gather | DmaMode::Scatter => self.refusal(src, dst, core_type).is_none(),
        }
    }

    /// Whether the copy is a push stream of a SparseCore, whose destination
    /// semaphore is ignored and whose source semaphore, elsewhere refused on a
    /// local copy, tells when the source may be written again.
    ///
    /// `local`: the destination is on this device.
    ///
    /// ```
    /// use mosaic_memspace::rules::Dma;
    /// use mosaic_memspace::{CoreType, Resolved};
    ///
    /// let core = CoreType::ScVectorSubcore;
    /// assert!(Dma::COPY.is_push_stream(Resolved::VMEM, Resolved::HBM, core, true));
    /// assert!(!Dma::COPY.is_push_stream(Resolved::VMEM, Resolved::VMEM, core, true));
    /// assert!(!Dma::COPY.is_push_stream(Resolved::VMEM, Resolved::HBM, core, false));
    /// ```
    pub const fn is_push_stream(
        self,
        src: Resolved,
        dst: Resolved,
        core_type: CoreType,
        local: bool,
    ) -> bool {
        let plain = match self.mode {
            DmaMode::Copy => true,
            DmaMode::Gather | DmaMode::Scatter => false,
        };
        let pushes = match core_type {
            CoreType::Tc => false,
            CoreType::ScScalarSubcore => src.is(TpuSpace::VmemShared) && dst.is(TpuSpace::Smem),
            CoreType::ScVectorSubcore => {
                src.is(TpuSpace::Vmem) && !dst.is(TpuSpace::Vmem)
                    || src.is(TpuSpace::VmemShared) && dst.is(TpuSpace::Smem)
            }
        };
        plain && local && pushes
    }

    /// Whether the copy takes these indices: a gather's stand on its source, a
    /// scatter's on its destination; of rank 1, 32-bit, in registers or vmem.
    ///
    /// # Errors
    /// [`IndicesFault`], the first that applies.
    ///
    /// ```
    /// use mosaic_memspace::rules::{CopyEnd, Dma, Indices};
    /// use mosaic_memspace::{Dtype, Resolved};
    ///
    /// let indices = Indices {
    ///     end: CopyEnd::Destination,
    ///     space: Some(Resolved::VMEM),
    ///     rank: 1,
    ///     dtype: Dtype::Int32,
    /// };
    /// assert!(Dma::SCATTER.check_indices(indices).is_ok());
    /// let refused = Dma::GATHER.check_indices(indices).unwrap_err();
    /// assert_eq!(refused.to_string(), "a gather with indices on its destination");
    /// ```
    pub const fn check_indices(self, indices: Indices) -> Result<(), IndicesFault> {
        let on_end = match self.mode {
            DmaMode::Copy => return Err(IndicesFault::PlainCopy),
            DmaMode::Gather => match indices.end {
                CopyEnd::Source => true,
                CopyEnd::Destination => false,
            },
            DmaMode::Scatter => match indices.end {
                CopyEnd::Source => false,
                CopyEnd::Destination => true,
            },
        };
        if !on_end {
            return Err(IndicesFault::WrongEnd { mode: self.mode, end: indices.end });
        }
        if let Some(space) = indices.space
            && !space.is(TpuSpace::Vmem)
        {
            return Err(IndicesFault::NotInVmem { space });
        }
        if indices.rank != 1 {
            return Err(IndicesFault::Rank { rank: indices.rank });
        }
        if !matches!(indices.dtype, Dtype::Int32 | Dtype::Uint32) {
            return Err(IndicesFault::NotInt32 { dtype: indices.dtype });
        }
        Ok(())
    }

    const fn refusal(
        self,
        src: Resolved,
        dst: Resolved,
        core_type: CoreType,
    ) -> Option<CopyRefusal> {
        let (from, to) = match (end(src, core_type), end(dst, core_type)) {
            (Ok(from), Ok(to)) => (from, to),
            (Err(why), _) => return Some(CopyRefusal::Source(why)),
            (Ok(_), Err(why)) => return Some(CopyRefusal::Destination(why)),
        };
        match self.mode {
            DmaMode::Copy if self.add => Some(CopyRefusal::AddWithoutIndices),
            DmaMode::Copy if copies(from, to, core_type) => None,
            DmaMode::Copy => Some(CopyRefusal::NoWay),
            DmaMode::Gather | DmaMode::Scatter => match core_type {
                CoreType::Tc | CoreType::ScScalarSubcore => Some(CopyRefusal::IndicesOffVector),
                CoreType::ScVectorSubcore => self.indirect_refusal(from, to),
            },
        }
    }

    /// A vector subcore gathers into its vmem and scatters out of it, and adds
    /// to what lies on the SparseCore only.
    const fn indirect_refusal(self, from: End, to: End) -> Option<CopyRefusal> {
        match self.mode {
            DmaMode::Copy => None,
            DmaMode::Gather => match from {
                End::Vmem | End::Smem => Some(CopyRefusal::GatherEnds),
                End::Hbm | End::VmemShared => match to {
                    End::Vmem => None,
                    End::Hbm | End::VmemShared | End::Smem => Some(CopyRefusal::GatherEnds),
                },
            },
            DmaMode::Scatter => match from {
                End::Hbm | End::VmemShared | End::Smem => Some(CopyRefusal::ScatterEnds),
                End::Vmem => match to {
                    End::VmemShared => None,
                    End::Hbm if self.add => Some(CopyRefusal::AddToHbm),
                    End::Hbm => None,
                    End::Vmem | End::Smem => Some(CopyRefusal::ScatterEnds),
                },
            },
        }
    }
}

impl fmt::Display for Dma {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.mode, if self.add { " with add" } else { "" })
    }
}

/// A space that some core copies from or to.
#[derive(Clone, Copy)]
enum End {
    /// `hbm`, or a TensorCore's `any`, which the compiler puts there.
    Hbm,
    Vmem,
    VmemShared,
    Smem,
}

/// The rule for plain copies, a core at a time.
const fn copies(from: End, to: End, core_type: CoreType) -> bool {
    match core_type {
        // Every pair of hbm, vmem and smem.
        CoreType::Tc => true,
        // Every pair of hbm, smem and vmem_shared, but smem → vmem_shared.
        CoreType::ScScalarSubcore => match from {
            End::Hbm | End::VmemShared | End::Vmem => true,
            End::Smem => match to {
                End::Hbm | End::Smem | End::Vmem => true,
                End::VmemShared => false,
            },
        },
        // Every pair of hbm, vmem and vmem_shared; and vmem_shared → smem.
        CoreType::ScVectorSubcore => match to {
            End::Hbm | End::Vmem | End::VmemShared => match from {
                End::Hbm | End::Vmem | End::VmemShared => true,
                End::Smem => false,
            },
            End::Smem => match from {
                End::VmemShared => true,
                End::Hbm | End::Vmem | End::Smem => false,
            },
        },
    }
}

/// The space as an end of a copy, or why the core's copies never reach it.
const fn end(space: Resolved, core_type: CoreType) -> Result<End, EndRefusal> {
    match space {
        Resolved::Acc(_) => Err(EndRefusal::Accumulator),
        Resolved::Memref(space) => match space {
            MemrefSpace::Any => match core_type {
                CoreType::Tc => Ok(End::Hbm),
                CoreType::ScScalarSubcore | CoreType::ScVectorSubcore => {
                    Err(EndRefusal::AnyOnSparseCore)
                }
            },
            MemrefSpace::Host => Err(EndRefusal::Host),
            MemrefSpace::Core(_) => Err(EndRefusal::OtherCore),
            MemrefSpace::Tpu(space) => match space {
                TpuSpace::Hbm => Ok(End::Hbm),
                TpuSpace::Smem => Ok(End::Smem),
                TpuSpace::SemaphoreMem => Err(EndRefusal::SemaphoresOnly),
                TpuSpace::Vmem => match core_type {
                    CoreType::Tc | CoreType::ScVectorSubcore => Ok(End::Vmem),
                    CoreType::ScScalarSubcore => Err(EndRefusal::NoVmem),
                },
                TpuSpace::VmemShared => match core_type {
                    CoreType::Tc => Err(EndRefusal::NoVmemShared),
                    CoreType::ScScalarSubcore | CoreType::ScVectorSubcore => Ok(End::VmemShared),
                },
                TpuSpace::Cmem => match core_type {
                    CoreType::Tc => Err(EndRefusal::Cmem),
                    CoreType::ScScalarSubcore | CoreType::ScVectorSubcore => {
                        Err(EndRefusal::NotOnSparseCore)
                    }
                },
            },
        },
    }
}

const fn has_attribute(space: Resolved) -> bool {
    match space {
        Resolved::Memref(space) => MemorySpaceAttr::new(space).is_ok(),
        Resolved::Acc(_) => false,
    }
}

/// The space to stop at between two that no single copy joins, if there is one:
/// the first in the order of [`TpuSpace::ALL`].
///
/// ```
/// use mosaic_memspace::rules::by_way_of;
/// use mosaic_memspace::{CoreType, Resolved, TpuSpace};
///
/// const STOP: Option<TpuSpace> =
///     by_way_of(Resolved::HBM, Resolved::SMEM, CoreType::ScVectorSubcore);
/// assert_eq!(STOP, Some(TpuSpace::VmemShared));
/// assert_eq!(by_way_of(Resolved::SMEM, Resolved::VMEM, CoreType::ScVectorSubcore), None);
/// ```
#[allow(clippy::indexing_slicing, reason = "below the length")]
#[allow(clippy::arithmetic_side_effects, reason = "below the length")]
pub const fn by_way_of(src: Resolved, dst: Resolved, core_type: CoreType) -> Option<TpuSpace> {
    let mut i = 0;
    while i < TpuSpace::ALL.len() {
        let stop = Resolved::Memref(MemrefSpace::Tpu(TpuSpace::ALL[i]));
        let there = Dma::COPY.refusal(src, stop, core_type).is_none();
        let on = Dma::COPY.refusal(stop, dst, core_type).is_none();
        if there && on {
            return Some(TpuSpace::ALL[i]);
        }
        i += 1;
    }
    None
}

words! {
    /// One of the two ends of a copy.
    ///
    /// ```
    /// assert_eq!(mosaic_memspace::rules::CopyEnd::Source.as_str(), "source");
    /// ```
    pub enum CopyEnd {
        /// Where it reads.
        Source,
        /// Where it writes.
        Destination,
    }
    path: "rules::CopyEnd",
    all: 2 "Both",
    as_str: Destination "destination" "The word",
}

/// The indices of a gather or a scatter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Indices {
    /// The end that they index.
    pub end: CopyEnd,
    /// Where they lie; `None` for a vector in registers.
    pub space: Option<Resolved>,
    /// Their number of dimensions.
    pub rank: usize,
    /// Their element type.
    pub dtype: Dtype,
}

/// Why a core cannot make a copy.
///
/// ```
/// use mosaic_memspace::rules::CopyRefusal;
/// assert_eq!(CopyRefusal::NoWay.to_string(), "it has no way between the two");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, thiserror::Error)]
pub enum CopyRefusal {
    /// No copy of the core starts in the source's space.
    #[error("no copy starts there: {0}")]
    Source(EndRefusal),
    /// No copy of the core ends in the destination's space.
    #[error("no copy ends there: {0}")]
    Destination(EndRefusal),
    /// Both spaces are reached, but not from one another.
    #[error("it has no way between the two")]
    NoWay,
    /// Indices on another core than a vector subcore.
    #[error("only a vector subcore copies by indices")]
    IndicesOffVector,
    /// A gather that isn't from hbm or vmem_shared to vmem.
    #[error("a gather goes from hbm or vmem_shared to vmem")]
    GatherEnds,
    /// A scatter that isn't from vmem to hbm or vmem_shared.
    #[error("a scatter goes from vmem to hbm or vmem_shared")]
    ScatterEnds,
    /// A plain copy with add.
    #[error("only gathers and scatters add")]
    AddWithoutIndices,
    /// A scatter with add into hbm.
    #[error("a scatter adds in vmem_shared only")]
    AddToHbm,
}

/// Why copies of a core never reach a memory space.
///
/// ```
/// use mosaic_memspace::rules::EndRefusal;
/// assert_eq!(EndRefusal::NoVmem.to_string(), "the scalar subcore has no vmem");
/// ```
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, VariantArray, thiserror::Error,
)]
pub enum EndRefusal {
    /// `any` on a SparseCore, which its compiler never resolves.
    #[error("a SparseCore's compiler does not take any")]
    AnyOnSparseCore,
    /// `host`, which libtpu refuses as an operand.
    #[error("no kernel reaches the host's memory")]
    Host,
    /// A memory of another core type's mesh.
    #[error("it belongs to another core")]
    OtherCore,
    /// `semaphore_mem`.
    #[error("semaphores are not copied")]
    SemaphoresOnly,
    /// `vmem` on the scalar subcore.
    #[error("the scalar subcore has no vmem")]
    NoVmem,
    /// `vmem_shared` on a TensorCore.
    #[error("vmem_shared belongs to a SparseCore")]
    NoVmemShared,
    /// `cmem` on a TensorCore, where no ref can be.
    #[error("no ref lies in cmem")]
    Cmem,
    /// `cmem` on a SparseCore.
    #[error("a SparseCore has no cmem")]
    NotOnSparseCore,
    /// `acc(n)`.
    #[error("an accumulator is no memref")]
    Accumulator,
}

impl EndRefusal {
    const fn help(self) -> &'static str {
        match self {
            Self::AnyOnSparseCore => "write hbm instead of any",
            Self::Host => "move the array to hbm before the kernel, with jax.device_put",
            Self::OtherCore => "copy from the core that owns it, by way of hbm or vmem_shared",
            Self::SemaphoresOnly => "pass the semaphore itself, and signal or wait on it",
            Self::NoVmem => "use smem or vmem_shared, or a vector subcore",
            Self::NoVmemShared => "use vmem",
            Self::Cmem | Self::NotOnSparseCore => "use hbm",
            Self::Accumulator => "take the result with pltpu.matmul_pop and copy it from vmem",
        }
    }
}

/// A copy that a core cannot make.
///
/// ```
/// use mosaic_memspace::rules::Dma;
/// use mosaic_memspace::error::{Code, Fault};
/// use mosaic_memspace::{CoreType, Resolved};
///
/// let core = CoreType::ScScalarSubcore;
/// let refused = Dma::COPY.check(Resolved::SMEM, Resolved::VMEM_SHARED, core).unwrap_err();
/// assert_eq!(refused.code(), Code::IllegalCopy);
/// assert_eq!(refused.help(), "copy by way of hbm: smem → hbm → vmem_shared");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{core_type} cannot {dma} from {src} to {dst}: {reason}")]
pub struct IllegalCopy {
    dma: Dma,
    src: Resolved,
    dst: Resolved,
    core_type: CoreType,
    reason: CopyRefusal,
}

impl IllegalCopy {
    /// Why not.
    pub const fn reason(self) -> CopyRefusal {
        self.reason
    }

    /// What was to be done.
    pub const fn dma(self) -> Dma {
        self.dma
    }

    /// The space of the source.
    pub const fn src(self) -> Resolved {
        self.src
    }

    /// The space of the destination.
    pub const fn dst(self) -> Resolved {
        self.dst
    }

    /// The core that was to do it.
    pub const fn core_type(self) -> CoreType {
        self.core_type
    }
}

impl Fault for IllegalCopy {
    /// [`SpaceNotOnCore`](Code::SpaceNotOnCore) when the core lacks one of the
    /// spaces, else [`IllegalCopy`](Code::IllegalCopy).
    fn code(&self) -> Code {
        match self.reason {
            CopyRefusal::Source(EndRefusal::NoVmem | EndRefusal::NotOnSparseCore)
            | CopyRefusal::Destination(EndRefusal::NoVmem | EndRefusal::NotOnSparseCore) => {
                Code::SpaceNotOnCore
            }
            CopyRefusal::Source(_)
            | CopyRefusal::Destination(_)
            | CopyRefusal::NoWay
            | CopyRefusal::IndicesOffVector
            | CopyRefusal::GatherEnds
            | CopyRefusal::ScatterEnds
            | CopyRefusal::AddWithoutIndices
            | CopyRefusal::AddToHbm => Code::IllegalCopy,
        }
    }

    fn help(&self) -> String {
        match self.reason {
            CopyRefusal::Source(why) => format!("for the source, {}", why.help()),
            CopyRefusal::Destination(why) => format!("for the destination, {}", why.help()),
            CopyRefusal::NoWay => match by_way_of(self.src, self.dst, self.core_type) {
                Some(stop) => {
                    format!("copy by way of {stop}: {} → {stop} → {}", self.src, self.dst)
                }
                None => format!("load the elements from {} and store them as vectors", self.src),
            },
            CopyRefusal::IndicesOffVector => {
                "run it on a vector subcore, or copy a row at a time".to_owned()
            }
            CopyRefusal::GatherEnds => "gather into vmem and copy on from there".to_owned(),
            CopyRefusal::ScatterEnds => {
                "copy into vmem first and scatter from there, to hbm or vmem_shared".to_owned()
            }
            CopyRefusal::AddWithoutIndices => match self.core_type {
                CoreType::ScVectorSubcore => "index every row: ref.at[jnp.arange(rows)]".to_owned(),
                CoreType::Tc => "copy into vmem scratch and add there".to_owned(),
                CoreType::ScScalarSubcore => {
                    "copy into smem scratch and add there, or use a vector subcore".to_owned()
                }
            },
            CopyRefusal::AddToHbm => {
                "scatter with add into vmem_shared and copy the sums to hbm".to_owned()
            }
        }
    }
}

/// Indices that a copy does not take.
///
/// ```
/// use mosaic_memspace::rules::IndicesFault;
/// use mosaic_memspace::Resolved;
/// let fault = IndicesFault::NotInVmem { space: Resolved::SMEM };
/// assert_eq!(fault.to_string(), "indices in smem; expected vmem, or a vector");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IndicesFault {
    /// Indices on a plain copy.
    #[error("a plain copy with indices")]
    PlainCopy,
    /// A gather's on its destination, or a scatter's on its source.
    #[error("a {mode} with indices on its {}", .end.as_str())]
    WrongEnd {
        /// Gather or scatter.
        mode: DmaMode,
        /// The end that has them.
        end: CopyEnd,
    },
    /// In another memory than vmem.
    #[error("indices in {space}; expected vmem, or a vector")]
    NotInVmem {
        /// Where they lie.
        space: Resolved,
    },
    /// Of another rank than 1.
    #[error("indices of rank {rank}; expected rank 1")]
    Rank {
        /// Their rank.
        rank: usize,
    },
    /// Of another element type than a 32-bit integer.
    #[error("indices of {dtype}; expected int32")]
    NotInt32 {
        /// Their element type.
        dtype: Dtype,
    },
}

impl Fault for IndicesFault {
    fn code(&self) -> Code {
        Code::IllegalCopy
    }

    fn help(&self) -> String {
        match self {
            Self::PlainCopy => {
                "index the source to gather, or the destination to scatter".to_owned()
            }
            Self::WrongEnd { mode, end } => {
                let other = match end {
                    CopyEnd::Source => CopyEnd::Destination,
                    CopyEnd::Destination => CopyEnd::Source,
                };
                format!("index the {} of a {mode}, and no more", other.as_str())
            }
            Self::NotInVmem { space } => format!("copy the indices from {space} to vmem first"),
            Self::Rank { rank: 0 } => "use an array of one index, of shape (1,)".to_owned(),
            Self::Rank { .. } => "copy a row of the indices at a time".to_owned(),
            Self::NotInt32 { .. } => "cast the indices to int32".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory_space::CoreMemorySpace;

    const TC: CoreType = CoreType::Tc;
    const SCALAR: CoreType = CoreType::ScScalarSubcore;
    const VECTOR: CoreType = CoreType::ScVectorSubcore;
    const OTHER: Resolved =
        Resolved::Memref(MemrefSpace::Core(CoreMemorySpace::SmemOfScScalarSubcore));

    fn said(fault: IllegalCopy) -> (Code, String, String) {
        (fault.code(), fault.to_string(), fault.help())
    }

    /// Every refusal there is, with what an author reads.
    #[allow(clippy::too_many_lines, reason = "a row a refusal")]
    #[test]
    fn each_refusal_says_why_and_what_instead() {
        let refused = [
            (
                Dma::COPY,
                Resolved::ANY,
                Resolved::VMEM,
                VECTOR,
                Code::IllegalCopy,
                "sc_vector_subcore cannot copy from any to vmem: no copy starts there: \
              a SparseCore's compiler does not take any",
                "for the source, write hbm instead of any",
            ),
            (
                Dma::COPY,
                Resolved::HOST,
                Resolved::VMEM,
                TC,
                Code::IllegalCopy,
                "tc cannot copy from host to vmem: no copy starts there: \
              no kernel reaches the host's memory",
                "for the source, move the array to hbm before the kernel, with jax.device_put",
            ),
            (
                Dma::COPY,
                Resolved::VMEM,
                OTHER,
                TC,
                Code::IllegalCopy,
                "tc cannot copy from vmem to smem@sc_scalar_subcore: no copy ends there: \
              it belongs to another core",
                "for the destination, copy from the core that owns it, by way of hbm or vmem_shared",
            ),
            (
                Dma::COPY,
                Resolved::VMEM,
                Resolved::SEMAPHORE_MEM,
                TC,
                Code::IllegalCopy,
                "tc cannot copy from vmem to semaphore_mem: no copy ends there: \
              semaphores are not copied",
                "for the destination, pass the semaphore itself, and signal or wait on it",
            ),
            (
                Dma::COPY,
                Resolved::VMEM,
                Resolved::HBM,
                SCALAR,
                Code::SpaceNotOnCore,
                "sc_scalar_subcore cannot copy from vmem to hbm: no copy starts there: \
              the scalar subcore has no vmem",
                "for the source, use smem or vmem_shared, or a vector subcore",
            ),
            (
                Dma::GATHER,
                Resolved::HBM,
                Resolved::VMEM_SHARED,
                TC,
                Code::IllegalCopy,
                "tc cannot gather from hbm to vmem_shared: no copy ends there: \
              vmem_shared belongs to a SparseCore",
                "for the destination, use vmem",
            ),
            (
                Dma::COPY,
                Resolved::CMEM,
                Resolved::HBM,
                TC,
                Code::IllegalCopy,
                "tc cannot copy from cmem to hbm: no copy starts there: no ref lies in cmem",
                "for the source, use hbm",
            ),
            (
                Dma::COPY,
                Resolved::HBM,
                Resolved::CMEM,
                VECTOR,
                Code::SpaceNotOnCore,
                "sc_vector_subcore cannot copy from hbm to cmem: no copy ends there: \
              a SparseCore has no cmem",
                "for the destination, use hbm",
            ),
            (
                Dma::COPY,
                Resolved::Acc(1),
                Resolved::HBM,
                TC,
                Code::IllegalCopy,
                "tc cannot copy from acc(1) to hbm: no copy starts there: \
              an accumulator is no memref",
                "for the source, take the result with pltpu.matmul_pop and copy it from vmem",
            ),
            (
                Dma::COPY,
                Resolved::VMEM,
                Resolved::SMEM,
                VECTOR,
                Code::IllegalCopy,
                "sc_vector_subcore cannot copy from vmem to smem: it has no way between the two",
                "copy by way of vmem_shared: vmem → vmem_shared → smem",
            ),
            (
                Dma::COPY,
                Resolved::SMEM,
                Resolved::VMEM,
                VECTOR,
                Code::IllegalCopy,
                "sc_vector_subcore cannot copy from smem to vmem: it has no way between the two",
                "load the elements from smem and store them as vectors",
            ),
            (
                Dma::SCATTER,
                Resolved::VMEM,
                Resolved::HBM,
                TC,
                Code::IllegalCopy,
                "tc cannot scatter from vmem to hbm: only a vector subcore copies by indices",
                "run it on a vector subcore, or copy a row at a time",
            ),
            (
                Dma::GATHER,
                Resolved::HBM,
                Resolved::VMEM_SHARED,
                VECTOR,
                Code::IllegalCopy,
                "sc_vector_subcore cannot gather from hbm to vmem_shared: \
              a gather goes from hbm or vmem_shared to vmem",
                "gather into vmem and copy on from there",
            ),
            (
                Dma::SCATTER,
                Resolved::HBM,
                Resolved::VMEM_SHARED,
                VECTOR,
                Code::IllegalCopy,
                "sc_vector_subcore cannot scatter from hbm to vmem_shared: \
              a scatter goes from vmem to hbm or vmem_shared",
                "copy into vmem first and scatter from there, to hbm or vmem_shared",
            ),
            (
                Dma::COPY.adding(),
                Resolved::HBM,
                Resolved::VMEM,
                VECTOR,
                Code::IllegalCopy,
                "sc_vector_subcore cannot copy with add from hbm to vmem: \
              only gathers and scatters add",
                "index every row: ref.at[jnp.arange(rows)]",
            ),
            (
                Dma::COPY.adding(),
                Resolved::HBM,
                Resolved::VMEM,
                TC,
                Code::IllegalCopy,
                "tc cannot copy with add from hbm to vmem: only gathers and scatters add",
                "copy into vmem scratch and add there",
            ),
            (
                Dma::COPY.adding(),
                Resolved::HBM,
                Resolved::SMEM,
                SCALAR,
                Code::IllegalCopy,
                "sc_scalar_subcore cannot copy with add from hbm to smem: \
              only gathers and scatters add",
                "copy into smem scratch and add there, or use a vector subcore",
            ),
            (
                Dma::SCATTER.adding(),
                Resolved::VMEM,
                Resolved::HBM,
                VECTOR,
                Code::IllegalCopy,
                "sc_vector_subcore cannot scatter with add from vmem to hbm: \
              a scatter adds in vmem_shared only",
                "scatter with add into vmem_shared and copy the sums to hbm",
            ),
        ];
        for (dma, src, dst, core_type, code, message, help) in refused {
            let said = dma.check(src, dst, core_type).map_err(said);
            assert_eq!(said, Err((code, message.to_owned(), help.to_owned())));
        }
        for why in EndRefusal::VARIANTS {
            let message = why.to_string();
            assert!(refused.iter().any(|row| row.5.ends_with(&message)), "{why} is not tested");
        }
    }

    #[test]
    fn each_fault_of_indices_says_what_would_be_right() {
        let good = Indices {
            end: CopyEnd::Source,
            space: Some(Resolved::VMEM),
            rank: 1,
            dtype: Dtype::Int32,
        };
        assert_eq!(Dma::GATHER.check_indices(good), Ok(()));
        assert_eq!(Dma::GATHER.check_indices(Indices { space: None, ..good }), Ok(()));
        let wrong = [
            (Dma::COPY, good, "index the source to gather, or the destination to scatter"),
            (Dma::SCATTER, good, "index the destination of a scatter, and no more"),
            (
                Dma::GATHER,
                Indices { end: CopyEnd::Destination, ..good },
                "index the source of a gather, and no more",
            ),
            (
                Dma::GATHER,
                Indices { space: Some(Resolved::HBM), ..good },
                "copy the indices from hbm to vmem first",
            ),
            (Dma::GATHER, Indices { rank: 2, ..good }, "copy a row of the indices at a time"),
            (Dma::GATHER, Indices { rank: 0, ..good }, "use an array of one index, of shape (1,)"),
            (Dma::GATHER, Indices { dtype: Dtype::Int16, ..good }, "cast the indices to int32"),
        ];
        for (dma, indices, help) in wrong {
            let said = dma.check_indices(indices).map_err(|fault| (fault.code(), fault.help()));
            assert_eq!(said, Err((Code::IllegalCopy, help.to_owned())));
        }
    }

    #[test]
    fn what_is_legal_also_lowers() {
        let spaces = || MemrefSpace::ALL.iter().map(|space| Resolved::Memref(*space));
        for core_type in CoreType::ALL.iter().copied() {
            for dma in Dma::ALL.iter().copied() {
                for src in spaces() {
                    for dst in spaces() {
                        let legal = dma.check(src, dst, core_type).is_ok();
                        let lowers = dma.jax_lowers(src, dst, core_type);
                        assert!(!legal || lowers, "{core_type}: {dma} from {src} to {dst}");
                    }
                }
            }
        }
    }

    #[test]
    fn push_streams_leave_the_core() {
        let pushes = |core_type: CoreType| {
            let spaces = || TpuSpace::ALL.iter().copied();
            let pairs = spaces().flat_map(|src| spaces().map(move |dst| (src, dst)));
            let resolved = |space| Resolved::Memref(MemrefSpace::Tpu(space));
            pairs
                .filter(|(src, dst)| {
                    let (src, dst) = (resolved(*src), resolved(*dst));
                    Dma::COPY.is_push_stream(src, dst, core_type, true)
                })
                .map(|(src, dst)| format!("{src} → {dst}"))
                .collect::<Vec<_>>()
        };
        assert_eq!(pushes(TC), [""; 0]);
        assert_eq!(pushes(SCALAR), ["vmem_shared → smem"]);
        assert_eq!(
            pushes(VECTOR),
            [
                "vmem → vmem_shared",
                "vmem → smem",
                "vmem → cmem",
                "vmem → semaphore_mem",
                "vmem → hbm",
                "vmem_shared → smem"
            ]
        );
        let indirect = Dma::SCATTER.is_push_stream(Resolved::VMEM, Resolved::HBM, VECTOR, true);
        assert!(!indirect, "a scatter needs its semaphore");
    }
}
