//! The memory of a SparseCore: one pool for its subcores' vmem and vmem_shared.

use super::kernel::{CountFault, Part, scratch};
use super::padding::{Layout, PaddingFault};
use super::vmem::{Memory, Taken};
use crate::chip::{ChipFacts, SparseCoreFacts, TilingFault};
use crate::core_type::CoreType;
use crate::memory_space::{Resolved, TpuSpace};
use crate::operand::{Form, GridAxis, Ref, ResolvedOperand, ResolvedScratch};

/// A SparseCore kernel, as far as its bytes go.
///
/// ```
/// use mosaic_memspace::fit::ScKernel;
/// use mosaic_memspace::operand::ResolvedScratch;
/// use mosaic_memspace::{Chip, CoreType, Dtype, Resolved};
///
/// let t = ResolvedScratch::new("t", &[1000], Dtype::Float32, Resolved::VMEM);
/// let u = ResolvedScratch::new("u", &[9, 5], Dtype::Int8, Resolved::VMEM_SHARED);
/// let kernel = ScKernel {
///     refs: &[t.into(), u.into()],
///     ..ScKernel::new(Chip::Tpu7x.facts(), CoreType::ScVectorSubcore)
/// };
/// let mut parts = Vec::new();
/// let plan = kernel.plan_into(&mut parts)?;
/// assert_eq!(plan.bytes(), 16 * 4096 + 2048);
/// assert_eq!(plan.bytes_there(), 8 << 20);
/// # Ok::<(), mosaic_memspace::fit::CountFault>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ScKernel<'a> {
    /// The chip.
    pub chip: &'a ChipFacts,
    /// The scalar or the vector subcore.
    pub core_type: CoreType,
    /// Whether arrays are tiled as on a TensorCore (`use_tc_tiling_on_sc`), which
    /// is the default.
    pub tc_tiling: bool,
    /// How it is given its operands.
    pub form: Form,
    /// The axes of the grid.
    pub grid: &'a [GridAxis],
    /// Operands, of which windows in vmem and smem take memory of the core, and scratch
    /// that the body uses: the compiler leaves out what it does not.
    pub refs: &'a [Ref<'a>],
}

/// What a SparseCore kernel declares, part by part, beside what there is.
///
/// An example is at [`ScKernel`].
#[derive(Clone, Copy, Debug)]
pub struct ScPlan<'b> {
    parts: &'b [Part<'b>],
    bytes: u64,
    there: u64,
    smem_parts: &'b [Part<'b>],
    smem_bytes: u64,
    smem_there: Option<u64>,
}

impl<'b> ScPlan<'b> {
    /// What each ref takes of the pool; vmem counts once for each subcore of the
    /// chip, whether the mesh has it or not.
    pub const fn parts(&self) -> &'b [Part<'b>] {
        self.parts
    }

    /// Bytes of the pool that all the parts take.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes of the pool.
    pub const fn bytes_there(&self) -> u64 {
        self.there
    }

    /// What each ref takes of the subcore's own smem.
    pub const fn smem_parts(&self) -> &'b [Part<'b>] {
        self.smem_parts
    }

    /// Bytes of the subcore's own smem that scratch takes.
    pub const fn smem_bytes(&self) -> u64 {
        self.smem_bytes
    }

    /// Bytes of smem that the subcore has for it; `None` where nobody has
    /// measured.
    pub const fn smem_bytes_there(&self) -> Option<u64> {
        self.smem_there
    }

    /// Whether the declarations do not exceed the pool.
    pub const fn fits_by_its_declarations(&self) -> bool {
        self.bytes <= self.there
    }
}

/// Allocations, in the pool and in smem, are rounded up to so many bytes.
const UNIT: u64 = 512;

/// Bytes that so much vmem on each subcore, and so much vmem_shared, take of the
/// pool; `None` beyond 64 bits.
///
/// ```
/// use mosaic_memspace::Chip;
/// use mosaic_memspace::fit::pool_bytes;
///
/// let sparse_core = Chip::V5p.facts().require_sparse_core()?;
/// assert_eq!(pool_bytes(sparse_core, 32, 1), Some(512 + 512));
/// assert_eq!(pool_bytes(sparse_core, 512 << 10, 0), Some(sparse_core.pool_bytes()));
/// # Ok::<(), mosaic_memspace::NoSparseCores>(())
/// ```
pub const fn pool_bytes(
    sparse_core: &SparseCoreFacts,
    vmem_bytes_per_subcore: u64,
    vmem_shared_bytes: u64,
) -> Option<u64> {
    let vmem = in_pool(vmem_bytes_per_subcore, sparse_core.num_subcores.get());
    match (vmem, in_pool(vmem_shared_bytes, 1)) {
        (Some(vmem), Some(shared)) => vmem.checked_add(shared),
        (_, _) => None,
    }
}

/// Bytes of the pool for one allocation that each of so many subcores has.
const fn in_pool(bytes: u64, subcores: u32) -> Option<u64> {
    match bytes.checked_mul(subcores as u64) {
        Some(bytes) => bytes.checked_next_multiple_of(UNIT),
        None => None,
    }
}

impl<'a> ScKernel<'a> {
    /// An unpipelined kernel of nothing, to fill in.
    pub const fn new(chip: &'a ChipFacts, core_type: CoreType) -> Self {
        let form = Form::Unpipelined;
        Self { chip, core_type, tc_tiling: true, form, grid: &[], refs: &[] }
    }

    /// What the kernel declares; `parts` is emptied and filled, and nothing is
    /// allocated when it has room for an entry a ref.
    ///
    /// # Errors
    /// [`CountFault`]: a chip without SparseCores, a size beyond 64 bits, an element
    /// type that no word holds whole.
    pub fn plan_into<'b>(&self, parts: &'b mut Vec<Part<'a>>) -> Result<ScPlan<'b>, CountFault> {
        parts.clear();
        let sparse_core = self.sparse_core().map_err(|cause| CountFault { of: None, cause })?;
        let mut pool = Memory { parts, bytes: 0, unit: 1 };
        for of in self.scratch_first() {
            if let Some(taken) = self.taken(of, Kept::Pool).transpose() {
                pool.add(of.name(), taken)?;
            }
        }
        let Memory { parts, bytes, unit: _ } = pool;
        let pooled = parts.len();
        let mut smem = Memory { parts, bytes: 0, unit: 1 };
        for of in self.scratch_first() {
            if let Some(taken) = self.taken(of, Kept::Smem).transpose() {
                smem.add(of.name(), taken)?;
            }
        }
        let Memory { parts, bytes: smem_bytes, unit: _ } = smem;
        let (parts, smem_parts) = parts.split_at_checked(pooled).unwrap_or_default();
        let smem_there = match self.core_type {
            CoreType::ScScalarSubcore => sparse_core.usable_scalar_smem_words,
            CoreType::ScVectorSubcore => sparse_core.usable_vector_smem_words,
            CoreType::Tc => None,
        };
        let smem_there = smem_there.map(|words| u64::from(words).saturating_mul(4));
        let there = sparse_core.pool_bytes();
        Ok(ScPlan { parts, bytes, there, smem_parts, smem_bytes, smem_there })
    }

    /// Bytes of one buffer of a ref, in the pool or in smem; `None` if it has none there.
    pub(crate) fn buffer_bytes(&self, of: &Ref<'_>) -> Result<Option<u64>, PaddingFault> {
        let taken = match self.taken(of, Kept::Pool)? {
            Some(taken) => Some(taken),
            None => self.taken(of, Kept::Smem)?,
        };
        Ok(taken.map(|taken| taken.buffer_bytes))
    }

    /// What a ref takes of the pool, or of the subcore's own smem, if it lies there.
    fn taken(&self, of: &Ref<'_>, kept: Kept) -> Result<Option<Taken>, PaddingFault> {
        match of {
            Ref::Operand(operand) => self.operand(operand, kept),
            Ref::Scratch(scratch) => self.scratch(scratch, scratch.shape, kept),
        }
    }

    fn operand(
        &self,
        operand: &ResolvedOperand<'_>,
        kept: Kept,
    ) -> Result<Option<Taken>, PaddingFault> {
        // An operand in vmem_shared has no window.
        let there = !operand.space.is(TpuSpace::VmemShared);
        let Some(copies) = self.copies(operand.space, kept)?.filter(|_| there) else {
            return Ok(None);
        };
        let layout = Layout::of_sparse_core(self.chip, operand.dtype, self.tc_tiling)?;
        let buffers = self.form.sparse_core_buffers(operand, self.grid);
        let buffers = buffers.saturating_mul(copies);
        let taken = Taken::times(layout.bytes_of(operand.block())?, buffers)?;
        match kept {
            Kept::Pool => taken.in_units(UNIT).map(Some),
            Kept::Smem => Ok(Some(taken)),
        }
    }

    /// What scratch would take with this shape.
    pub(super) fn scratch(
        &self,
        scratch: &ResolvedScratch<'_>,
        shape: &[u64],
        kept: Kept,
    ) -> Result<Option<Taken>, PaddingFault> {
        let Some(copies) = self.copies(scratch.space, kept)? else { return Ok(None) };
        let layout = Layout::of_sparse_core(self.chip, scratch.dtype, self.tc_tiling)?;
        Taken::times(layout.bytes(shape)?, copies)?.in_units(UNIT).map(Some)
    }

    /// How many times a buffer in this space counts in a memory, if it lies there: vmem
    /// once for each subcore of the chip.
    fn copies(&self, space: Resolved, kept: Kept) -> Result<Option<u32>, PaddingFault> {
        let is = |tpu| space.is(tpu);
        Ok(match kept {
            Kept::Pool if is(TpuSpace::Vmem) => Some(self.sparse_core()?.num_subcores.get()),
            Kept::Pool if is(TpuSpace::VmemShared) => Some(1),
            Kept::Smem if is(TpuSpace::Smem) => Some(1),
            Kept::Pool | Kept::Smem => None,
        })
    }

    fn sparse_core(&self) -> Result<&'a SparseCoreFacts, PaddingFault> {
        let absent = |absent| PaddingFault::NoTile(TilingFault::NoSparseCores(absent));
        self.chip.require_sparse_core().map_err(absent)
    }

    /// The refs as the compiler allocates them.
    fn scratch_first(&self) -> impl Iterator<Item = &'a Ref<'a>> {
        let scratch = |it: &&Ref<'_>| matches!(it, Ref::Scratch(_));
        let scratches = self.refs.iter().filter(scratch);
        scratches.chain(self.refs.iter().filter(move |it| !scratch(it)))
    }

    pub(super) fn scratches(&self) -> impl Iterator<Item = &'a ResolvedScratch<'a>> {
        scratch(self.refs)
    }
}

/// A memory of a SparseCore.
#[derive(Clone, Copy)]
pub(super) enum Kept {
    /// The pool of vmem and vmem_shared.
    Pool,
    /// The subcore's own smem.
    Smem,
}
