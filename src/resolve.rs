//! Turns the space that an author wrote into the memory that the TPU has. This is
//! decided here and nowhere else.

use crate::core_type::CoreType;
use crate::error::words;
use crate::memory_space::{MemorySpace, MemrefSpace, Resolved};
use strum::EnumCount;

/// The memory space that `space` means on a core of type `core_type`.
///
/// Every pair has an answer, and none can fail.
/// JAX: `memory_space_to_tpu_memory_space`, which ends in runtime errors for
/// what it doesn't know.
///
/// ```
/// use mosaic_memspace::{CoreType, MemorySpace, Resolved, resolve};
///
/// const R: Resolved = resolve(MemorySpace::DEFAULT, CoreType::ScScalarSubcore);
/// assert_eq!(R, Resolved::SMEM);
/// ```
#[allow(clippy::indexing_slicing, reason = "the table has every kind, number and core type")]
#[inline]
pub const fn resolve(space: MemorySpace, core_type: CoreType) -> Resolved {
    TABLE[kind(space) as usize][number(space) as usize][core_type as usize]
}

words! {
    /// The place where a ref without a memory space is found. The place decides what "no
    /// space" means.
    ///
    /// ```
    /// use mosaic_memspace::{CallSite, CoreType, MemorySpace, Resolved};
    ///
    /// let resolved = CallSite::BlockSpec.resolve(None, CoreType::Tc);
    /// assert_eq!(resolved, Resolved::VMEM);
    /// let resolved = CallSite::BlockSpec.resolve(Some(MemorySpace::SMEM), CoreType::Tc);
    /// assert_eq!(resolved, Resolved::SMEM);
    /// ```
    #[repr(u8)]
    pub enum CallSite {
        /// A block spec of a pipelined kernel: `default`.
        BlockSpec,
        /// A ref of an unpipelined (mesh) kernel as it is lowered: `any`. `pl.kernel`
        /// itself has by then put the mesh's default space in its place, which is hbm
        /// on a SparseCore ([`Mesh::default_memory_space`](crate::Mesh::default_memory_space)).
        UnpipelinedRef,
        /// A buffer of `emit_pipeline`: `vmem`.
        EmitPipelineBuffer,
        /// Anything else: `any` on a TensorCore, `hbm` on a SparseCore.
        Other,
    }
    path: "CallSite",
    all: 4 "Every call site",
    as_str: Other "other" "A word for it",
}

impl CallSite {
    /// The space that an author who wrote none is taken to have written.
    ///
    /// ```
    /// use mosaic_memspace::{CallSite, CoreType, MemorySpace};
    /// let written = CallSite::Other.default_space(CoreType::ScVectorSubcore);
    /// assert_eq!(written, MemorySpace::HBM);
    /// ```
    pub const fn default_space(self, core_type: CoreType) -> MemorySpace {
        match self {
            Self::BlockSpec => MemorySpace::DEFAULT,
            Self::UnpipelinedRef => MemorySpace::ANY,
            Self::EmitPipelineBuffer => MemorySpace::VMEM,
            Self::Other if core_type.is_sparse_core() => MemorySpace::HBM,
            Self::Other => MemorySpace::ANY,
        }
    }

    /// The memory space of a ref met here, written or not.
    ///
    /// ```
    /// use mosaic_memspace::{CallSite, CoreType, Resolved};
    /// const R: Resolved = CallSite::UnpipelinedRef.resolve(None, CoreType::Tc);
    /// assert_eq!(R, Resolved::ANY);
    /// ```
    #[allow(clippy::indexing_slicing, reason = "the table has every call site and core type")]
    #[inline]
    pub const fn resolve(self, space: Option<MemorySpace>, core_type: CoreType) -> Resolved {
        match space {
            Some(space) => resolve(space, core_type),
            None => UNWRITTEN[self as usize][core_type as usize],
        }
    }
}

/// The rule. [`TABLE`] is made from it at compile time, and answers.
const fn rule(space: MemorySpace, core_type: CoreType) -> Resolved {
    match space {
        MemorySpace::DEFAULT => match core_type {
            CoreType::Tc | CoreType::ScVectorSubcore => Resolved::VMEM,
            CoreType::ScScalarSubcore => Resolved::SMEM,
        },
        MemorySpace::ANY => Resolved::ANY,
        MemorySpace::HOST => Resolved::HOST,
        MemorySpace::ERROR | MemorySpace::INDEX | MemorySpace::KEY => Resolved::SMEM,
        MemorySpace::Tpu(space) => Resolved::Memref(MemrefSpace::Tpu(space)),
        MemorySpace::Core(tagged) => {
            if tagged.core_type().number() == core_type.number() {
                Resolved::Memref(MemrefSpace::Tpu(tagged.space()))
            } else {
                Resolved::Memref(MemrefSpace::Core(tagged))
            }
        }
        MemorySpace::Acc(mxu_id) => Resolved::Acc(mxu_id),
    }
}

/// The answers for one space, by core type, and one to spare: the rows are then
/// a power of two apart.
type Row = [Resolved; ROW];

/// Places of a row.
pub(crate) const ROW: usize = CoreType::COUNT.next_power_of_two();

#[allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "evaluated at compile time"
)]
const fn row(space: MemorySpace) -> Row {
    let mut row = [Resolved::ANY; ROW];
    let mut i = 0;
    while i < CoreType::COUNT {
        row[i] = rule(space, CoreType::ALL[i]);
        i += 1;
    }
    row
}

/// As many numbers as a kind can have.
pub(crate) const NUMBERS: usize = 256;

/// The rows by kind and number. A space holds both as they are, so that finding
/// its row takes no branch.
#[allow(clippy::indexing_slicing, reason = "evaluated at compile time")]
const TABLE: [[Row; NUMBERS]; Kind::COUNT] = {
    let mut table = [[row(MemorySpace::ANY); NUMBERS]; Kind::COUNT];
    let mut filled = [false; Kind::COUNT];
    let mut i = 0;
    while i < MemorySpace::ALL.len() {
        let space = MemorySpace::ALL[i];
        table[kind(space) as usize][number(space) as usize] = row(space);
        filled[kind(space) as usize] = true;
        i += 1;
    }
    let mut mxu_id = u8::MAX;
    loop {
        let space = MemorySpace::Acc(mxu_id);
        table[kind(space) as usize][number(space) as usize] = row(space);
        filled[kind(space) as usize] = true;
        match mxu_id.checked_sub(1) {
            Some(next) => mxu_id = next,
            None => break,
        }
    }
    let mut i = 0;
    while i < Kind::COUNT {
        assert!(filled[i], "a memory space is missing from MemorySpace::ALL");
        i += 1;
    }
    table
};

/// The answers where no space is written, by call site and core type.
#[allow(clippy::indexing_slicing, reason = "evaluated at compile time")]
const UNWRITTEN: [[Resolved; CoreType::COUNT]; CallSite::COUNT] = {
    let mut table = [[Resolved::ANY; CoreType::COUNT]; CallSite::COUNT];
    let mut i = 0;
    while i < CallSite::COUNT {
        let mut core = 0;
        while core < CoreType::COUNT {
            let core_type = CoreType::ALL[core];
            table[i][core] = rule(CallSite::ALL[i].default_space(core_type), core_type);
            core += 1;
        }
        i += 1;
    }
    table
};

#[derive(Clone, Copy, EnumCount)]
#[repr(u8)]
pub(crate) enum Kind {
    Plain,
    Tpu,
    Core,
    Acc,
}

#[inline]
pub(crate) const fn kind(space: MemorySpace) -> Kind {
    match space {
        MemorySpace::Plain(_) => Kind::Plain,
        MemorySpace::Tpu(_) => Kind::Tpu,
        MemorySpace::Core(_) => Kind::Core,
        MemorySpace::Acc(_) => Kind::Acc,
    }
}

/// Which one of its kind.
#[inline]
pub(crate) const fn number(space: MemorySpace) -> u8 {
    match space {
        MemorySpace::Plain(space) => space as u8,
        MemorySpace::Tpu(space) => space as u8,
        MemorySpace::Core(tagged) => tagged as u8,
        MemorySpace::Acc(mxu_id) => mxu_id,
    }
}
