//! Why a copy is refused.

use super::accesses::vectors_lie_in;
use super::copies::{CopyEnd, Dma, DmaMode, indexes};
use crate::core_type::CoreType;
use crate::dtype::Dtype;
use crate::error::{Code, Fault, faults};
use crate::memory_space::{Resolved, TpuSpace};
use crate::reach::Unreached;

/// A copy that a core cannot make.
///
/// ```
/// use mosaic_memspace::rules::Dma;
/// use mosaic_memspace::error::{Code, Fault};
/// use mosaic_memspace::{CoreType, Resolved};
///
/// let core = CoreType::ScScalarSubcore;
/// let refused = Dma::COPY.check(Resolved::SMEM, Resolved::VMEM_SHARED, core, None).unwrap_err();
/// assert_eq!(refused.code(), Code::IllegalCopy);
/// assert_eq!(refused.help(), "copy by way of hbm: smem → hbm → vmem_shared");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{core_type} cannot {dma} from {src} to {dst}: {reason}")]
#[non_exhaustive]
pub struct CopyFault {
    /// What was to be done.
    pub dma: Dma,
    /// The space of the source.
    pub src: Resolved,
    /// The space of the destination.
    pub dst: Resolved,
    /// The core that was to do it.
    pub core_type: CoreType,
    /// Why it cannot.
    pub reason: CopyRefusal,
}

impl Fault for CopyFault {
    /// [`IllegalCopy`](Code::IllegalCopy), unless the core or a memory is not there
    /// at all.
    fn code(&self) -> Code {
        match self.reason {
            CopyRefusal::Source { why } | CopyRefusal::Destination { why } => {
                why.code_of(self.reason.code())
            }
            CopyRefusal::NoWay { .. }
            | CopyRefusal::IndicesOffVector
            | CopyRefusal::GatherEnds
            | CopyRefusal::ScatterEnds
            | CopyRefusal::AddWithoutIndices { .. }
            | CopyRefusal::AddToHbm => self.reason.code(),
        }
    }

    fn help(&self) -> String {
        self.reason.help()
    }
}

faults! {
    /// Indices that a copy does not take.
    ///
    /// ```
    /// use mosaic_memspace::rules::IndicesFault;
    /// use mosaic_memspace::Resolved;
    /// let fault = IndicesFault::NotInVmem { space: Resolved::SMEM };
    /// assert_eq!(fault.to_string(), "indices in smem; expected vmem, or a vector");
    /// ```
    #[derive(Clone, Copy)]
    pub enum IndicesFault {
        /// Indices on a plain copy.
        PlainCopy => IllegalCopy at "indices" ("a plain copy with indices")
            help "index the source to gather, or the destination to scatter";
        /// A gather's on its destination, or a scatter's on its source.
        WrongEnd {
            /// Gather or scatter.
            mode: DmaMode,
            /// The end that has them.
            end: CopyEnd,
        } => IllegalCopy at "indices" ("a {mode} with indices on its {end}") help {
            let other = match end {
                CopyEnd::Source => CopyEnd::Destination,
                CopyEnd::Destination => CopyEnd::Source,
            };
            format!("index the {other} of a {mode}, and no more")
        };
        /// In another memory than vmem.
        NotInVmem {
            /// Where they lie.
            space: Resolved,
        } => IllegalCopy at "indices" ("indices in {space}; expected vmem, or a vector")
             help "copy the indices from {space} to vmem first";
        /// Of another rank than 1.
        Rank {
            /// Their rank.
            rank: usize,
        } => IllegalCopy at "indices" ("indices of rank {rank}; expected rank 1") help {
            match rank {
                0 => "use an array of one index, of shape (1,)",
                _ => "copy a row of the indices at a time",
            }
        };
        /// Of another element type than a 32-bit integer.
        NotInt32 {
            /// Their element type.
            dtype: Dtype,
        } => IllegalCopy at "indices" ("indices of {dtype}; expected int32")
             help "cast the indices to int32";
    }
}

faults! {
    /// Why a core cannot make a copy.
    ///
    /// ```
    /// use mosaic_memspace::rules::CopyRefusal;
    /// let refused = CopyRefusal::GatherEnds;
    /// assert_eq!(refused.to_string(), "a gather goes from hbm or vmem_shared to vmem");
    /// ```
    #[derive(Clone, Copy)]
    pub enum CopyRefusal {
        /// No copy of the core starts in the source's space.
        Source {
            /// Why not.
            why: Unreached,
        } => IllegalCopy ("no copy starts there: {why}")
             help { format!("for the source, {}", why.help()) };
        /// No copy of the core ends in the destination's space.
        Destination {
            /// Why not.
            why: Unreached,
        } => IllegalCopy ("no copy ends there: {why}")
             help { format!("for the destination, {}", why.help()) };
        /// Both spaces are reached, but not from one another.
        NoWay {
            /// The space of the source.
            src: Resolved,
            /// The space of the destination.
            dst: Resolved,
            /// The memory by way of which two copies go.
            stop: Option<TpuSpace>,
        } => IllegalCopy ("it has no way between the two") help {
            match stop {
                Some(stop) => format!("copy by way of {stop}: {src} → {stop} → {dst}"),
                None => format!("load the elements from {src} and store them as vectors"),
            }
        };
        /// Indices on another core than a vector subcore.
        IndicesOffVector => IllegalCopy ("only a vector subcore copies by indices")
            help "run it on a vector subcore, or copy a row at a time";
        /// A gather that isn't from hbm or vmem_shared to vmem.
        GatherEnds => IllegalCopy ("a gather goes from hbm or vmem_shared to vmem")
            help "gather into vmem and copy on from there";
        /// A scatter that isn't from vmem to hbm or vmem_shared.
        ScatterEnds => IllegalCopy ("a scatter goes from vmem to hbm or vmem_shared")
            help "copy into vmem first and scatter from there, to hbm or vmem_shared";
        /// A plain copy with add.
        AddWithoutIndices {
            /// The core that was to make it.
            core_type: CoreType,
        } => IllegalCopy ("only gathers and scatters add") help {
            if indexes(*core_type) {
                "index every row: ref.at[jnp.arange(rows)]".to_owned()
            } else {
                let local = vectors_lie_in(*core_type).unwrap_or(TpuSpace::Smem);
                format!("copy into {local} scratch and add there")
            }
        };
        /// A scatter with add into hbm.
        AddToHbm => IllegalCopy ("a scatter adds in vmem_shared only")
            help "scatter with add into vmem_shared and copy the sums to hbm";
    }
}
