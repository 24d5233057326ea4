//! Copies by DMA: which pairs of memory spaces a core copies between, and how.

use super::copy_fault::{CopyFault, CopyRefusal, IndicesFault};
use crate::attribute::MemorySpaceAttr;
use crate::chip::ChipFacts;
use crate::core_type::CoreType;
use crate::dtype::Dtype;
use crate::error::words;
use crate::memory_space::{Resolved, TpuSpace};
use crate::reach::{Afar, Held, Reach, Unreached, reach};

use End::{Hbm, Host, Smem, Vmem, VmemShared};
use std::fmt;

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
/// assert!(Dma::GATHER.check(Resolved::HBM, Resolved::VMEM, core, None).is_ok());
/// let refused = Dma::COPY.check(Resolved::HBM, Resolved::SMEM, core, None).unwrap_err();
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

    /// Whether a core of this type can make it from `src` to `dst`: JAX lowers it
    /// and libtpu compiles it. Without a chip, on the newest that have the core.
    ///
    /// # Errors
    /// [`CopyFault`], with the reason and, where there is one, a way out.
    ///
    /// ```
    /// use mosaic_memspace::rules::{CopyRefusal, Dma};
    /// use mosaic_memspace::{Chip, CoreType, Resolved, TpuSpace};
    ///
    /// let (vmem, host, tc) = (Resolved::VMEM, Resolved::HOST, CoreType::Tc);
    /// assert_eq!(Dma::COPY.check(vmem, host, tc, Some(Chip::V5e.facts())), Ok(()));
    /// let refused = Dma::COPY.check(vmem, host, tc, Some(Chip::V4.facts())).unwrap_err();
    /// let stop = Some(TpuSpace::Hbm);
    /// assert_eq!(refused.reason, CopyRefusal::NoWay { src: vmem, dst: host, stop });
    /// ```
    pub const fn check(
        self,
        src: Resolved,
        dst: Resolved,
        core_type: CoreType,
        chip: Option<&ChipFacts>,
    ) -> Result<(), CopyFault> {
        match self.refusal(src, dst, core_type, chip) {
            None => Ok(()),
            Some(reason) => Err(CopyFault { dma: self, src, dst, core_type, reason }),
        }
    }

    /// Whether JAX lowers it.
    ///
    /// JAX lowers a plain copy between any two memrefs and leaves the rest to
    /// the compiler; with indices or add its answer is the compiler's.
    ///
    /// ```
    /// use mosaic_memspace::rules::Dma;
    /// use mosaic_memspace::{CoreType, Resolved};
    ///
    /// let core = CoreType::ScScalarSubcore;
    /// assert!(Dma::COPY.jax_lowers(Resolved::SMEM, Resolved::VMEM_SHARED, core, None));
    /// assert!(Dma::COPY.check(Resolved::SMEM, Resolved::VMEM_SHARED, core, None).is_err());
    /// ```
    pub const fn jax_lowers(
        self,
        src: Resolved,
        dst: Resolved,
        core_type: CoreType,
        chip: Option<&ChipFacts>,
    ) -> bool {
        let has_core = match chip {
            Some(chip) => chip.require_core(core_type).is_ok(),
            None => true,
        };
        match self.mode {
            DmaMode::Copy => has_core && !self.add && has_attribute(src) && has_attribute(dst),
            DmaMode::Gather | DmaMode::Scatter => self.refusal(src, dst, core_type, chip).is_none(),
        }
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
        chip: Option<&ChipFacts>,
    ) -> Option<CopyRefusal> {
        let (from, to) = match (end(src, core_type, chip), end(dst, core_type, chip)) {
            (Ok(from), Ok(to)) => (from, to),
            (Err(why), _) => return Some(CopyRefusal::Source { why }),
            (Ok(_), Err(why)) => return Some(CopyRefusal::Destination { why }),
        };
        if self.joins(from, to, core_type, chip) {
            return None;
        }
        Some(match self.mode {
            DmaMode::Copy if self.add => CopyRefusal::AddWithoutIndices { core_type },
            DmaMode::Copy => {
                let stop = stop(from, to, core_type, chip);
                CopyRefusal::NoWay { src, dst, stop }
            }
            DmaMode::Gather | DmaMode::Scatter if !indexes(core_type) => {
                CopyRefusal::IndicesOffVector
            }
            DmaMode::Gather => CopyRefusal::GatherEnds,
            DmaMode::Scatter if Self::SCATTER.joins(from, to, core_type, chip) => {
                CopyRefusal::AddToHbm
            }
            DmaMode::Scatter => CopyRefusal::ScatterEnds,
        })
    }

    /// Whether it is among the core's ways.
    const fn joins(
        self,
        from: End,
        to: End,
        core_type: CoreType,
        chip: Option<&ChipFacts>,
    ) -> bool {
        let mut rest = ways(core_type);
        while let [way, after @ ..] = rest {
            rest = after;
            let is_new = match chip {
                Some(chip) => chip.generation < way.since,
                None => false,
            };
            let is_such = way.mode as u8 == self.mode as u8 && (way.adds || !self.add);
            if is_such && !is_new && from.is_among(way.from) && to.is_among(way.to) {
                return true;
            }
        }
        false
    }
}

impl fmt::Display for Dma {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.mode, if self.add { " with add" } else { "" })
    }
}

/// A memory that some core copies from or to; a TensorCore's `any` is `hbm`.
#[derive(Clone, Copy)]
enum End {
    Hbm,
    Host,
    Vmem,
    VmemShared,
    Smem,
}

impl End {
    const fn is_among(self, ends: &[Self]) -> bool {
        let mut rest = ends;
        while let [end, after @ ..] = rest {
            if *end as u8 == self as u8 {
                return true;
            }
            rest = after;
        }
        false
    }
}

/// Copies that a core makes: from each of these to each of those.
struct Way {
    mode: DmaMode,
    /// Whether it can add, too.
    adds: bool,
    from: &'static [End],
    to: &'static [End],
    /// The first generation of chips that makes them.
    since: u32,
}

impl Way {
    const fn copy(from: &'static [End], to: &'static [End]) -> Self {
        Self { mode: DmaMode::Copy, adds: false, from, to, since: 0 }
    }

    const fn gather(from: &'static [End], to: &'static [End]) -> Self {
        Self { mode: DmaMode::Gather, ..Self::copy(from, to) }
    }

    const fn scatter(from: &'static [End], to: &'static [End]) -> Self {
        Self { mode: DmaMode::Scatter, ..Self::copy(from, to) }
    }

    const fn adding(self) -> Self {
        Self { adds: true, ..self }
    }

    const fn since(self, since: u32) -> Self {
        Self { since, ..self }
    }
}

/// The rule: every copy that libtpu compiles, a core at a time.
const fn ways(core_type: CoreType) -> &'static [Way] {
    match core_type {
        CoreType::Tc => TENSOR_CORE,
        CoreType::ScScalarSubcore => SCALAR_SUBCORE,
        CoreType::ScVectorSubcore => VECTOR_SUBCORE,
    }
}

const TENSOR_CORE: &[Way] = &[
    Way::copy(&[Hbm], &[Vmem, Smem, Host]),
    Way::copy(&[Vmem, Smem, Host], &[Hbm]),
    Way::copy(&[Vmem], &[Vmem]),
    Way::copy(&[Hbm], &[Hbm]).since(4),
    Way::copy(&[Vmem, Smem], &[Vmem, Smem]).since(4),
    Way::copy(&[Vmem, Smem], &[Host]).since(5),
];

const SCALAR_SUBCORE: &[Way] = &[
    Way::copy(&[Hbm, VmemShared], &[Hbm, VmemShared, Smem]),
    Way::copy(&[Smem], &[Hbm, Smem]),
    Way::copy(&[Hbm], &[Host]),
    Way::copy(&[Host], &[Hbm]),
];

const VECTOR_SUBCORE: &[Way] = &[
    Way::copy(&[Hbm, Vmem, VmemShared], &[Hbm, Vmem, VmemShared]),
    Way::copy(&[VmemShared], &[Smem]),
    Way::copy(&[Hbm], &[Host]),
    Way::copy(&[Host], &[Hbm]),
    Way::gather(&[Hbm, VmemShared], &[Vmem]).adding(),
    Way::scatter(&[Vmem], &[VmemShared]).adding(),
    Way::scatter(&[Vmem], &[Hbm]),
];

/// The space as an end of a copy, or why no copy of the core reaches it.
const fn end(
    space: Resolved,
    core_type: CoreType,
    chip: Option<&ChipFacts>,
) -> Result<End, Unreached> {
    match reach(space, core_type, chip) {
        Reach::Local(Held::Scalars) => Ok(Smem),
        Reach::Local(Held::Vectors | Held::VectorsAndScalarLoads) => Ok(Vmem),
        Reach::ByCopies(Afar::Hbm) => Ok(Hbm),
        Reach::ByCopies(Afar::Host) => Ok(Host),
        Reach::ByCopies(Afar::Shared) => Ok(VmemShared),
        Reach::Not(why) => Err(why),
    }
}

const fn has_attribute(space: Resolved) -> bool {
    match space {
        Resolved::Memref(space) => MemorySpaceAttr::new(space).is_ok(),
        Resolved::Acc(_) => false,
    }
}

/// Whether the core copies by indices at all.
pub(super) const fn indexes(core_type: CoreType) -> bool {
    let mut rest = ways(core_type);
    while let [way, after @ ..] = rest {
        match way.mode {
            DmaMode::Copy => rest = after,
            DmaMode::Gather | DmaMode::Scatter => return true,
        }
    }
    false
}

/// The first space to stop at between two that no single copy joins.
const fn stop(
    from: End,
    to: End,
    core_type: CoreType,
    chip: Option<&ChipFacts>,
) -> Option<TpuSpace> {
    let mut rest = TpuSpace::ALL;
    while let [space, after @ ..] = rest {
        rest = after;
        if let Ok(stop) = end(Resolved::tpu(*space), core_type, chip)
            && Dma::COPY.joins(from, stop, core_type, chip)
            && Dma::COPY.joins(stop, to, core_type, chip)
        {
            return Some(*space);
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chip::Chip;
    use crate::error::{Code, Fault};
    use crate::memory_space::MemrefSpace;

    const TC: CoreType = CoreType::Tc;
    const SCALAR: CoreType = CoreType::ScScalarSubcore;
    const VECTOR: CoreType = CoreType::ScVectorSubcore;

    fn said(fault: CopyFault) -> (Code, String, String) {
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
                Resolved::HBM,
                Resolved::CMEM,
                VECTOR,
                Code::SpaceNotOnCore,
                "sc_vector_subcore cannot copy from hbm to cmem: no copy ends there: \
                 sc_vector_subcore has no cmem",
                "for the destination, use vmem, vmem_shared, smem or hbm",
            ),
            (
                Dma::COPY,
                Resolved::HOST,
                Resolved::VMEM,
                TC,
                Code::IllegalCopy,
                "tc cannot copy from host to vmem: it has no way between the two",
                "copy by way of hbm: host → hbm → vmem",
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
                "copy into smem scratch and add there",
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
            let said = dma.check(src, dst, core_type, None).map_err(said);
            assert_eq!(said, Err((code, message.to_owned(), help.to_owned())));
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

    /// The tables cannot say two things: what reach says copies reach, they do reach.
    #[test]
    fn copies_reach_a_space_just_when_it_says_so() {
        let spaces = || MemrefSpace::ALL.iter().map(|space| Resolved::Memref(*space));
        let chips = || Chip::ALL.iter().map(|chip| Some(chip.facts())).chain([None]);
        for (core_type, chip) in
            CoreType::ALL.iter().flat_map(|core| chips().map(move |chip| (*core, chip)))
        {
            for space in spaces() {
                let legal = |src, dst| Dma::COPY.check(src, dst, core_type, chip).is_ok();
                let copied = spaces().any(|other| legal(space, other) || legal(other, space));
                let reached = match reach(space, core_type, chip) {
                    Reach::Local(_) | Reach::ByCopies(_) => true,
                    Reach::Not(_) => false,
                };
                assert_eq!(copied, reached, "{core_type} {space}");
                for (dma, dst) in
                    Dma::ALL.iter().flat_map(|dma| spaces().map(move |dst| (dma, dst)))
                {
                    let legal = dma.check(space, dst, core_type, chip).is_ok();
                    let lowers = dma.jax_lowers(space, dst, core_type, chip);
                    assert!(!legal || lowers, "{core_type}: {dma} from {space} to {dst}");
                }
            }
        }
    }
}
