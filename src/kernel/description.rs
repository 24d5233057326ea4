//! A kernel as it is described: built from types, or read from JSON.

use super::place::Place;
use crate::chip::{Chip, ChipFacts};
use crate::core_type::CoreType;
use crate::custom_call::{CompilerParams, CostEstimate, DimensionSemantics, ParamFault};
use crate::error::UnknownWord;
use crate::memory_space::MemorySpace;
use crate::operand::{GridAxis, Operand, Pipeline, Prefetch, Scratch};
use crate::rules::{self, AccessOp, AccessShape};
use crate::word::Spelled;

/// A kernel's description.
///
/// Built step by step here; read from JSON by `read::Kernels` of feature `read`.
/// Nothing is checked before [`check`](Self::check) or [`resolve`](Self::resolve).
///
/// ```
/// use mosaic_memspace::kernel::Kernel;
/// use mosaic_memspace::operand::{Operand, Scratch};
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
    pub(crate) pipelines: Vec<Pipeline>,
    pub(crate) aliases: Vec<(i64, i64)>,
    pub(crate) params: Params,
    pub(crate) custom_barrier: bool,
    pub(crate) has_communication: bool,
    pub(crate) cost_estimate: Option<CostEstimate<'static>>,
    pub(crate) accesses: Vec<RefAccess>,
    pub(crate) body: Vec<u8>,
    /// Whether the spaces of operands are what the author wrote.
    pub(crate) spaces_as_written: bool,
    /// What a body says that no description does; for a kernel that was read from one.
    pub(crate) from_body: Option<FromBody>,
}

/// What a body says that no description does.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FromBody {
    /// Of each access, the operation, and where its author wrote it.
    pub(crate) places: Vec<Place>,
    /// Whether the compiler buffers windows once when memory does not suffice.
    pub(crate) buffers_once: bool,
    /// Bytes of VMEM that the compiler took.
    pub(crate) used_vmem_bytes: Option<u64>,
    /// What in it is not understood, by name.
    pub(crate) not_understood: Vec<String>,
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
            pipelines: Vec::new(),
            aliases: Vec::new(),
            params: Params::default(),
            custom_barrier: false,
            has_communication: false,
            cost_estimate: None,
            accesses: Vec::new(),
            body: Vec::new(),
            spaces_as_written: true,
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

    /// Adds a pipeline that the body runs. Of those that it runs one after the other,
    /// describe the one that takes the most.
    #[must_use]
    pub fn pipeline(mut self, pipeline: Pipeline) -> Self {
        self.pipelines.push(pipeline);
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

/// A load, a store or a copy that a kernel's body makes.
#[derive(Clone, Debug, PartialEq)]
pub enum RefAccess {
    /// A load or a store.
    Local {
        /// Which of the two, and how much at once.
        access: rules::Access,
        /// The ref.
        r#ref: AccessedRef,
    },
    /// A copy.
    Dma {
        /// Its mode, and whether it adds.
        dma: rules::Dma,
        /// The source.
        src: AccessedRef,
        /// The destination.
        dst: AccessedRef,
        /// The ref that holds the indices of a gather or a scatter.
        indices: Option<String>,
    },
}

/// A ref as an access names it.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct AccessedRef {
    /// Its name; `None` where only its space is known.
    pub name: Option<String>,
    /// The memory of a view of it that lies in another than the ref itself.
    pub(crate) space: Option<Spelled<MemorySpace>>,
    /// Whether it is another core's, another device's or the host's: then this core's
    /// rules do not say what reaches it.
    pub is_remote: bool,
}

impl From<&str> for AccessedRef {
    fn from(name: &str) -> Self {
        Self { name: Some(name.to_owned()), ..Self::default() }
    }
}

impl RefAccess {
    /// A load.
    pub fn load(r#ref: &str, shape: AccessShape) -> Self {
        let access = rules::Access { op: AccessOp::Load, shape };
        Self::Local { access, r#ref: r#ref.into() }
    }

    /// A store.
    pub fn store(r#ref: &str, shape: AccessShape) -> Self {
        let access = rules::Access { op: AccessOp::Store, shape };
        Self::Local { access, r#ref: r#ref.into() }
    }

    /// A plain copy.
    pub fn copy(src: &str, dst: &str) -> Self {
        Self::dma(rules::Dma::COPY, src, dst, None)
    }

    /// A copy of any kind; a gather and a scatter need indices.
    pub fn dma(dma: rules::Dma, src: &str, dst: &str, indices: Option<&str>) -> Self {
        let indices = indices.map(str::to_owned);
        Self::Dma { dma, src: src.into(), dst: dst.into(), indices }
    }

    /// The names of the refs that it accesses.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let (first, second, indices) = match self {
            Self::Local { r#ref, .. } => (r#ref, None, None),
            Self::Dma { src, dst, indices, .. } => (src, Some(dst), indices.as_deref()),
        };
        let refs = [Some(first), second].into_iter().flatten();
        refs.filter_map(|it| it.name.as_deref()).chain(indices)
    }
}

impl Kernel {
    /// The kernel as a description can say it, and what it leaves out: of a kernel that was
    /// read from its body, accesses of refs that have no name, and what is not understood.
    /// Of one that was described, nothing.
    ///
    /// It checks as the kernel does, but that its places are those of the description, and
    /// that its blocks are checked too.
    pub fn described(mut self) -> (Self, Vec<String>) {
        let mut left_out = Vec::new();
        if let Some(body) = self.from_body.take() {
            left_out.extend(body.not_understood);
            if body.buffers_once {
                left_out.push(
                    "windows are buffered once when memory is short, as bodies so old are"
                        .to_owned(),
                );
            }
            let has_name = |access: &RefAccess| match access {
                RefAccess::Local { r#ref, .. } => r#ref.name.is_some(),
                RefAccess::Dma { src, dst, .. } => src.name.is_some() && dst.name.is_some(),
            };
            let mut places = body.places.into_iter();
            self.accesses.retain(|access| {
                let place = places.next();
                let has_name = has_name(access);
                left_out.extend(place.filter(|_| !has_name).map(|place| place.to_string()));
                has_name
            });
        }
        (self, left_out)
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
