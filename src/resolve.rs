//! From what an author wrote to what the TPU has: the one place where that is decided.

use crate::core_type::CoreType;
use crate::memory_space::{CoreMemorySpace, MemorySpace, MemrefSpace, Resolved, TpuSpace};
use crate::word::word_of;
use std::fmt;
use strum::{EnumCount, EnumIter, VariantArray, VariantNames};

/// The memory space that `space` means on a core of type `core_type`.
///
/// Total: every pair has an answer, and none can fail.
/// JAX: `memory_space_to_tpu_memory_space`, which ends in runtime errors for
/// what it doesn't know.
///
/// ```
/// use mosaic_memspace::{CoreType, MemorySpace, Resolved, resolve};
///
/// const R: Resolved = resolve(MemorySpace::Default, CoreType::ScScalarSubcore);
/// assert_eq!(R, Resolved::SMEM);
/// ```
#[inline]
pub const fn resolve(space: MemorySpace, core_type: CoreType) -> Resolved {
    entry(base(space), step(space), core_type)
}

/// Who meets a ref without a memory space: what "no space" means is theirs to say.
///
/// ```
/// use mosaic_memspace::{CallSite, CoreType, MemorySpace, Resolved};
///
/// let resolved = CallSite::BlockSpec.resolve(None, CoreType::Tc);
/// assert_eq!(resolved, Resolved::VMEM);
/// let resolved = CallSite::BlockSpec.resolve(Some(MemorySpace::SMEM), CoreType::Tc);
/// assert_eq!(resolved, Resolved::SMEM);
/// ```
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    EnumCount,
    EnumIter,
    VariantArray,
    VariantNames,
)]
#[strum(serialize_all = "snake_case")]
#[repr(u8)]
pub enum CallSite {
    /// A block spec of a pipelined kernel: `default`.
    BlockSpec,
    /// A ref of an unpipelined (mesh) kernel: `any`.
    UnpipelinedRef,
    /// A buffer of `emit_pipeline`: `vmem`.
    EmitPipelineBuffer,
    /// Anything else: `any` on a TensorCore, `hbm` on a SparseCore.
    Other,
}

impl CallSite {
    /// Every call site.
    ///
    /// ```
    /// assert_eq!(mosaic_memspace::CallSite::ALL.len(), 4);
    /// ```
    pub const ALL: &'static [Self] = <Self as VariantArray>::VARIANTS;

    /// A word for it, e.g. `block_spec`.
    ///
    /// ```
    /// assert_eq!(mosaic_memspace::CallSite::Other.as_str(), "other");
    /// ```
    pub const fn as_str(self) -> &'static str {
        word_of(<Self as VariantNames>::VARIANTS, self as usize)
    }

    /// The space that an author who wrote none is taken to have written.
    ///
    /// ```
    /// use mosaic_memspace::{CallSite, CoreType, MemorySpace};
    /// let written = CallSite::Other.default_space(CoreType::ScVectorSubcore);
    /// assert_eq!(written, MemorySpace::HBM);
    /// ```
    pub const fn default_space(self, core_type: CoreType) -> MemorySpace {
        match self {
            Self::BlockSpec => MemorySpace::Default,
            Self::UnpipelinedRef => MemorySpace::Any,
            Self::EmitPipelineBuffer => MemorySpace::VMEM,
            Self::Other => match core_type {
                CoreType::Tc => MemorySpace::Any,
                CoreType::ScScalarSubcore | CoreType::ScVectorSubcore => MemorySpace::HBM,
            },
        }
    }

    /// The memory space of a ref met here, written or not.
    ///
    /// ```
    /// use mosaic_memspace::{CallSite, CoreType, Resolved};
    /// const R: Resolved = CallSite::UnpipelinedRef.resolve(None, CoreType::Tc);
    /// assert_eq!(R, Resolved::ANY);
    /// ```
    #[inline]
    pub const fn resolve(self, space: Option<MemorySpace>, core_type: CoreType) -> Resolved {
        // The base and the step are chosen apart, so that neither is a jump.
        let base = match space {
            Some(space) => base(space),
            None => UNWRITTEN,
        };
        let step = match space {
            Some(space) => step(space),
            None => self as usize,
        };
        entry(base, step, core_type)
    }
}

impl fmt::Display for CallSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The rule. [`TABLE`] is made from it at compile time, and answers.
const fn rule(space: MemorySpace, core_type: CoreType) -> Resolved {
    match space {
        MemorySpace::Default => match core_type {
            CoreType::Tc | CoreType::ScVectorSubcore => Resolved::VMEM,
            CoreType::ScScalarSubcore => Resolved::SMEM,
        },
        MemorySpace::Any => Resolved::ANY,
        MemorySpace::Host => Resolved::HOST,
        MemorySpace::Error | MemorySpace::Index | MemorySpace::Key => Resolved::SMEM,
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

// A space's row is base + step: the base of its kind, and the step within it.
const TPU: usize = 6;
const CORE: usize = TPU + TpuSpace::COUNT;
const UNWRITTEN: usize = CORE + CoreMemorySpace::COUNT;
const ACC: usize = UNWRITTEN + CallSite::COUNT;
const ROWS: usize = ACC + 256;

/// One row a space, one column a core type.
#[allow(clippy::indexing_slicing, reason = "evaluated at compile time")]
const TABLE: [[Resolved; CoreType::COUNT]; ROWS] = {
    let mut table = [[Resolved::ANY; CoreType::COUNT]; ROWS];
    let mut filled = [false; ROWS];
    let mut core = 0;
    while core < CoreType::COUNT {
        let core_type = CoreType::ALL[core];
        let mut i = 0;
        while i < MemorySpace::ALL.len() {
            let space = MemorySpace::ALL[i];
            table[base(space) + step(space)][core] = rule(space, core_type);
            filled[base(space) + step(space)] = true;
            i += 1;
        }
        let mut i = 0;
        while i < CallSite::COUNT {
            let written = CallSite::ALL[i].default_space(core_type);
            table[UNWRITTEN + i][core] = rule(written, core_type);
            filled[UNWRITTEN + i] = true;
            i += 1;
        }
        let mut mxu_id = 0;
        loop {
            let space = MemorySpace::Acc(mxu_id);
            table[base(space) + step(space)][core] = rule(space, core_type);
            filled[base(space) + step(space)] = true;
            match mxu_id.checked_add(1) {
                Some(next) => mxu_id = next,
                None => break,
            }
        }
        core += 1;
    }
    let mut row = 0;
    while row < ROWS {
        assert!(filled[row], "a memory space is missing from MemorySpace::ALL");
        row += 1;
    }
    table
};

/// Neither index is ever out of range: every space and call site has its row,
/// every core type its column, and filling the table has visited them all.
#[allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "the table has a row for every base and step"
)]
#[inline]
const fn entry(base: usize, step: usize, core_type: CoreType) -> Resolved {
    TABLE[base + step][core_type as usize]
}

const fn base(space: MemorySpace) -> usize {
    match space {
        MemorySpace::Any => 0,
        MemorySpace::Default => 1,
        MemorySpace::Error => 2,
        MemorySpace::Index => 3,
        MemorySpace::Key => 4,
        MemorySpace::Host => 5,
        MemorySpace::Tpu(_) => TPU,
        MemorySpace::Core(_) => CORE,
        MemorySpace::Acc(_) => ACC,
    }
}

const fn step(space: MemorySpace) -> usize {
    match space {
        MemorySpace::Any
        | MemorySpace::Default
        | MemorySpace::Error
        | MemorySpace::Index
        | MemorySpace::Key
        | MemorySpace::Host => 0,
        MemorySpace::Tpu(space) => space as usize,
        MemorySpace::Core(tagged) => tagged as usize,
        MemorySpace::Acc(mxu_id) => mxu_id as usize,
    }
}
