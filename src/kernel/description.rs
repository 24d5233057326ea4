//! A kernel as it is described: built from types, or read from JSON.

use super::place::Place;
use super::spelled::Spelled;
use crate::chip::{Chip, ChipFacts};
use crate::core_type::CoreType;
use crate::custom_call::{CompilerParams, CostEstimate, DimensionSemantics, ParamFault};
use crate::dtype::Dtype;
use crate::error::UnknownWord;
use crate::memory_space::{MemorySpace, Resolved};
use crate::rules::{self, AccessOp, AccessShape, BlockDim, DmaMode, GridAxis, IndexEntry, Role};

/// A kernel's description.
///
/// Built step by step here; read from JSON by `read::Kernels` of feature `read`.
/// Nothing is checked before [`check`](Self::check) or [`resolve`](Self::resolve).
///
/// ```
/// use mosaic_memspace::kernel::{Kernel, Operand, Scratch};
/// use mosaic_memspace::{Chip, CoreType, Dtype, MemorySpace};
///
/// let operand = |operand: Operand| operand.block([128, 256]).index_map([Some(0), None]);
/// let kernel = Kernel::pipelined(CoreType::Tc)
///     .named("scale")
///     .on(Chip::V5e)
///     .grid([4])
///     .operand(operand(Operand::input("x", [512, 256], Dtype::Float32)))
///     .operand(operand(Operand::output("o", [512, 256], Dtype::Float32)))
///     .scratch(Scratch::new("t", MemorySpace::VMEM, [128, 256], Dtype::Float32));
///
/// let resolved = kernel.resolve()?;
/// let bytes: Vec<_> = resolved.operands().iter().map(|operand| operand.bytes).collect();
/// assert_eq!(bytes, [Some(131_072), Some(131_072)]);
/// # Ok::<(), mosaic_memspace::kernel::Diagnostics>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    pub(crate) name: Option<String>,
    pub(crate) chip: Option<OnChip>,
    pub(crate) core_type: Option<Spelled<CoreType>>,
    pub(crate) mesh: Option<MeshSpec>,
    pub(crate) grid: Vec<Option<u64>>,
    pub(crate) scalar_prefetch: Vec<Prefetch>,
    pub(crate) operands: Vec<Operand>,
    pub(crate) scratch: Vec<Scratch>,
    pub(crate) aliases: Vec<(i64, i64)>,
    pub(crate) params: Params,
    pub(crate) custom_barrier: bool,
    pub(crate) has_communication: bool,
    pub(crate) cost_estimate: Option<CostEstimate<'static>>,
    pub(crate) accesses: Vec<RefAccess>,
    pub(crate) body: Vec<u8>,
    /// What a body says that no description does; for a kernel that was read from one.
    pub(crate) from_body: Option<FromBody>,
}

/// What a body says that no description does.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FromBody {
    /// Its loads, stores and copies.
    pub(crate) uses: Vec<BodyUse>,
    /// The names of the refs that it loads, stores or copies.
    pub(crate) touched: Vec<String>,
    /// Of each operand, whether it is semaphores.
    pub(crate) semaphore_operands: Vec<bool>,
    /// Of each scratch, whether memory is kept for it.
    pub(crate) scratch: Vec<Kept>,
    /// Whether the compiler buffers windows once when memory does not suffice.
    pub(crate) buffers_once: bool,
}

/// Whether memory is kept for scratch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    /// As long as the kernel runs.
    Whole,
    /// For a part of its run.
    Scoped,
    /// None: the compiler takes it away.
    Removed,
}

/// A load, a store or a copy of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BodyUse {
    pub(crate) place: Place,
    pub(crate) used: UsedAs,
}

/// What is done, by the spaces that the body's types say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum UsedAs {
    Access { access: rules::Access, space: Resolved },
    Copy { dma: rules::Dma, src: Resolved, dst: Resolved },
}

/// The chip that a kernel is for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum OnChip {
    Word(Spelled<Chip>),
    Facts(Box<ChipFacts>),
}

impl OnChip {
    pub(crate) fn facts(&self) -> Option<&ChipFacts> {
        match self {
            Self::Word(chip) => chip.known().map(|chip| chip.facts()),
            Self::Facts(facts) => Some(facts),
        }
    }
}

/// The compiler parameters; where a person wrote what cannot be one of them, the
/// fault stands for it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Params {
    pub(crate) sound: CompilerParams,
    pub(crate) faults: Vec<ParamFault>,
    /// Words that a parameter does not take, and where they are.
    pub(crate) words: Vec<(Place, UnknownWord)>,
    /// What was written, of the parameters that have such faults: key and JSON.
    pub(crate) unsound: Vec<(Box<str>, Box<str>)>,
}

impl From<CompilerParams> for Params {
    fn from(sound: CompilerParams) -> Self {
        Self { sound, ..Self::default() }
    }
}

impl Kernel {
    /// Nothing yet: a kernel has a core type or a mesh, so no one else may have this.
    pub(crate) fn empty() -> Self {
        Self {
            name: None,
            chip: None,
            core_type: None,
            mesh: None,
            grid: Vec::new(),
            scalar_prefetch: Vec::new(),
            operands: Vec::new(),
            scratch: Vec::new(),
            aliases: Vec::new(),
            params: Params::default(),
            custom_barrier: false,
            has_communication: false,
            cost_estimate: None,
            accesses: Vec::new(),
            body: Vec::new(),
            from_body: None,
        }
    }

    /// A kernel whose operands move through windows (`pl.pallas_call`).
    ///
    /// ```
    /// use mosaic_memspace::CoreType;
    /// use mosaic_memspace::kernel::Kernel;
    /// assert!(Kernel::pipelined(CoreType::Tc).resolve().is_ok());
    /// ```
    pub fn pipelined(core_type: CoreType) -> Self {
        Self { core_type: Some(core_type.into()), ..Self::empty() }
    }

    /// A kernel that runs on a mesh of cores and moves its operands itself
    /// (`pl.kernel`).
    ///
    /// ```
    /// use mosaic_memspace::Chip;
    /// use mosaic_memspace::kernel::{Kernel, MeshSpec};
    /// let kernel = Kernel::unpipelined(MeshSpec::vector_subcores("c", "s")).on(Chip::V5p);
    /// assert!(kernel.resolve().is_ok());
    /// ```
    pub fn unpipelined(mesh: MeshSpec) -> Self {
        Self { mesh: Some(mesh), ..Self::empty() }
    }

    /// Gives the kernel a name.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.name = Some(name.to_owned());
        self
    }

    /// Says which chip it is for. Without one, what needs a chip is not checked.
    #[must_use]
    pub fn on(mut self, chip: impl Into<Option<Chip>>) -> Self {
        self.chip = chip.into().map(|chip| OnChip::Word(chip.into()));
        self
    }

    /// Says which chip it is for, registered or not, with any number of cores.
    ///
    /// ```
    /// use mosaic_memspace::kernel::Kernel;
    /// use mosaic_memspace::{Chip, CoreType};
    /// let megacore = Chip::V5p.facts().with_num_cores(2)?;
    /// assert!(Kernel::pipelined(CoreType::Tc).on_chip(megacore).resolve().is_ok());
    /// # Ok::<(), mosaic_memspace::CoreCountUnsupported>(())
    /// ```
    #[must_use]
    pub fn on_chip(mut self, facts: ChipFacts) -> Self {
        self.chip = Some(OnChip::Facts(Box::new(facts)));
        self
    }

    /// The name of the kernel, if it has one.
    ///
    /// ```
    /// use mosaic_memspace::CoreType;
    /// use mosaic_memspace::kernel::Kernel;
    /// assert_eq!(Kernel::pipelined(CoreType::Tc).named("scale").name(), Some("scale"));
    /// ```
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The name of the chip that it is for, known or not; `None` without one.
    ///
    /// ```
    /// use mosaic_memspace::kernel::Kernel;
    /// use mosaic_memspace::{Chip, CoreType};
    /// let kernel = Kernel::pipelined(CoreType::Tc);
    /// assert_eq!(kernel.chip_name(), None);
    /// assert_eq!(kernel.on(Chip::V5e).chip_name(), Some("v5e"));
    /// ```
    pub fn chip_name(&self) -> Option<&str> {
        self.chip.as_ref().map(|chip| match chip {
            OnChip::Word(Spelled::Known(chip)) => chip.as_str(),
            OnChip::Word(Spelled::Unknown(fault)) => fault.word(),
            OnChip::Facts(facts) => facts.name,
        })
    }

    /// Sets the grid: the number of steps along each axis.
    #[must_use]
    pub fn grid(mut self, grid: impl IntoIterator<Item = u64>) -> Self {
        self.grid = grid.into_iter().map(Some).collect();
        self
    }

    /// Sets a grid in which `None` is an axis whose steps are known only when the
    /// kernel runs.
    #[must_use]
    pub fn dynamic_grid(mut self, grid: impl IntoIterator<Item = Option<u64>>) -> Self {
        self.grid = grid.into_iter().collect();
        self
    }

    /// Adds an argument that is in smem before the first step.
    #[must_use]
    pub fn prefetch(mut self, prefetch: Prefetch) -> Self {
        self.scalar_prefetch.push(prefetch);
        self
    }

    /// Adds an input or an output.
    #[must_use]
    pub fn operand(mut self, operand: Operand) -> Self {
        self.operands.push(operand);
        self
    }

    /// Adds scratch memory or semaphores.
    #[must_use]
    pub fn scratch(mut self, scratch: Scratch) -> Self {
        self.scratch.push(scratch);
        self
    }

    /// Lets an output take an input's place in memory. Inputs are counted with
    /// the scalar prefetch before them.
    #[must_use]
    pub fn alias(mut self, input: u32, output: u32) -> Self {
        self.aliases.push((input.into(), output.into()));
        self
    }

    /// Sets the compiler parameters.
    #[must_use]
    pub fn params(mut self, params: CompilerParams) -> Self {
        self.params = params.into();
        self
    }

    /// Says that the kernel uses the barrier semaphore.
    #[must_use]
    pub fn custom_barrier(mut self) -> Self {
        self.custom_barrier = true;
        self
    }

    /// Says that the kernel talks to other devices.
    #[must_use]
    pub fn communicating(mut self) -> Self {
        self.has_communication = true;
        self
    }

    /// Says what the kernel costs.
    #[must_use]
    pub fn costing(mut self, cost_estimate: CostEstimate<'static>) -> Self {
        self.cost_estimate = Some(cost_estimate);
        self
    }

    /// Adds a load, a store or a copy that the body makes.
    #[must_use]
    pub fn access(mut self, access: RefAccess) -> Self {
        self.accesses.push(access);
        self
    }

    /// Sets the body: the serialized Mosaic module.
    #[must_use]
    pub fn body(mut self, module: impl Into<Vec<u8>>) -> Self {
        self.body = module.into();
        self
    }
}

/// The mesh of cores that an unpipelined kernel runs on; a count that is absent
/// is the chip's. Which counts are possible is up to the chip: [`crate::Mesh`].
#[derive(Clone, Debug, PartialEq)]
pub struct MeshSpec {
    pub(crate) core_type: Spelled<CoreType>,
    pub(crate) core_axis: String,
    pub(crate) subcore_axis: String,
    pub(crate) num_cores: Option<i64>,
    pub(crate) num_subcores: Option<i64>,
}

impl MeshSpec {
    fn new(core_type: CoreType, core_axis: &str, subcore_axis: &str) -> Self {
        Self {
            core_type: core_type.into(),
            core_axis: core_axis.to_owned(),
            subcore_axis: subcore_axis.to_owned(),
            num_cores: None,
            num_subcores: None,
        }
    }

    /// TensorCores along an axis.
    pub fn tensor_cores(axis: &str) -> Self {
        Self::new(CoreType::Tc, axis, "")
    }

    /// The scalar subcores of SparseCores along an axis.
    pub fn scalar_subcores(axis: &str) -> Self {
        Self::new(CoreType::ScScalarSubcore, axis, "")
    }

    /// The vector subcores of SparseCores, along two axes.
    pub fn vector_subcores(core_axis: &str, subcore_axis: &str) -> Self {
        Self::new(CoreType::ScVectorSubcore, core_axis, subcore_axis)
    }

    /// Sets the number of cores.
    #[must_use]
    pub fn cores(mut self, num_cores: u32) -> Self {
        self.num_cores = Some(num_cores.into());
        self
    }

    /// Sets the number of vector subcores of each.
    #[must_use]
    pub fn subcores(mut self, num_subcores: u32) -> Self {
        self.num_subcores = Some(num_subcores.into());
        self
    }
}

/// An argument that is in smem before the first step (`num_scalar_prefetch`).
#[derive(Clone, Debug, PartialEq)]
pub struct Prefetch {
    pub(crate) name: Option<String>,
    /// In elements.
    pub(crate) shape: Vec<u64>,
    pub(crate) dtype: Spelled<Dtype>,
}

impl Prefetch {
    /// An argument of this shape, in elements.
    pub fn new(name: &str, shape: impl Into<Vec<u64>>, dtype: Dtype) -> Self {
        Self { name: Some(name.to_owned()), shape: shape.into(), dtype: dtype.into() }
    }
}

/// An input or an output of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Operand {
    pub(crate) name: Option<String>,
    pub(crate) role: Role,
    /// In elements.
    pub(crate) array_shape: Vec<u64>,
    /// What a step sees; without one, the whole array.
    pub(crate) block_shape: Option<Vec<BlockDim>>,
    /// Which block a step sees: an entry a dimension; without one, all zeros.
    pub(crate) index_map: Option<Vec<IndexEntry>>,
    pub(crate) dtype: Spelled<Dtype>,
    /// The memory space of the block spec.
    pub(crate) space: Option<Spelled<MemorySpace>>,
    /// How often the window is buffered: 1 or 2.
    pub(crate) buffers: Option<i64>,
    /// The memory space that is put on the value itself; only it colors it.
    pub(crate) annotated: Option<Spelled<MemorySpace>>,
}

impl Operand {
    fn new(name: &str, role: Role, array_shape: Vec<u64>, dtype: Dtype) -> Self {
        Self {
            name: Some(name.to_owned()),
            role,
            array_shape,
            block_shape: None,
            index_map: None,
            dtype: dtype.into(),
            space: None,
            buffers: None,
            annotated: None,
        }
    }

    /// An input: an array of this shape, in elements.
    pub fn input(name: &str, array_shape: impl Into<Vec<u64>>, dtype: Dtype) -> Self {
        Self::new(name, Role::Input, array_shape.into(), dtype)
    }

    /// An output: an array of this shape, in elements.
    pub fn output(name: &str, array_shape: impl Into<Vec<u64>>, dtype: Dtype) -> Self {
        Self::new(name, Role::Output, array_shape.into(), dtype)
    }

    /// Sets the shape of the block; without one, it is the whole array.
    #[must_use]
    pub fn block(self, block_shape: impl IntoIterator<Item = u64>) -> Self {
        self.block_dims(block_shape.into_iter().map(BlockDim::Blocked))
    }

    /// Sets the block with squeezed and element dimensions.
    #[must_use]
    pub fn block_dims(mut self, block_shape: impl IntoIterator<Item = BlockDim>) -> Self {
        self.block_shape = Some(block_shape.into_iter().collect());
        self
    }

    /// Sets the index map: for each dimension the grid axis that it follows, or
    /// `None` for 0. Without one, it is all zeros.
    #[must_use]
    pub fn index_map(self, axes: impl IntoIterator<Item = Option<usize>>) -> Self {
        let entry = |axis: Option<usize>| axis.map_or(IndexEntry::Zero, IndexEntry::Axis);
        self.index_entries(axes.into_iter().map(entry))
    }

    /// Sets an index map with entries that are more than a grid axis.
    #[must_use]
    pub fn index_entries(mut self, entries: impl IntoIterator<Item = IndexEntry>) -> Self {
        self.index_map = Some(entries.into_iter().collect());
        self
    }

    /// Sets the memory space of the block spec.
    #[must_use]
    pub fn space(mut self, space: impl Into<Option<MemorySpace>>) -> Self {
        self.space = space.into().map(Spelled::from);
        self
    }

    /// Sets the number of buffers of the window (`pl.Buffered`).
    #[must_use]
    pub fn buffers(mut self, buffers: impl Into<Option<u32>>) -> Self {
        self.buffers = buffers.into().map(i64::from);
        self
    }

    /// Sets the memory space that is put on the value itself
    /// (`pltpu.with_memory_space_constraint`); only it colors the operand.
    #[must_use]
    pub fn annotated(mut self, space: impl Into<Option<MemorySpace>>) -> Self {
        self.annotated = space.into().map(Spelled::from);
        self
    }
}

/// The kind of a scratch semaphore.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Semaphore {
    /// Counts signals.
    Regular,
    /// Counts the bytes of copies.
    Dma,
    /// Waits for other devices.
    Barrier,
}

/// Scratch memory of a kernel, or semaphores.
#[derive(Clone, Debug, PartialEq)]
pub struct Scratch {
    pub(crate) name: Option<String>,
    pub(crate) shape: Vec<u64>,
    pub(crate) holds: Holds,
}

/// What scratch holds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Holds {
    Elements { dtype: Spelled<Dtype>, space: Option<Spelled<MemorySpace>> },
    Semaphores(Semaphore),
}

impl Semaphore {
    /// `regular`, `dma` or `barrier`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Regular => "regular",
            Self::Dma => "dma",
            Self::Barrier => "barrier",
        }
    }

    /// The element type of its memref.
    pub(crate) const fn as_mosaic(self) -> &'static str {
        match self {
            Self::Dma => "!tpu.dma_semaphore",
            Self::Regular | Self::Barrier => "!tpu.semaphore",
        }
    }
}

impl Scratch {
    /// Memory of this shape, in elements.
    pub fn new(name: &str, space: MemorySpace, shape: impl Into<Vec<u64>>, dtype: Dtype) -> Self {
        let holds = Holds::Elements { dtype: dtype.into(), space: Some(space.into()) };
        Self { name: Some(name.to_owned()), shape: shape.into(), holds }
    }

    /// Semaphores: one, if the shape is empty.
    pub fn semaphore(name: &str, kind: Semaphore, shape: impl Into<Vec<u64>>) -> Self {
        let holds = Holds::Semaphores(kind);
        Self { name: Some(name.to_owned()), shape: shape.into(), holds }
    }
}

/// A load, a store or a copy that a kernel's body makes, of refs by their names.
#[derive(Clone, Debug, PartialEq)]
pub enum RefAccess {
    /// A load or a store.
    Local {
        /// Which of the two, and how much at once.
        access: rules::Access,
        /// The ref.
        r#ref: String,
    },
    /// A copy.
    Dma {
        /// Its mode, and whether it adds.
        dma: rules::Dma,
        /// The source.
        src: String,
        /// The destination.
        dst: String,
        /// The ref that holds the indices of a gather or a scatter.
        indices: Option<String>,
    },
}

impl RefAccess {
    /// A load.
    pub fn load(r#ref: &str, shape: AccessShape) -> Self {
        let access = rules::Access { op: AccessOp::Load, shape };
        Self::Local { access, r#ref: r#ref.to_owned() }
    }

    /// A store.
    pub fn store(r#ref: &str, shape: AccessShape) -> Self {
        let access = rules::Access { op: AccessOp::Store, shape };
        Self::Local { access, r#ref: r#ref.to_owned() }
    }

    /// A plain copy.
    pub fn copy(src: &str, dst: &str) -> Self {
        let dma = rules::Dma { mode: DmaMode::Copy, add: false };
        Self::Dma { dma, src: src.to_owned(), dst: dst.to_owned(), indices: None }
    }

    /// A copy of any kind; a gather and a scatter need indices.
    pub fn dma(dma: rules::Dma, src: &str, dst: &str, indices: Option<&str>) -> Self {
        let indices = indices.map(str::to_owned);
        Self::Dma { dma, src: src.to_owned(), dst: dst.to_owned(), indices }
    }
}

impl Kernel {
    /// The grid as the compiler's rules see it.
    pub(crate) fn grid_axes(&self) -> Vec<GridAxis> {
        let semantics = self.params.sound.dimension_semantics.as_deref().unwrap_or_default();
        let axis = |(number, extent): (usize, &Option<u64>)| GridAxis {
            extent: *extent,
            parallel: semantics.get(number) == Some(&DimensionSemantics::Parallel),
        };
        self.grid.iter().enumerate().map(axis).collect()
    }
}

impl Operand {
    /// The operand as the rules of blocks and windows see it.
    pub(crate) fn ruled(&self, space: Resolved, dtype: Dtype) -> rules::Operand<'_> {
        rules::Operand {
            role: self.role,
            array_shape: &self.array_shape,
            block_shape: self.block_shape.as_deref(),
            element_shape: &[],
            dtype,
            index_map: self.index_map.as_deref(),
            space,
            // A number that no u32 holds is refused anyway, as 0 is.
            buffers: self.buffers.map(|buffers| u32::try_from(buffers).unwrap_or(0)),
        }
    }
}
