//! A kernel from its body: what the module says, and what the call adds.

use super::module::{
    AllocationKind, ArgumentKind, BodyAllocation, BodyArgument, BodyRef, BodyRefId, BodyWindow,
    DebugLocations, KeptScratch, KernelBody, Knowledge, ModuleBody, RefElement, RefRoot,
    WrittenIndex,
};
use crate::bytecode::{FileRange, Operation, Type};
use crate::chip::Chip;
use crate::core_type::CoreType;
use crate::custom_call::{
    Alias, Bound, CompilerParams, DimensionSemantics, DumpedType, ParamFault,
};
use crate::dtype::Dtype;
use crate::fit::Layout;
use crate::kernel::{AccessedRef, FromBody, Kernel, Place, RefAccess};
use crate::memory_space::{MemorySpace, MemrefSpace, TpuSpace};
use crate::operand::{BlockDim, Holds, IndexEntry, Operand, Prefetch, Scratch, Semaphore};
use crate::rules::{Access, AccessOp, AccessShape, Dma, DmaMode};
use std::collections::{HashMap, HashSet};

/// What a custom call says of its kernel besides the body.
#[derive(Clone, Debug, Default)]
pub struct BodyCall {
    /// The types of its operands, in order: dynamic bounds of the grid, scalar prefetch,
    /// inputs; `None` where a type is not told.
    pub operands: Vec<Option<DumpedType>>,
    /// The types of its results, which are the kernel's outputs.
    pub results: Vec<Option<DumpedType>>,
    /// The limit on VMEM in bytes, and how a SparseCore's refs are tiled.
    pub params: CompilerParams,
    /// Of operands, by their number among the call's, where XLA has them placed.
    pub input_spaces: Vec<(usize, MemorySpace)>,
    /// Of results, by their number, where XLA has them placed.
    pub output_spaces: Vec<(usize, MemorySpace)>,
    /// Parameters that no kernel can have.
    pub faults: Vec<ParamFault>,
    /// Operands and results that share a buffer, by their numbers in the call.
    pub aliases: Vec<Alias>,
    /// Whether the kernel talks to other devices.
    pub has_communication: bool,
    /// Bytes of VMEM that the compiler took, of a call that has been compiled.
    pub used_vmem_bytes: Option<u64>,
}

/// Windows of a body of this version of `stable_mosaic`, or an older one, are buffered
/// once when memory does not suffice for two.
const BUFFERS_ONCE: i64 = 8;

/// The kernel that a body is, to be checked as a described one is. Its blocks and index
/// maps were checked when the body was made; what it takes of memory, where its refs lie,
/// and what it does with them is checked from what the body says.
///
/// `call` adds what only the call says; without one every operand is an input whose array
/// is as large as its block.
pub fn body_kernel<'m, 'a>(
    module: &ModuleBody<'m, 'a>,
    body: &KernelBody<'m, 'a>,
    locations: Option<&DebugLocations<'_, '_>>,
    call: Option<&BodyCall>,
) -> Kernel {
    let none = BodyCall::default();
    let mut reader = Reader {
        body,
        locations,
        call: call.unwrap_or(&none),
        names: HashSet::new(),
        name_of: HashMap::new(),
    };
    let core_type = body.core_type.core_type().unwrap_or(CoreType::Tc);
    let mut kernel = Kernel::pipelined(core_type);
    kernel.name = body.name.map(|name| name.to_string());
    kernel.grid = reader.grid();
    kernel.params =
        CompilerParams { dimension_semantics: reader.semantics(), ..reader.call.params.clone() }
            .into();
    kernel.params.faults.clone_from(&reader.call.faults);
    // An id is given to a kernel that uses the barrier, and to no other.
    kernel.custom_barrier = reader.call.params.collective_id.is_some();
    kernel.has_communication = reader.call.has_communication;
    let mut from = FromBody {
        buffers_once: module.version.is_some_and(|version| version <= BUFFERS_ONCE),
        used_vmem_bytes: reader.call.used_vmem_bytes,
        not_understood: module.not_understood.iter().map(|(what, ..)| what.to_string()).collect(),
        ..FromBody::default()
    };
    kernel.spaces_as_written = false;
    reader.arguments(&mut kernel, call.is_some());
    reader.aliases(&mut kernel);
    reader.allocations(&mut kernel);
    reader.uses(&mut kernel, &mut from);
    kernel.from_body = Some(from);
    kernel
}

struct Reader<'r, 'm, 'a, 'l, 'b> {
    body: &'r KernelBody<'m, 'a>,
    locations: Option<&'r DebugLocations<'l, 'b>>,
    call: &'r BodyCall,
    /// The names that are taken.
    names: HashSet<String>,
    /// The names of the refs that the kernel lists.
    name_of: HashMap<RefRoot, String>,
}

impl<'m, 'a> Reader<'_, 'm, 'a, '_, '_> {
    fn grid(&self) -> Vec<Option<u64>> {
        let bounds = self.body.iteration_bounds.as_deref().unwrap_or_default();
        let steps = |bound: &Bound| match bound {
            Bound::Static(steps) => Some(u64::try_from(*steps).unwrap_or(0)),
            Bound::Dynamic => None,
        };
        bounds.iter().map(steps).collect()
    }

    /// As far as all of them are known.
    fn semantics(&self) -> Option<Vec<DimensionSemantics>> {
        let semantics = self.body.dimension_semantics.as_deref()?;
        let known: Option<Vec<_>> = semantics.iter().copied().collect();
        known.filter(|known| !known.is_empty() && known.len() == self.body.axes())
    }

    /// Fills in the arguments, in order.
    fn arguments(&mut self, kernel: &mut Kernel, is_called: bool) {
        let kept = self.body.kept_scratch();
        let used = self.used();
        let bounds = self.body.iteration_bounds.iter().flatten();
        let dynamic = bounds.filter(|bound| **bound == Bound::Dynamic).count();
        let of_kind = |kind| self.body.arguments.iter().filter(move |own| own.kind == kind).count();
        let before = dynamic.saturating_add(of_kind(ArgumentKind::Prefetch));
        let outputs = self.call.results.len();
        let inputs = of_kind(ArgumentKind::Operand).saturating_sub(outputs);
        let mut operand = 0_usize;
        for (number_of, argument) in self.body.arguments.iter().enumerate() {
            let Some(of) = argument.r#ref.and_then(|id| self.body.get(id)) else { continue };
            let is_used = used.contains(&RefRoot::Argument(number_of));
            match argument.kind {
                ArgumentKind::Grid => {}
                ArgumentKind::Prefetch => {
                    let name = self.name(argument);
                    let shape = extents(of);
                    let one = Prefetch::new("", shape, dtype(of));
                    self.name_of.insert(RefRoot::Argument(number_of), name.clone());
                    kernel.scalar_prefetch.push(Prefetch { name: Some(name), ..one });
                }
                ArgumentKind::Operand => {
                    let name = self.name(argument);
                    let number = before.saturating_add(operand);
                    let output = operand.checked_sub(inputs).filter(|_| is_called);
                    let (array, space) = match output {
                        None => (self.call.operands.get(number), self.placed_input(number)),
                        Some(output) => (self.call.results.get(output), self.placed_output(output)),
                    };
                    let array = array.and_then(Option::as_ref);
                    let mut one = self.operand(argument, of, array, output.is_some());
                    one.annotated = space.map(Into::into);
                    one.name = Some(name.clone());
                    one.semaphore = semaphore(of);
                    kernel.operands.push(one);
                    self.name_of.insert(RefRoot::Argument(number_of), name);
                    operand = operand.saturating_add(1);
                }
                ArgumentKind::Scratch => {
                    let name = self.name(argument);
                    let root = RefRoot::Argument(number_of);
                    self.name_of.insert(root, name.clone());
                    let kept = self.keeps(&kept, root, is_used);
                    kernel.scratch.push(Scratch { kept, ..scratch(name, of) });
                }
            }
        }
    }

    /// The call's, whose numbers count dynamic bounds of the grid; of arrays whose types
    /// are told.
    fn aliases(&self, kernel: &mut Kernel) {
        let dynamic = kernel.grid.iter().filter(|extent| extent.is_none()).count();
        let told = |of: Option<&Option<DumpedType>>| of.is_some_and(Option::is_some);
        for Alias { input, output } in &self.call.aliases {
            let arrays = [self.call.operands.get(*input), self.call.results.get(*output)];
            if let (Some(input), true) = (input.checked_sub(dynamic), arrays.into_iter().all(told))
            {
                let number = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
                kernel.aliases.push((number(input), number(*output)));
            }
        }
    }

    /// A TensorCore's scratch is taken away where it is only in registers, a SparseCore's
    /// where nothing uses it.
    fn keeps(&self, kept: &KeptScratch, root: RefRoot, is_used: bool) -> bool {
        match self.body.core_type.core_type() {
            Some(CoreType::Tc) => kept.keeps(root),
            Some(CoreType::ScScalarSubcore | CoreType::ScVectorSubcore) | None => is_used,
        }
    }

    fn placed_input(&self, number: usize) -> Option<MemorySpace> {
        let mut placed = self.call.input_spaces.iter();
        placed.find(|(input, _)| *input == number).map(|(_, space)| *space)
    }

    fn placed_output(&self, number: usize) -> Option<MemorySpace> {
        let mut placed = self.call.output_spaces.iter();
        placed.find(|(output, _)| *output == number).map(|(_, space)| *space)
    }

    /// The name that the author gave, if it is told, with a number where two are alike.
    fn name(&mut self, argument: &BodyArgument<'m, 'a>) -> String {
        let given = self.locations.and_then(|locations| locations.argument(argument.value));
        let given = given.map(|name| name.to_string());
        let given = given.or_else(|| ModuleBody::name_of(argument.value).map(|it| it.to_string()));
        self.unique(given.unwrap_or_else(|| argument.kind.as_str().to_owned()))
    }

    fn unique(&mut self, name: String) -> String {
        if self.names.insert(name.clone()) {
            return name;
        }
        let mut number = self.names.len();
        loop {
            let numbered = format!("{name}#{number}");
            if self.names.insert(numbered.clone()) {
                return numbered;
            }
            number = number.saturating_add(1);
        }
    }

    fn operand(
        &self,
        argument: &BodyArgument<'m, 'a>,
        of: &BodyRef<'m>,
        array: Option<&DumpedType>,
        is_output: bool,
    ) -> Operand {
        let window = argument.window.as_ref();
        let bounds = window.and_then(|window| window.bounds).map(|bounds| bounds.iter());
        let bounds: Option<Vec<u64>> =
            bounds.map(|bounds| bounds.map(|it| u64::try_from(it).unwrap_or(0)).collect());
        let rank = bounds.as_ref().map_or(of.shape.len(), Vec::len);
        let shape = array.map(|array| array.shape.clone()).filter(|shape| shape.len() == rank);
        let shape = shape.unwrap_or_else(|| bounds.clone().unwrap_or_else(|| extents(of)));
        let dtype = array.and_then(|array| array.dtype).filter(|own| same_bits(*own, dtype(of)));
        let dtype = dtype.unwrap_or_else(|| self::dtype(of));
        let new = if is_output { Operand::output } else { Operand::input };
        let mut operand = new("", shape, dtype);
        operand.space = of.space.known().map(|space| space.written().into());
        if let (Some(window), Some(bounds)) = (window, bounds) {
            let is_element = window.kind.is_some();
            let dim = |extent| {
                if is_element { BlockDim::Element(extent) } else { BlockDim::Blocked(extent) }
            };
            operand.block_shape = Some(bounds.into_iter().map(dim).collect());
            operand.buffers = window.pipeline_mode.map(|mode| i64::from(mode.buffers()));
            operand.index_map = self.index_map(window, rank);
        }
        operand
    }

    /// As the compiler sees it: what is constant to it is 0 here, as the block does not
    /// move.
    fn index_map(&self, window: &BodyWindow<'m, 'a>, rank: usize) -> Option<Vec<IndexEntry>> {
        let transform = window.transform.as_ref()?;
        let count = self.body.axes();
        let entry = |dimension| match transform.index(dimension) {
            None => IndexEntry::Other,
            Some(index) => match index.written {
                WrittenIndex::Axis(axis) => IndexEntry::Axis(axis),
                WrittenIndex::Constant(0) => IndexEntry::Zero,
                WrittenIndex::Constant(value) => IndexEntry::Constant(value),
                WrittenIndex::Computed => match index.folded.knowledge() {
                    Knowledge::Constant(0) => IndexEntry::Zero,
                    Knowledge::Constant(value) => IndexEntry::Constant(value),
                    Knowledge::Multiple(_) | Knowledge::Unknown
                        if index.folded.reads_memory() || index.folded.is_opaque() =>
                    {
                        if index.moves(|axis| self.body.is_long(axis), count) {
                            IndexEntry::Other
                        } else {
                            IndexEntry::Zero
                        }
                    }
                    Knowledge::Multiple(_) | Knowledge::Unknown => {
                        let axes = (0..count).filter(|axis| index.folded.reads_axis(*axis));
                        IndexEntry::Of(axes.collect())
                    }
                },
            },
        };
        Some((0..rank).map(entry).collect())
    }

    /// The body's allocations: kept are those that live at a time when they take the most.
    fn allocations(&mut self, kernel: &mut Kernel) {
        let kept = self.body.kept_scratch();
        let used = self.used();
        let all = self.body.allocations.iter().enumerate();
        let memory = all.filter_map(|(number, allocation)| {
            let root = RefRoot::Allocation(number);
            let of = self.body.get(allocation.r#ref)?;
            let is_memory = allocation.kind == AllocationKind::Memory;
            let is_kept = self.keeps(&kept, root, used.contains(&root));
            is_memory.then_some((root, allocation, of, is_kept))
        });
        let memory: Vec<_> = memory.collect();
        let counted = memory.iter().filter(|(.., is_kept)| *is_kept);
        let counted: Vec<_> = counted.map(|(_, allocation, of, _)| (*allocation, *of)).collect();
        let at_peak = self.at_peak(&counted);
        for (root, allocation, of, is_kept) in memory {
            let name = self.unique("scoped".to_owned());
            self.name_of.insert(root, name.clone());
            let is_at_peak = at_peak.get(allocation.scope).copied().unwrap_or(false);
            let kept = is_kept && is_at_peak;
            kernel.scratch.push(Scratch { kept, ..scratch(name, of).in_scope() });
        }
    }

    /// The scopes that are open where allocations take the most: of those within a scope,
    /// one.
    fn at_peak(&self, counted: &[(&BodyAllocation<'m, 'a>, &BodyRef<'m>)]) -> Vec<bool> {
        let scopes = &self.body.scopes;
        let mut own = vec![0_u64; scopes.len()];
        for (allocation, of) in counted {
            if let Some(bytes) = own.get_mut(allocation.scope) {
                *bytes = bytes.saturating_add(padded(of));
            }
        }
        // A scope stands before those within: the most of each is told from the last.
        let mut within: Vec<(u64, Option<usize>)> = vec![(0, None); scopes.len()];
        for (number, scope) in scopes.iter().enumerate().rev() {
            let below = within.get(number).map_or(0, |(bytes, _)| *bytes);
            let bytes = own.get(number).copied().unwrap_or(0).saturating_add(below);
            if let Some(most) = scope.parent.and_then(|parent| within.get_mut(parent))
                && (most.1.is_none() || bytes > most.0)
            {
                *most = (bytes, Some(number));
            }
        }
        let mut open = vec![false; scopes.len()];
        let mut next = Some(0_usize);
        while let Some(number) = next {
            if let Some(open) = open.get_mut(number) {
                *open = true;
            }
            next = within.get(number).and_then(|(_, next)| *next);
        }
        open
    }

    /// What is loaded, stored or copied.
    fn used(&self) -> HashSet<RefRoot> {
        let root = |id: BodyRefId| self.body.get(id).map(|of| of.root);
        let accesses = self.body.accesses.iter().filter(|it| !it.is_dead).map(|it| it.r#ref);
        let copies = self.body.copies.iter().filter(|it| !it.is_dead);
        let ends = copies.flat_map(|copy| [copy.source, copy.target]);
        let offsets = self.body.copies.iter().filter_map(|copy| copy.indirect.as_ref()).filter_map(
            |indirect| match indirect.offsets {
                super::module::CopyOffsets::Ref(id) => Some(id),
                super::module::CopyOffsets::Vector(_) => None,
            },
        );
        accesses.chain(ends).chain(offsets).filter_map(root).collect()
    }

    /// Loads, stores and copies; each kind of each ref once, where it stands first.
    fn uses(&self, kernel: &mut Kernel, from: &mut FromBody) {
        let mut seen = HashSet::new();
        for access in self.body.accesses.iter().filter(|access| !access.is_dead) {
            let r#ref = self.accessed(access.r#ref);
            let file = self.body.function.file();
            let is_vector = matches!(file.r#type(access.value_type), Ok(Type::Vector { .. }));
            let shape = if is_vector { AccessShape::Vector } else { AccessShape::Scalar };
            let ops = [(access.loads, AccessOp::Load), (access.stores, AccessOp::Store)];
            for (_, op) in ops.into_iter().filter(|(does, _)| *does) {
                let space = self.body.get(access.r#ref).map(|of| of.space);
                let used = (r#ref.name.as_deref().map(str::to_owned), space, op, shape);
                if seen.insert(used) {
                    let access_of = Access { op, shape };
                    kernel
                        .accesses
                        .push(RefAccess::Local { access: access_of, r#ref: r#ref.clone() });
                    from.places.push(self.place(access.name, access.operation));
                }
            }
        }
        let mut seen = HashSet::new();
        for copy in self.body.copies.iter().filter(|copy| !copy.is_dead) {
            let is_local = copy.device.is_none() && copy.core.is_none() && copy.subcore.is_none();
            let dma = match copy.indirect {
                None => Dma::COPY,
                Some(indirect) => {
                    let mode = if indirect.gathers { DmaMode::Gather } else { DmaMode::Scatter };
                    Dma { mode, add: indirect.adds }
                }
            };
            let [mut src, mut dst] = [copy.source, copy.target].map(|id| self.accessed(id));
            src.is_remote |= !is_local;
            dst.is_remote |= !is_local;
            let spaces = [copy.source, copy.target].map(|id| self.body.get(id).map(|of| of.space));
            if seen.insert((dma, src.name.clone(), dst.name.clone(), spaces, is_local)) {
                let place = self.place(copy.name, copy.operation);
                kernel.accesses.push(RefAccess::Dma { dma, src, dst, indices: None });
                from.places.push(place.clone());
                if let Some(super::module::CopyOffsets::Ref(id)) =
                    copy.indirect.map(|indirect| indirect.offsets)
                {
                    // Which rows it picks is read as a vector is.
                    let access = Access { op: AccessOp::Load, shape: AccessShape::Vector };
                    kernel.accesses.push(RefAccess::Local { access, r#ref: self.accessed(id) });
                    from.places.push(place);
                }
            }
        }
    }

    /// A ref as the kernel lists it, and the space of the view that is accessed.
    fn accessed(&self, id: BodyRefId) -> AccessedRef {
        let mut accessed = AccessedRef::default();
        let Some(of) = self.body.get(id) else { return accessed };
        accessed.name = self.name_of.get(&of.root).cloned();
        match of.space.known() {
            // Another core's, and the host's: who owns it says what reaches it.
            Some(MemrefSpace::Core(_) | MemrefSpace::Host) | None => accessed.is_remote = true,
            Some(space @ (MemrefSpace::Any | MemrefSpace::Tpu(_))) => {
                let own = self.space_of_root(of.root);
                if own != Some(space) || accessed.name.is_none() {
                    accessed.space = Some(space.written().into());
                }
            }
        }
        accessed
    }

    /// Where the ref that others are views of lies.
    fn space_of_root(&self, root: RefRoot) -> Option<MemrefSpace> {
        let id = match root {
            RefRoot::Argument(number) => self.body.arguments.get(number)?.r#ref?,
            RefRoot::Allocation(number) => self.body.allocations.get(number)?.r#ref,
            RefRoot::Unknown => return None,
        };
        self.body.get(id)?.space.known()
    }

    /// The operation, and where its author wrote it.
    fn place(&self, name: &str, operation: Operation<'m, 'a>) -> Place {
        let place = Place::list("body").key(name);
        let told = self.locations.and_then(|locations| locations.operation(operation));
        match told {
            Some(range) => place.key(&shown(&range)),
            None => match ModuleBody::place_of(operation) {
                Some(range) => place.key(&shown(&range)),
                None => place,
            },
        }
    }
}

/// The file, the line, and the column where it is told.
fn shown(range: &FileRange<'_>) -> String {
    match (range.line, range.column) {
        (Some(line), Some(column)) => format!("{}:{line}:{column}", range.file),
        (Some(line), None) => format!("{}:{line}", range.file),
        (None, _) => range.file.to_string(),
    }
}

fn extents(of: &BodyRef<'_>) -> Vec<u64> {
    of.shape.iter().map(|extent| u64::try_from(*extent).unwrap_or(0)).collect()
}

/// What a ref holds; of what is no number known here, the least that an element takes.
fn dtype(of: &BodyRef<'_>) -> Dtype {
    match of.element {
        RefElement::Numbers(Dtype::Int1) => Dtype::Bool,
        RefElement::Numbers(dtype) => dtype,
        RefElement::Semaphores | RefElement::DmaSemaphores => Dtype::Int32,
        RefElement::Other => Dtype::Int8,
    }
}

/// Whether a call's element type is what a body's, which has no signs and no booleans,
/// stands for.
fn same_bits(call: Dtype, body: Dtype) -> bool {
    call.memref_bits() == body.memref_bits()
}

const fn semaphore(of: &BodyRef<'_>) -> Option<Semaphore> {
    match of.element {
        RefElement::Semaphores => Some(Semaphore::Regular),
        RefElement::DmaSemaphores => Some(Semaphore::Dma),
        RefElement::Numbers(_) | RefElement::Other => None,
    }
}

fn scratch(name: String, of: &BodyRef<'_>) -> Scratch {
    let holds = match semaphore(of) {
        Some(kind) => Holds::Semaphores(kind),
        None => Holds::Elements {
            dtype: dtype(of).into(),
            space: of.space.known().map(|space| space.written().into()),
        },
    };
    Scratch { name: Some(name), shape: extents(of), holds, scoped: false, kept: true }
}

/// Bytes of VMEM, to compare scopes by: chips whose compiler is known pad alike.
fn padded(of: &BodyRef<'_>) -> u64 {
    let is_vmem = matches!(of.space.known(), Some(MemrefSpace::Tpu(TpuSpace::Vmem)));
    let layout = Layout::of_scratch(Chip::V5e.facts(), dtype(of));
    let bytes = layout.and_then(|layout| layout.bytes(&extents(of)));
    bytes.ok().filter(|_| is_vmem).unwrap_or(0)
}
