//! The memory of a SparseCore: one pool for its subcores' vmem and vmem_shared.

use super::kernel::{FitError, Part, RefId, Scratch};
use super::padding::{Layout, PaddingError};
use super::vmem::{Memory, Taken};
use crate::chip::{ChipFacts, SparseCoreFacts, TilingFault};
use crate::core_type::CoreType;
use crate::memory_space::TpuSpace;
use crate::rules::{BlockDim, Form, GridAxis, Operand};

/// A SparseCore kernel, as far as its bytes go.
///
/// ```
/// use mosaic_memspace::fit::{ScKernel, Scratch};
/// use mosaic_memspace::{Chip, CoreType, Dtype, Resolved};
///
/// let kernel = ScKernel {
///     chip: Chip::Tpu7x.facts(),
///     core_type: CoreType::ScVectorSubcore,
///     tc_tiling: true,
///     windows: &[],
///     scratch: &[
///         Scratch::new(&[1000], Dtype::Float32, Resolved::VMEM),
///         Scratch::new(&[9, 5], Dtype::Int8, Resolved::VMEM_SHARED),
///     ],
/// };
/// let mut parts = Vec::new();
/// let plan = kernel.plan_into(&mut parts)?;
/// assert_eq!(plan.bytes(), 16 * 4096 + 2048);
/// assert_eq!(plan.bytes_there(), 8 << 20);
/// # Ok::<(), mosaic_memspace::fit::FitError>(())
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
    /// Operands, of which windows in vmem and smem take memory of the core.
    pub windows: &'a [ScWindow<'a>],
    /// Scratch that the body uses: the compiler leaves out what it does not.
    pub scratch: &'a [Scratch<'a>],
}

/// An operand of a SparseCore kernel, and the buffers of its window.
///
/// ```
/// use mosaic_memspace::rules::{Form, Operand, Role};
/// use mosaic_memspace::fit::ScWindow;
/// use mosaic_memspace::{Dtype, Resolved};
///
/// let x = Operand {
///     role: Role::Input,
///     array_shape: &[256, 128],
///     block_shape: None,
///     element_shape: &[],
///     dtype: Dtype::Float32,
///     index_map: None,
///     space: Resolved::VMEM,
///     buffers: None,
/// };
/// assert_eq!(ScWindow::new(x, &[], Form::Pipelined).buffers, 1);
/// assert_eq!(ScWindow::new(x, &[], Form::Unpipelined).buffers, 2);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScWindow<'a> {
    /// The operand.
    pub operand: Operand<'a>,
    /// Buffers of its window.
    pub buffers: u32,
}

impl<'a> ScWindow<'a> {
    /// The window of an operand of a kernel of this form, with this grid.
    ///
    /// An unpipelined kernel's windows do not move, but the compiler buffers those in
    /// vmem twice.
    pub fn new(operand: Operand<'a>, grid: &[GridAxis], form: Form) -> Self {
        let buffers = match form {
            Form::Pipelined => operand.buffers_where(false, grid),
            Form::Unpipelined if operand.space.is(TpuSpace::Vmem) => 2,
            Form::Unpipelined => 1,
        };
        Self { operand, buffers }
    }
}

/// What a SparseCore kernel declares, part by part, beside what there is.
///
/// An example is at [`ScKernel`].
#[derive(Clone, Copy, Debug)]
pub struct ScPlan<'b> {
    parts: &'b [Part],
    bytes: u64,
    there: u64,
    smem_parts: &'b [Part],
    smem_bytes: u64,
    smem_there: Option<u64>,
}

impl<'b> ScPlan<'b> {
    /// What each ref takes of the pool; vmem counts once for each subcore of the
    /// chip, whether the mesh has it or not.
    pub const fn parts(&self) -> &'b [Part] {
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
    pub const fn smem_parts(&self) -> &'b [Part] {
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

impl ScKernel<'_> {
    /// What the kernel declares; `parts` is emptied and filled, and nothing is
    /// allocated when it has room for an entry a ref.
    ///
    /// # Errors
    /// [`FitError`]: a chip without SparseCores, a size beyond 64 bits, an element
    /// type that no word holds whole.
    pub fn plan_into<'b>(&self, parts: &'b mut Vec<Part>) -> Result<ScPlan<'b>, FitError> {
        parts.clear();
        let sparse_core = self.chip.require_sparse_core().map_err(|absent| {
            let cause = PaddingError::NoTile(TilingFault::NoSparseCores(absent));
            FitError { of: None, cause }
        })?;
        let mut pool = Memory { parts, bytes: 0, unit: 1 };
        for (number, scratch) in self.scratch.iter().enumerate() {
            if let Some(subcores) = Self::pooled(sparse_core, scratch) {
                let taken = self.bytes_of(scratch, scratch.shape).and_then(|buffer_bytes| {
                    let bytes = in_pool(buffer_bytes, subcores).ok_or(PaddingError::TooLarge)?;
                    Ok(Taken { buffer_bytes, buffers: subcores, bytes })
                });
                pool.add(RefId::Scratch(number), taken)?;
            }
        }
        for (number, window) in self.windows.iter().enumerate() {
            if window.operand.space.is(TpuSpace::Vmem) {
                let taken = self.window(window, sparse_core.num_subcores.get());
                let aligned = |taken: Taken| {
                    let bytes = in_pool(taken.bytes, 1).ok_or(PaddingError::TooLarge)?;
                    Ok(Taken { bytes, ..taken })
                };
                pool.add(RefId::Operand(number), taken.and_then(aligned))?;
            }
        }
        let Memory { parts, bytes, unit: _ } = pool;
        let pooled = parts.len();
        let mut smem = Memory { parts, bytes: 0, unit: 1 };
        for (number, scratch) in self.scratch.iter().enumerate() {
            if scratch.space.is(TpuSpace::Smem) {
                let taken = self.bytes_of(scratch, scratch.shape).and_then(|buffer_bytes| {
                    let bytes = buffer_bytes.checked_next_multiple_of(UNIT);
                    let bytes = bytes.ok_or(PaddingError::TooLarge)?;
                    Ok(Taken { buffer_bytes, buffers: 1, bytes })
                });
                smem.add(RefId::Scratch(number), taken)?;
            }
        }
        for (number, window) in self.windows.iter().enumerate() {
            if window.operand.space.is(TpuSpace::Smem) {
                smem.add(RefId::Operand(number), self.window(window, 1))?;
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

    /// Bytes of the pool that scratch would take with this shape.
    pub(super) fn pool_bytes_of(&self, scratch: &Scratch<'_>, shape: &[u64]) -> Option<u64> {
        let sparse_core = self.chip.require_sparse_core().ok()?;
        let subcores = Self::pooled(sparse_core, scratch)?;
        in_pool(self.bytes_of(scratch, shape).ok()?, subcores)
    }

    /// How many times scratch counts in the pool, if it lies there.
    fn pooled(sparse_core: &SparseCoreFacts, scratch: &Scratch<'_>) -> Option<u32> {
        if scratch.space.is(TpuSpace::Vmem) {
            Some(sparse_core.num_subcores.get())
        } else if scratch.space.is(TpuSpace::VmemShared) {
            Some(1)
        } else {
            None
        }
    }

    /// What a window takes of as many cores.
    fn window(&self, window: &ScWindow<'_>, cores: u32) -> Result<Taken, PaddingError> {
        let Operand { dtype, element_shape, .. } = window.operand;
        let extents = window.operand.block().dims().map(BlockDim::extent);
        let layout = Layout::of_sparse_core(self.chip, dtype, self.tc_tiling)?;
        let buffer_bytes = layout.bytes_of(extents.chain(element_shape.iter().copied()))?;
        let buffers = window.buffers.saturating_mul(cores);
        let bytes = buffer_bytes.checked_mul(buffers.into()).ok_or(PaddingError::TooLarge)?;
        Ok(Taken { buffer_bytes, buffers, bytes })
    }

    fn bytes_of(&self, scratch: &Scratch<'_>, shape: &[u64]) -> Result<u64, PaddingError> {
        Layout::of_sparse_core(self.chip, scratch.dtype, self.tc_tiling)?.bytes(shape)
    }
}
