//! Windows: which operands of a kernel have one, how many buffers it gets, and
//! how Mosaic writes it.

use super::blocks::{Block, BlockDim};
use crate::chip::ChipFacts;
use crate::core_type::CoreType;
use crate::dtype::Dtype;
use crate::error::{Code, Fault};
use crate::memory_space::{Resolved, TpuSpace};
use crate::reach::{Afar, Reach, Unreached, reach};
use crate::word::List;
use std::fmt;

/// One entry of an index map: the block's index along a dimension.
///
/// ```
/// use mosaic_memspace::rules::{GridAxis, IndexEntry};
/// let grid = [GridAxis::new(1), GridAxis::new(4)];
/// assert!(!IndexEntry::Axis(0).moves(&grid) && IndexEntry::Axis(1).moves(&grid));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IndexEntry {
    /// Always 0.
    Zero,
    /// The index along this axis of the grid.
    Axis(usize),
    /// Anything else: it moves, and may read scalar prefetch.
    Other,
}

impl IndexEntry {
    /// Whether the index changes from one step of the grid to another, as far as
    /// the compiler sees: a grid axis longer than 1 is read.
    ///
    /// ```
    /// use mosaic_memspace::rules::{GridAxis, IndexEntry};
    /// assert!(IndexEntry::Axis(0).moves(&[GridAxis::DYNAMIC]));
    /// assert!(IndexEntry::Other.moves(&[]));
    /// ```
    pub const fn moves(self, grid: &[GridAxis]) -> bool {
        match self {
            Self::Zero => false,
            Self::Axis(axis) => match nth(grid, axis) {
                Some(axis) => axis.is_long(),
                None => true,
            },
            Self::Other => true,
        }
    }
}

/// An axis of a kernel's grid.
///
/// ```
/// use mosaic_memspace::rules::GridAxis;
/// assert!(!GridAxis::new(4).parallel);
/// assert!(GridAxis::new(4).in_parallel().parallel);
/// assert_eq!(GridAxis::DYNAMIC.extent, None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GridAxis {
    /// Its steps, or `None` when that is known at run time only.
    pub extent: Option<u64>,
    /// Whether its steps may run on different TensorCores: its dimension
    /// semantics is `parallel` or `core_parallel`.
    pub parallel: bool,
}

impl GridAxis {
    /// An axis whose length is known at run time only.
    pub const DYNAMIC: Self = Self { extent: None, parallel: false };

    /// An axis whose steps run one after another.
    ///
    /// ```
    /// use mosaic_memspace::rules::GridAxis;
    /// const AXIS: GridAxis = GridAxis::new(8);
    /// assert_eq!(AXIS.extent, Some(8));
    /// ```
    pub const fn new(extent: u64) -> Self {
        Self { extent: Some(extent), parallel: false }
    }

    /// The axis, with `parallel` semantics.
    ///
    /// ```
    /// use mosaic_memspace::rules::GridAxis;
    /// const AXIS: GridAxis = GridAxis::DYNAMIC.in_parallel();
    /// assert!(AXIS.parallel);
    /// ```
    #[must_use]
    pub const fn in_parallel(self) -> Self {
        Self { parallel: true, ..self }
    }

    const fn is_long(self) -> bool {
        match self.extent {
            Some(extent) => extent > 1,
            None => true,
        }
    }
}

/// Whether the cores that share the grid are left with one step each: then the
/// compiler buffers nothing twice. It shares one axis, and only a parallel one.
///
/// ```
/// use mosaic_memspace::rules::{GridAxis, one_step_a_core};
/// let grid = [GridAxis::new(1), GridAxis::new(2).in_parallel()];
/// assert!(one_step_a_core(&grid, 2));
/// assert!(!one_step_a_core(&grid, 1));
/// assert!(!one_step_a_core(&[GridAxis::new(2)], 2));
/// ```
pub const fn one_step_a_core(grid: &[GridAxis], cores: u32) -> bool {
    let mut shared = false;
    let mut rest = grid;
    while let [axis, after @ ..] = rest {
        rest = after;
        if !axis.is_long() {
            continue;
        }
        match axis.extent {
            Some(extent) if extent == cores as u64 && axis.parallel && !shared => shared = true,
            Some(_) | None => return false,
        }
    }
    true
}

/// Which way an operand goes.
///
/// ```
/// assert_ne!(mosaic_memspace::rules::Role::Input, mosaic_memspace::rules::Role::Output);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Read by the kernel.
    Input,
    /// Written by the kernel.
    Output,
}

impl Role {
    /// `input` or `output`.
    ///
    /// ```
    /// assert_eq!(mosaic_memspace::rules::Role::Input.as_str(), "input");
    /// ```
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Output => "output",
        }
    }
}

impl std::fmt::Display for Role {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

/// How a kernel is given its operands.
///
/// ```
/// use mosaic_memspace::rules::Form;
/// use mosaic_memspace::{CoreType, Resolved};
///
/// assert!(!Form::Pipelined.has_window(Resolved::HBM, CoreType::Tc));
/// assert!(Form::Unpipelined.has_window(Resolved::HBM, CoreType::ScVectorSubcore));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// By blocks, one a step of the grid (`pl.pallas_call`).
    Pipelined,
    /// Whole, to each core of a mesh (`pl.kernel`).
    Unpipelined,
}

impl Form {
    /// Whether Mosaic is told of a window for an operand in this space.
    ///
    /// ```
    /// use mosaic_memspace::rules::Form;
    /// use mosaic_memspace::{CoreType, Resolved};
    /// const WINDOW: bool = Form::Pipelined.has_window(Resolved::SMEM, CoreType::Tc);
    /// assert!(WINDOW);
    /// ```
    pub const fn has_window(self, space: Resolved, core_type: CoreType) -> bool {
        let everywhere = match self {
            Self::Pipelined => false,
            Self::Unpipelined => core_type.is_sparse_core(),
        };
        everywhere || !space.is_left_in_place() && !space.is(TpuSpace::SemaphoreMem)
    }
}

/// Whether the compiler takes the window of an operand, or that it has none, in
/// this space.
///
/// JAX lowers a window in any space; the compiler takes it in vmem, smem and
/// host, and no semaphores as an output.
///
/// # Errors
/// [`WindowFault::Space`], [`WindowFault::SemaphoreOutput`].
///
/// ```
/// use mosaic_memspace::rules::{Role, check_window_space};
/// use mosaic_memspace::error::{Code, Fault};
/// use mosaic_memspace::{CoreType, Resolved};
///
/// assert!(check_window_space(Resolved::VMEM, Role::Output, CoreType::Tc).is_ok());
/// let fault = check_window_space(Resolved::CMEM, Role::Input, CoreType::Tc).unwrap_err();
/// assert_eq!(fault.to_string(), "a window in cmem");
/// assert_eq!(fault.code(), Code::WindowSpaceUnsupported);
/// ```
pub const fn check_window_space(
    space: Resolved,
    role: Role,
    core_type: CoreType,
) -> Result<(), WindowFault> {
    let why = match reach(space, core_type, None) {
        Reach::Local(_) | Reach::ByCopies(Afar::Hbm | Afar::Host) => return Ok(()),
        Reach::Not(Unreached::Semaphores) => {
            return match role {
                Role::Input => Ok(()),
                Role::Output => Err(WindowFault::SemaphoreOutput),
            };
        }
        Reach::ByCopies(Afar::Shared) => None,
        Reach::Not(why) => Some(why),
    };
    Err(WindowFault::Space { space, why })
}

/// Whether an unpipelined kernel takes an operand in this space, of those in which
/// [`check_window_space`] lets one be. `num_cores`: the mesh's, when they are known.
///
/// JAX refuses vmem on a mesh of several TensorCores. On a SparseCore the compiler
/// takes an operand in smem as a scalar subcore's input only, and no output in vmem on
/// a chip whose TensorCores can be one device, as it does not know whose.
///
/// # Errors
/// [`WindowFault::SeveralCores`], [`WindowFault::NotOnMesh`].
///
/// ```
/// use mosaic_memspace::rules::{Role, check_mesh_operand};
/// use mosaic_memspace::{CoreType, Resolved};
///
/// let core = CoreType::ScVectorSubcore;
/// assert!(check_mesh_operand(Resolved::VMEM, Role::Input, core, None, None).is_ok());
/// let fault = check_mesh_operand(Resolved::SMEM, Role::Input, core, None, None).unwrap_err();
/// assert_eq!(fault.to_string(), "an input in smem on a sc_vector_subcore mesh");
/// ```
pub const fn check_mesh_operand(
    space: Resolved,
    role: Role,
    core_type: CoreType,
    num_cores: Option<u32>,
    chip: Option<&ChipFacts>,
) -> Result<(), WindowFault> {
    let ambiguous = match chip {
        Some(chip) => chip.supports_megacore && space.is(TpuSpace::Vmem),
        None => false,
    };
    let taken = match (core_type, role) {
        (CoreType::Tc, _) => match num_cores {
            Some(cores) if cores > 1 && space.is(TpuSpace::Vmem) => {
                return Err(WindowFault::SeveralCores { cores });
            }
            Some(_) | None => true,
        },
        (CoreType::ScScalarSubcore, Role::Input) => true,
        (CoreType::ScVectorSubcore, Role::Input) => !space.is(TpuSpace::Smem),
        (CoreType::ScScalarSubcore | CoreType::ScVectorSubcore, Role::Output) => {
            !ambiguous && !space.is(TpuSpace::Smem)
        }
    };
    if taken { Ok(()) } else { Err(WindowFault::NotOnMesh { space, role, core_type }) }
}

/// Whether the compiler takes an operand in this space of a value that is in the
/// host's memory, or is not.
///
/// A block spec of host makes no copy, and aborts the compiler where the value is
/// elsewhere. Of a value that is there, a window needs a copy between host and its
/// memory, and there is none from host.
///
/// # Errors
/// [`WindowFault::NotInHost`], [`WindowFault::OfHostValue`].
///
/// ```
/// use mosaic_memspace::rules::{Role, check_host_operand};
/// use mosaic_memspace::Resolved;
///
/// assert!(check_host_operand(Resolved::HOST, Role::Input, true, None).is_ok());
/// let fault = check_host_operand(Resolved::HOST, Role::Input, false, None).unwrap_err();
/// assert_eq!(fault.to_string(), "host for a value that is not in the host's memory");
/// assert!(check_host_operand(Resolved::VMEM, Role::Output, true, None).is_ok());
/// assert!(check_host_operand(Resolved::VMEM, Role::Input, true, None).is_err());
/// ```
pub const fn check_host_operand(
    space: Resolved,
    role: Role,
    in_host: bool,
    chip: Option<&ChipFacts>,
) -> Result<(), WindowFault> {
    if !in_host {
        return match space {
            Resolved::HOST => Err(WindowFault::NotInHost),
            Resolved::Memref(_) | Resolved::Acc(_) => Ok(()),
        };
    }
    let old = match chip {
        Some(chip) => chip.generation < 5,
        None => false,
    };
    let refused = match role {
        Role::Input => space.is(TpuSpace::Vmem) || space.is(TpuSpace::Smem),
        Role::Output => space.is(TpuSpace::Smem) && old,
    };
    if refused || matches!(space, Resolved::ANY) {
        Err(WindowFault::OfHostValue { space, role })
    } else {
        Ok(())
    }
}

/// An operand of a kernel: an array, and the part of it that a step sees.
///
/// ```
/// use mosaic_memspace::rules::{BlockDim, GridAxis, IndexEntry, Operand, Role};
/// use mosaic_memspace::{Dtype, Resolved};
///
/// let x = Operand {
///     role: Role::Input,
///     array_shape: &[512, 256],
///     block_shape: Some(&[BlockDim::Blocked(128), BlockDim::Blocked(256)]),
///     element_shape: &[],
///     dtype: Dtype::Float32,
///     index_map: Some(&[IndexEntry::Axis(0), IndexEntry::Zero]),
///     space: Resolved::VMEM,
///     buffers: None,
/// };
/// assert!(!x.has_trivial_window());
/// assert_eq!(x.buffer_count(&[GridAxis::new(4)], 1), 2);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand<'a> {
    /// Input or output.
    pub role: Role,
    /// The array's extents.
    pub array_shape: &'a [u64],
    /// The block's, one entry for each of them; `None` is the whole array.
    pub block_shape: Option<&'a [BlockDim]>,
    /// The shape of one element of an extended dtype; empty for every other.
    pub element_shape: &'a [u64],
    /// The element type; of an extended dtype, that of its physical elements.
    pub dtype: Dtype,
    /// The block's index, one entry for each dimension; `None` is all zeros.
    pub index_map: Option<&'a [IndexEntry]>,
    /// Where the block lies.
    pub space: Resolved,
    /// The buffers that the author asks for (`pl.Buffered`).
    pub buffers: Option<u32>,
}

impl<'a> Operand<'a> {
    /// Its block, for [`Block::check`].
    ///
    /// ```
    /// # use mosaic_memspace::rules::{Operand, Role};
    /// # use mosaic_memspace::{Dtype, Resolved};
    /// # let whole = Operand { role: Role::Input, array_shape: &[3], block_shape: None,
    /// #     element_shape: &[], dtype: Dtype::Int8, index_map: None, space: Resolved::ANY,
    /// #     buffers: None };
    /// assert!(whole.block().trivial_window);
    /// assert_eq!(whole.block().check(None), Ok(()));
    /// ```
    pub fn block(&self) -> Block<'a> {
        Block {
            array_shape: self.array_shape,
            block_shape: self.block_shape,
            element_shape: self.element_shape,
            dtype: self.dtype,
            space: self.space,
            trivial_window: self.has_trivial_window(),
        }
    }

    /// Whether the block is the whole array and the index map is all zeros (JAX:
    /// `BlockMapping.has_trivial_window`). An axis of extent 1 is not zero here.
    ///
    /// ```
    /// # use mosaic_memspace::rules::{IndexEntry, Operand, Role};
    /// # use mosaic_memspace::{Dtype, Resolved};
    /// # let whole = Operand { role: Role::Input, array_shape: &[3], block_shape: None,
    /// #     element_shape: &[], dtype: Dtype::Int8, index_map: None, space: Resolved::ANY,
    /// #     buffers: None };
    /// assert!(whole.has_trivial_window());
    /// let moving = Operand { index_map: Some(&[IndexEntry::Axis(0)]), ..whole };
    /// assert!(!moving.has_trivial_window());
    /// ```
    pub fn has_trivial_window(&self) -> bool {
        let zero = |entry: &IndexEntry| matches!(entry, IndexEntry::Zero);
        let still = self.index_map.is_none_or(|map| map.iter().all(zero));
        let extent = |dim: &BlockDim| dim.extent();
        let whole =
            |dims: &[BlockDim]| dims.iter().map(extent).eq(self.array_shape.iter().copied());
        still && self.block_shape.is_none_or(whole)
    }

    /// Whether the compiler sees the window move: its index map reads a grid axis
    /// longer than 1.
    ///
    /// ```
    /// # use mosaic_memspace::rules::{GridAxis, IndexEntry, Operand, Role};
    /// # use mosaic_memspace::{Dtype, Resolved};
    /// # let x = Operand { role: Role::Input, array_shape: &[3], block_shape: None,
    /// #     element_shape: &[], dtype: Dtype::Int8, index_map: Some(&[IndexEntry::Axis(0)]),
    /// #     space: Resolved::VMEM, buffers: None };
    /// assert!(x.moves(&[GridAxis::new(2)]));
    /// assert!(!x.moves(&[GridAxis::new(1)]));
    /// ```
    pub fn moves(&self, grid: &[GridAxis]) -> bool {
        self.index_map.unwrap_or_default().iter().any(|entry| entry.moves(grid))
    }

    /// Buffers that the compiler gives the window, whatever JAX wrote: 1 when it
    /// does not move, or when every core is left with one step; else as asked,
    /// else 2. `cores`: the TensorCores that share the grid's parallel axes.
    ///
    /// ```
    /// # use mosaic_memspace::rules::{GridAxis, IndexEntry, Operand, Role};
    /// # use mosaic_memspace::{Dtype, Resolved};
    /// # let x = Operand { role: Role::Input, array_shape: &[3], block_shape: None,
    /// #     element_shape: &[], dtype: Dtype::Int8, index_map: Some(&[IndexEntry::Axis(0)]),
    /// #     space: Resolved::VMEM, buffers: None };
    /// let grid = [GridAxis::new(2).in_parallel()];
    /// assert_eq!(x.buffer_count(&grid, 1), 2);
    /// assert_eq!(x.buffer_count(&grid, 2), 1);
    /// assert_eq!(Operand { buffers: Some(1), ..x }.buffer_count(&grid, 1), 1);
    /// ```
    pub fn buffer_count(&self, grid: &[GridAxis], cores: u32) -> u32 {
        self.buffers_where(one_step_a_core(grid, cores), grid)
    }

    /// The same, where it is known of the grid whether every core is left with one step.
    pub(crate) fn buffers_where(&self, one_step: bool, grid: &[GridAxis]) -> u32 {
        if one_step || !self.moves(grid) { 1 } else { self.buffers.unwrap_or(2) }
    }

    /// Everything that is wrong with the operand's window, in a kernel of this
    /// form with this grid; the block is [`block`](Self::block)'s to check.
    ///
    /// ```
    /// # use mosaic_memspace::rules::{Form, IndexEntry, Operand, Role};
    /// # use mosaic_memspace::{CoreType, Dtype, Resolved};
    /// # let x = Operand { role: Role::Input, array_shape: &[3], block_shape: None,
    /// #     element_shape: &[], dtype: Dtype::Int8, index_map: Some(&[IndexEntry::Axis(0)]),
    /// #     space: Resolved::VMEM, buffers: None };
    /// let faults: Vec<_> = x.window_faults(&[], Form::Pipelined, CoreType::Tc).collect();
    /// assert_eq!(faults[0].to_string(), "an index map reads axis 0 of a grid of 0 axes");
    /// ```
    pub fn window_faults(
        &self,
        grid: &[GridAxis],
        form: Form,
        core_type: CoreType,
    ) -> impl Iterator<Item = WindowFault> + use<> {
        let windowed = form.has_window(self.space, core_type);
        let map = self.index_map.unwrap_or_default();
        let (entries, dimensions) = (map.len(), self.array_shape.len());
        let lacks = self.index_map.is_some() && entries != dimensions;
        let outside = |entry: &IndexEntry| match entry {
            IndexEntry::Axis(axis) if *axis >= grid.len() => Some(*axis),
            IndexEntry::Axis(_) | IndexEntry::Zero | IndexEntry::Other => None,
        };
        let outside = map.iter().find_map(outside);
        let blocked = match form {
            Form::Pipelined => grid.is_empty() && !self.has_trivial_window(),
            Form::Unpipelined => false,
        };
        let scalar = match form {
            Form::Pipelined => dimensions == 0 && self.element_shape.is_empty(),
            Form::Unpipelined => false,
        };
        [
            lacks.then_some(WindowFault::RankMismatch { entries, dimensions }),
            outside.map(|axis| WindowFault::AxisOutOfRange { axis, axes: grid.len() }),
            blocked.then_some(WindowFault::BlockedWithoutGrid),
            (scalar && windowed && !grid.is_empty()).then_some(WindowFault::Scalar),
            check_window_space(self.space, self.role, core_type).err(),
            self.refused_buffers(windowed && !grid.is_empty()),
        ]
        .into_iter()
        .flatten()
    }

    /// JAX forces a trivial window in vmem to one buffer before it looks at what
    /// was asked, and looks only where it writes a window.
    fn refused_buffers(&self, written: bool) -> Option<WindowFault> {
        let forced = self.space.is(TpuSpace::Vmem) && self.has_trivial_window();
        match self.buffers {
            None => None,
            Some(buffers) if is_buffer_count(buffers) => None,
            Some(_) if forced || !written => None,
            Some(buffers) => Some(WindowFault::BufferCount { buffers: buffers.into() }),
        }
    }

    /// The operand with the buffers that are counted: a number that is refused is not.
    pub(crate) fn with_counted_buffers(self) -> Self {
        Self { buffers: self.buffers.filter(|buffers| is_buffer_count(*buffers)), ..self }
    }

    /// The buffers that JAX writes into the window, if any.
    fn written_buffers(&self) -> Option<u32> {
        let forced = self.space.is(TpuSpace::Vmem) && self.has_trivial_window();
        if forced { Some(1) } else { self.buffers }
    }
}

/// Whether a window may have so many buffers.
const fn is_buffer_count(buffers: u32) -> bool {
    buffers == 1 || buffers == 2
}

/// An entry of a function's `window_params`, as Mosaic prints it.
///
/// A kernel without a grid has no `window_params`.
///
/// ```
/// use mosaic_memspace::rules::{BlockDim, Form, IndexEntry, Operand, Role, WindowAttr};
/// use mosaic_memspace::{CoreType, Dtype, Resolved};
///
/// let x = Operand {
///     role: Role::Input,
///     array_shape: &[512, 256],
///     block_shape: Some(&[BlockDim::Blocked(128), BlockDim::Blocked(256)]),
///     element_shape: &[],
///     dtype: Dtype::Float32,
///     index_map: Some(&[IndexEntry::Axis(0), IndexEntry::Zero]),
///     space: Resolved::VMEM,
///     buffers: Some(1),
/// };
/// assert_eq!(
///     WindowAttr::pipelined(&x, "transform_0", CoreType::Tc).to_string(),
///     "{pipeline_mode = #tpu.pipeline_mode<synchronous>, transform_indices = @transform_0, \
///      window_bounds = array<i64: 128, 256>}"
/// );
/// let x = Operand { space: Resolved::ANY, ..x };
/// assert_eq!(WindowAttr::pipelined(&x, "transform_0", CoreType::Tc).to_string(), "{}");
/// assert_eq!(
///     WindowAttr::unpipelined(&x, 2, CoreType::ScVectorSubcore).to_string(),
///     "{transform_indices = affine_map<(d0, d1) -> (0, 0)>}"
/// );
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowAttr<'a>(Written<'a>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Written<'a> {
    Nothing,
    Window { operand: Operand<'a>, transform: &'a str },
    Zeros { axes: usize, rank: usize },
}

impl<'a> WindowAttr<'a> {
    /// Of an operand of a pipelined kernel, whose index map is the function
    /// `transform`.
    pub const fn pipelined(operand: &Operand<'a>, transform: &'a str, core_type: CoreType) -> Self {
        if Form::Pipelined.has_window(operand.space, core_type) {
            Self(Written::Window { operand: *operand, transform })
        } else {
            Self(Written::Nothing)
        }
    }

    /// Of an operand of an unpipelined kernel, whose mesh has `axes` axes.
    pub const fn unpipelined(operand: &Operand<'a>, axes: usize, core_type: CoreType) -> Self {
        if Form::Unpipelined.has_window(operand.space, core_type) {
            Self(Written::Zeros { axes, rank: operand.array_shape.len() })
        } else {
            Self(Written::Nothing)
        }
    }
}

impl fmt::Display for WindowAttr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Written::Nothing => f.write_str("{}"),
            Written::Zeros { axes, rank } => {
                let dims = List((0..axes).map(|axis| format!("d{axis}")));
                let zeros = List(std::iter::repeat_n(0, rank));
                write!(f, "{{transform_indices = affine_map<({dims}) -> ({zeros})>}}")
            }
            Written::Window { operand, transform } => {
                f.write_str("{")?;
                match operand.written_buffers() {
                    Some(1) => f.write_str("pipeline_mode = #tpu.pipeline_mode<synchronous>, ")?,
                    Some(_) => {
                        f.write_str("pipeline_mode = #tpu.pipeline_mode<double_buffered>, ")?;
                    }
                    None => {}
                }
                let dims = operand.block().dims();
                let own = operand.element_shape.iter().copied();
                let bounds = List(dims.clone().map(BlockDim::extent).chain(own));
                write!(
                    f,
                    "transform_indices = @{transform}, window_bounds = array<i64: {bounds}>"
                )?;
                if dims.clone().any(|dim| matches!(dim, BlockDim::Element(_))) {
                    let zeros = List(dims.map(|_| 0));
                    write!(f, ", window_kind = #tpu.element_window<[{zeros}], [{zeros}]>")?;
                }
                f.write_str("}")
            }
        }
    }
}

/// What is wrong with a window.
///
/// ```
/// use mosaic_memspace::rules::WindowFault;
/// use mosaic_memspace::error::{Code, Fault};
///
/// let fault = WindowFault::BufferCount { buffers: 3 };
/// assert_eq!(fault.to_string(), "a window of 3 buffers");
/// assert_eq!(fault.code(), Code::BufferCountUnsupported);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WindowFault {
    /// Not one entry of the index map for each dimension.
    #[error("an index map of {entries} entries for an array of rank {dimensions}")]
    RankMismatch {
        /// Entries of the index map.
        entries: usize,
        /// The array's rank.
        dimensions: usize,
    },
    /// An index map that reads an axis which the grid does not have.
    #[error("an index map reads axis {axis} of a grid of {axes} axes")]
    AxisOutOfRange {
        /// The axis read.
        axis: usize,
        /// Axes of the grid.
        axes: usize,
    },
    /// A window on a scalar, which JAX lowers in smem, and the compiler takes in a
    /// kernel without a grid only.
    #[error("a window of rank 0, in a kernel with a grid")]
    Scalar,
    /// A window that is not trivial, in a kernel without a grid.
    #[error("a block that is not the whole array, and no grid to step through it")]
    BlockedWithoutGrid,
    /// A space that a window cannot be in.
    #[error("a window in {space}")]
    Space {
        /// The space.
        space: Resolved,
        /// Why the core reaches no ref there, if it does not.
        why: Option<Unreached>,
    },
    /// Semaphores as an output.
    #[error("an output in semaphore_mem")]
    SemaphoreOutput,
    /// In vmem, on a mesh of several TensorCores.
    #[error("an operand in vmem on a mesh of {cores} TensorCores")]
    SeveralCores {
        /// The mesh's.
        cores: u32,
    },
    /// In a space in which an unpipelined kernel of these cores takes none.
    #[error("an {} in {space} on a {core_type} mesh", .role.as_str())]
    NotOnMesh {
        /// The space.
        space: Resolved,
        /// Input or output.
        role: Role,
        /// The mesh's.
        core_type: CoreType,
    },
    /// In host, of a value that is elsewhere: that aborts the compiler.
    #[error("host for a value that is not in the host's memory")]
    NotInHost,
    /// In a space into which, or from which, the compiler copies no host value.
    #[error("an {} in {space} of a value in the host's memory", .role.as_str())]
    OfHostValue {
        /// The space.
        space: Resolved,
        /// Input or output.
        role: Role,
    },
    /// Another number of buffers than 1 or 2.
    #[error("a window of {buffers} buffers")]
    BufferCount {
        /// The number asked for.
        buffers: i64,
    },
}

impl Fault for WindowFault {
    fn code(&self) -> Code {
        match self {
            Self::RankMismatch { .. } => Code::RankMismatch,
            Self::AxisOutOfRange { .. } => Code::IndexMapAxisOutOfRange,
            Self::Scalar => Code::BlockRankZero,
            Self::BlockedWithoutGrid => Code::BlockedWithoutGrid,
            Self::Space { .. }
            | Self::SemaphoreOutput
            | Self::SeveralCores { .. }
            | Self::NotInHost
            | Self::OfHostValue { .. }
            | Self::NotOnMesh { .. } => Code::WindowSpaceUnsupported,
            Self::BufferCount { .. } => Code::BufferCountUnsupported,
        }
    }

    fn help(&self) -> String {
        match self {
            Self::RankMismatch { dimensions, .. } => {
                format!("return one index for each dimension of the array, {dimensions} in all")
            }
            Self::AxisOutOfRange { axes: 0, .. } => "give the kernel a grid".to_owned(),
            Self::AxisOutOfRange { axes, .. } => {
                format!("read one of the axes 0 to {}, or nothing", axes.saturating_sub(1))
            }
            Self::Scalar => {
                "give the array a dimension, as in (1,), or make it scalar prefetch".to_owned()
            }
            Self::SemaphoreOutput => "make the semaphores scratch, or an input".to_owned(),
            Self::SeveralCores { .. } => {
                "leave it in any or hbm, or give the mesh one core".to_owned()
            }
            Self::NotOnMesh { role, .. } => match role {
                Role::Input => "leave it in hbm and copy it into scratch".to_owned(),
                Role::Output => "leave it in hbm and copy it there from scratch".to_owned(),
            },
            Self::NotInHost => {
                "annotate the value with host as well, or leave it in hbm".to_owned()
            }
            Self::OfHostValue { role, .. } => match role {
                Role::Input => "write host and copy from there to hbm",
                Role::Output => "write host and copy there from hbm",
            }
            .to_owned(),
            Self::BufferCount { .. } => {
                "use 1 or 2 buffers; for more, run pltpu.emit_pipeline over a ref in hbm".to_owned()
            }
            Self::Space { why: Some(why @ Unreached::AnyOnSparseCore), .. } => why.help(),
            Self::BlockedWithoutGrid | Self::Space { .. } => self.code().mend().to_owned(),
        }
    }
}

const fn nth(grid: &[GridAxis], axis: usize) -> Option<GridAxis> {
    match grid.split_at_checked(axis) {
        Some((_, [axis, ..])) => Some(*axis),
        Some((_, [])) | None => None,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in super::super) const X: Operand<'static> = Operand {
        role: Role::Input,
        array_shape: &[512, 256],
        block_shape: Some(&[BlockDim::Blocked(128), BlockDim::Blocked(256)]),
        element_shape: &[],
        dtype: Dtype::Float32,
        index_map: Some(&[IndexEntry::Axis(0), IndexEntry::Zero]),
        space: Resolved::VMEM,
        buffers: None,
    };
    pub(in super::super) const GRID: [GridAxis; 1] = [GridAxis::new(4)];

    #[test]
    fn each_fault_says_what_would_be_right() {
        let wrong = [
            (
                Operand { index_map: Some(&[IndexEntry::Zero]), ..X },
                Code::RankMismatch,
                "an index map of 1 entries for an array of rank 2",
                "return one index for each dimension of the array, 2 in all",
            ),
            (
                Operand { index_map: Some(&[IndexEntry::Axis(1), IndexEntry::Zero]), ..X },
                Code::IndexMapAxisOutOfRange,
                "an index map reads axis 1 of a grid of 1 axes",
                "read one of the axes 0 to 0, or nothing",
            ),
            (
                Operand { space: Resolved::VMEM_SHARED, ..X },
                Code::WindowSpaceUnsupported,
                "a window in vmem_shared",
                "put the window in vmem or smem, or leave the operand in any or hbm and copy from it",
            ),
            (
                Operand { space: Resolved::SEMAPHORE_MEM, role: Role::Output, ..X },
                Code::WindowSpaceUnsupported,
                "an output in semaphore_mem",
                "make the semaphores scratch, or an input",
            ),
            (
                Operand { buffers: Some(3), ..X },
                Code::BufferCountUnsupported,
                "a window of 3 buffers",
                "use 1 or 2 buffers; for more, run pltpu.emit_pipeline over a ref in hbm",
            ),
        ];
        for (operand, code, message, help) in wrong {
            let faults = operand.window_faults(&GRID, Form::Pipelined, CoreType::Tc);
            let said: Vec<_> =
                faults.map(|fault| (fault.code(), fault.to_string(), fault.help())).collect();
            assert_eq!(said, [(code, message.to_owned(), help.to_owned())]);
        }
        let scalar = Operand {
            array_shape: &[],
            block_shape: None,
            index_map: None,
            space: Resolved::SMEM,
            ..X
        };
        let of_scalar = |grid: &[GridAxis], form| {
            let faults = scalar.window_faults(grid, form, CoreType::Tc);
            faults.map(|fault| (fault.code(), fault.help())).collect::<Vec<_>>()
        };
        let help = "give the array a dimension, as in (1,), or make it scalar prefetch".to_owned();
        assert_eq!(of_scalar(&GRID, Form::Pipelined), [(Code::BlockRankZero, help)]);
        assert_eq!(of_scalar(&[], Form::Pipelined), []);
        assert_eq!(of_scalar(&GRID, Form::Unpipelined), []);
        let still = Operand { index_map: None, ..X };
        let faults = still.window_faults(&[], Form::Pipelined, CoreType::Tc);
        let said: Vec<_> = faults.map(|fault| (fault.code(), fault.help())).collect();
        let help = "give the kernel a grid, or use the whole array".to_owned();
        assert_eq!(said, [(Code::BlockedWithoutGrid, help)]);
    }

    /// As JAX and libtpu took them, on v5p and 7x.
    #[test]
    fn a_mesh_takes_fewer_spaces_than_a_grid() {
        let [tc, scalar, vector] =
            [CoreType::Tc, CoreType::ScScalarSubcore, CoreType::ScVectorSubcore];
        let [input, output] = [Role::Input, Role::Output];
        let not = |space, role, core_type| Err(WindowFault::NotOnMesh { space, role, core_type });
        let several = Err(WindowFault::SeveralCores { cores: 2 });
        for (space, role, core_type, cores, expected) in [
            (Resolved::VMEM, input, tc, None, Ok(())),
            (Resolved::VMEM, input, tc, Some(1), Ok(())),
            (Resolved::VMEM, output, tc, Some(2), several),
            (Resolved::ANY, input, tc, Some(2), Ok(())),
            (Resolved::SMEM, output, tc, Some(2), Ok(())),
            (Resolved::HOST, input, tc, Some(1), Ok(())),
            (Resolved::VMEM, output, vector, Some(2), Ok(())),
            (Resolved::SMEM, input, vector, None, not(Resolved::SMEM, input, vector)),
            (Resolved::SMEM, input, scalar, None, Ok(())),
            (Resolved::SMEM, output, scalar, None, not(Resolved::SMEM, output, scalar)),
            (Resolved::HOST, input, scalar, None, Ok(())),
            (Resolved::HOST, output, vector, None, Ok(())),
            (Resolved::HBM, output, vector, None, Ok(())),
        ] {
            assert_eq!(check_mesh_operand(space, role, core_type, cores, None), expected);
        }
        let helps =
            [several, not(Resolved::SMEM, input, vector), not(Resolved::SMEM, output, vector)];
        let helps = helps.map(|fault| fault.err().map(|fault| fault.help()));
        let expected = [
            "leave it in any or hbm, or give the mesh one core",
            "leave it in hbm and copy it into scratch",
            "leave it in hbm and copy it there from scratch",
        ];
        assert_eq!(helps, expected.map(|help| Some(help.to_owned())));
    }

    #[test]
    fn a_buffer_count_counts_only_where_jax_writes_it() {
        let asked = |operand: Operand<'static>, grid: &[GridAxis]| {
            let operand = Operand { buffers: Some(0), ..operand };
            operand.window_faults(grid, Form::Pipelined, CoreType::Tc).count()
        };
        let whole = Operand { block_shape: None, index_map: None, ..X };
        assert_eq!(asked(X, &GRID), 1);
        assert_eq!(asked(whole, &GRID), 0, "forced to one");
        assert_eq!(asked(Operand { space: Resolved::SMEM, ..whole }, &GRID), 1, "not forced");
        assert_eq!(asked(Operand { space: Resolved::SMEM, ..whole }, &[]), 0, "no grid");
        assert_eq!(asked(Operand { space: Resolved::HBM, ..whole }, &GRID), 0, "no window");
    }

    #[test]
    fn only_cores_left_with_one_step_buffer_once() {
        let [one, two, four] = [1, 2, 4].map(|extent| GridAxis::new(extent).in_parallel());
        let in_order = GridAxis::new(2);
        for (grid, cores, expected) in [
            (&[two][..], 2, true),
            (&[one, two], 2, true),
            (&[two], 1, false),
            (&[four], 2, false),
            (&[two, two], 2, false),
            (&[in_order], 2, false),
            (&[GridAxis::DYNAMIC.in_parallel()], 2, false),
            (&[one], 1, true),
        ] {
            assert_eq!(one_step_a_core(grid, cores), expected, "{grid:?} on {cores}");
        }
    }

    #[test]
    fn mosaics_text_holds_what_jax_writes() {
        let text = |operand: Operand<'static>| {
            WindowAttr::pipelined(&operand, "transform_1", CoreType::Tc).to_string()
        };
        assert_eq!(
            text(X),
            "{transform_indices = @transform_1, window_bounds = array<i64: 128, 256>}"
        );
        assert_eq!(
            text(Operand { buffers: Some(2), ..X }),
            "{pipeline_mode = #tpu.pipeline_mode<double_buffered>, \
             transform_indices = @transform_1, window_bounds = array<i64: 128, 256>}"
        );
        let whole = Operand { block_shape: None, index_map: None, buffers: Some(2), ..X };
        assert_eq!(
            text(whole),
            "{pipeline_mode = #tpu.pipeline_mode<synchronous>, \
             transform_indices = @transform_1, window_bounds = array<i64: 512, 256>}"
        );
        let element = Some(&[BlockDim::Squeezed, BlockDim::Element(256)][..]);
        assert_eq!(
            text(Operand { block_shape: element, element_shape: &[2], ..X }),
            "{transform_indices = @transform_1, window_bounds = array<i64: 1, 256, 2>, \
             window_kind = #tpu.element_window<[0, 0], [0, 0]>}"
        );
        let scalar = Operand { array_shape: &[], block_shape: None, index_map: None, ..X };
        assert_eq!(
            WindowAttr::unpipelined(&scalar, 1, CoreType::ScScalarSubcore).to_string(),
            "{transform_indices = affine_map<(d0) -> ()>}"
        );
    }
}
