//! Finds the kernels of a module and reads what their attributes say.

use super::index::IndexValue;
use super::kernel::{ArgumentKind, BodyArgument, KernelBody, SaidCoreType, as_count, kinds};
use super::not_understood::{NotUnderstood, Unread};
use super::operations::{Kind, Known, known};
use super::refs::{RefRoot, Refs};
use super::scalars::Scalars;
use super::walk::Walk;
use super::window::{
    BodyWindow, ElementWindow, PipelineMode, RevisitMode, WindowIndex, WindowTransform,
    WrittenIndex,
};
use super::{ModuleBody, NEWEST_VERSION};
use crate::attribute::CoreTypeAttr;
use crate::bytecode::{
    Attribute, AttributeId, BasicBlock, Bytecode, Definition, DenseIntegers, Operation,
    OperationAttributes, Region, Text,
};
use crate::custom_call::{Bound, DimensionSemantics};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// A function is evaluated for each kernel whose window it says; all that together is
/// bounded by so many operations for each that there is.
const WORK: usize = 64;

struct Reader<'m, 'a> {
    file: &'m Bytecode<'a>,
    /// What the operations of each name do.
    names: Vec<Option<Known>>,
    functions: HashMap<Text<'a>, Operation<'m, 'a>>,
    scalars: Scalars<'m, 'a>,
    refs: Refs<'m>,
    /// Operations that may still be evaluated.
    work: usize,
    unread: Unread,
}

/// The index maps of a kernel that were evaluated.
type Transforms<'m> = HashMap<usize, WindowTransform<'m>>;

impl<'m, 'a> ModuleBody<'m, 'a> {
    /// Reads the kernels of a module.
    pub fn read(file: &'m Bytecode<'a>) -> Self {
        let names = file.operation_names().map(|(dialect, name)| known(dialect, name));
        let mut reader = Reader {
            file,
            names: names.collect(),
            functions: HashMap::new(),
            scalars: Scalars::new(file),
            refs: Refs::new(file),
            work: file.operation_count().saturating_mul(WORK),
            unread: Unread::default(),
        };
        let module = file.module();
        let version = reader.integer(module, "stable_mosaic.version");
        if let Some(newer) = version.filter(|version| *version > NEWEST_VERSION) {
            reader.unread.add(NotUnderstood::Version(newer), module.offset());
        }
        let functions = reader.functions();
        let symbols: HashSet<Text<'_>> = file.symbols().collect();
        let mut used = vec![false; file.value_count()];
        for operand in file.operations().flat_map(Operation::operands) {
            if let Some(used) = used.get_mut(operand.index()) {
                *used = true;
            }
        }
        let is_kernel = |function: &&Operation<'m, 'a>| {
            name(**function).is_none_or(|name| !symbols.contains(&name))
        };
        let kernels = functions.iter().filter(is_kernel);
        let kernels = kernels.map(|function| reader.kernel(*function, &used)).collect();
        let name = module.attribute("sym_name").and_then(Attribute::as_string);
        Self { version, name, functions, kernels, not_understood: reader.unread }
    }
}

/// A function's name.
fn name<'a>(function: Operation<'_, 'a>) -> Option<Text<'a>> {
    function.attribute("sym_name").and_then(Attribute::as_string)
}

impl<'m, 'a> Reader<'m, 'a> {
    fn kind(&self, operation: Operation<'m, 'a>) -> Option<Kind> {
        self.names.get(operation.name_index()).copied().flatten().map(|known| known.kind)
    }

    /// The functions of the module, in order.
    fn functions(&mut self) -> Vec<Operation<'m, 'a>> {
        let module = self.file.module();
        let blocks = module.regions().flat_map(Region::blocks);
        let operations = blocks.flat_map(BasicBlock::operations);
        let functions: Vec<_> =
            operations.filter(|operation| self.kind(*operation) == Some(Kind::Function)).collect();
        for function in &functions {
            if let Some(name) = name(*function) {
                self.functions.entry(name).or_insert(*function);
            }
        }
        functions
    }

    fn integer(&mut self, operation: Operation<'m, 'a>, name: &str) -> Option<i64> {
        let attributes = self.attributes(operation)?;
        let attribute = self.get(&attributes, name, operation.offset())?;
        let value = attribute.as_integer();
        if value.is_none() {
            self.other(&attributes, name, operation.offset());
        }
        value
    }

    fn attributes(&mut self, operation: Operation<'m, 'a>) -> Option<OperationAttributes<'m, 'a>> {
        match operation.attributes() {
            Ok(attributes) => {
                if attributes.has_unread_properties() {
                    let what = format!("the properties of {}", operation.name());
                    self.unread.add(NotUnderstood::Entry(what), operation.offset());
                }
                Some(attributes)
            }
            Err(fault) => {
                self.unread.add(NotUnderstood::Entry(fault.to_string()), operation.offset());
                None
            }
        }
    }

    /// The attribute of a name; what cannot be read is noted.
    fn get(
        &mut self,
        attributes: &OperationAttributes<'m, 'a>,
        name: &str,
        offset: usize,
    ) -> Option<&'m Attribute<'a>> {
        self.entry(attributes.get(name)?, offset)
    }

    fn entry(&mut self, id: AttributeId, offset: usize) -> Option<&'m Attribute<'a>> {
        match self.file.attribute(id) {
            Ok(attribute) => Some(attribute),
            Err(fault) => {
                self.unread.add(NotUnderstood::Entry(fault.to_string()), offset);
                None
            }
        }
    }

    /// Notes that an attribute says something that is not understood.
    fn other(&mut self, attributes: &OperationAttributes<'m, 'a>, name: &str, offset: usize) {
        if let Some(id) = attributes.get(name) {
            self.not_known(name, id, offset);
        }
    }

    fn not_known(&mut self, attribute: &str, id: AttributeId, offset: usize) {
        const SHOWN: usize = 200;
        let value = self.file.show_attribute(id).at_most(SHOWN).to_string();
        let attribute = attribute.to_owned();
        self.unread.add(NotUnderstood::Value { attribute, value }, offset);
    }

    /// The integers of a dense array.
    fn integers(
        &mut self,
        attributes: &OperationAttributes<'m, 'a>,
        name: &str,
        offset: usize,
    ) -> Option<DenseIntegers<'a>> {
        let attribute = self.get(attributes, name, offset)?;
        let integers = self.file.dense_integers(attribute);
        if integers.is_none() {
            self.other(attributes, name, offset);
        }
        integers
    }

    fn kernel(&mut self, function: Operation<'m, 'a>, used: &[bool]) -> KernelBody<'m, 'a> {
        let offset = function.offset();
        let attributes = self.attributes(function).unwrap_or_default();
        let bounds = self.integers(&attributes, "iteration_bounds", offset);
        let kernel_name = name(function);
        let scalar_prefetch = self.integer(function, "scalar_prefetch");
        let scratch_operands = self.integer(function, "scratch_operands");
        let mut kernel = KernelBody {
            function,
            name: kernel_name,
            core_type: self.core_type(&attributes, offset),
            iteration_bounds: bounds.map(|bounds| bounds.iter().map(Bound::from_mlir).collect()),
            dimension_semantics: self.semantics(&attributes, offset),
            scalar_prefetch,
            scratch_operands,
            arguments: Vec::new(),
            refs: Vec::new(),
            ref_of_value: HashMap::new(),
            taken: HashMap::new(),
            trips: HashMap::new(),
            allocations: Vec::new(),
            scopes: Vec::new(),
            accesses: Vec::new(),
            copies: Vec::new(),
            semaphore_uses: Vec::new(),
        };
        self.arguments(&mut kernel, &attributes);
        let mut walk = Walk {
            file: self.file,
            names: &self.names,
            used,
            scalars: &mut self.scalars,
            refs: &mut self.refs,
            unread: &mut self.unread,
            kernel: &mut kernel,
        };
        walk.run();
        kernel.refs = self.refs.take();
        kernel.ref_of_value = self.refs.take_values();
        kernel
    }

    fn core_type(
        &mut self,
        attributes: &OperationAttributes<'m, 'a>,
        offset: usize,
    ) -> SaidCoreType {
        const NAME: &str = "tpu.core_type";
        let Some(id) = attributes.get(NAME) else { return SaidCoreType::Absent };
        let text = self.entry(id, offset).and_then(Attribute::as_text).and_then(Text::as_str);
        if let Some(attribute) = text.and_then(|text| text.parse::<CoreTypeAttr>().ok()) {
            return SaidCoreType::Known(attribute.core_type());
        }
        self.not_known(NAME, id, offset);
        SaidCoreType::Other
    }

    fn semantics(
        &mut self,
        attributes: &OperationAttributes<'m, 'a>,
        offset: usize,
    ) -> Option<Vec<Option<DimensionSemantics>>> {
        const NAME: &str = "dimension_semantics";
        let attribute = self.get(attributes, NAME, offset)?;
        let Some(axes) = attribute.as_array() else {
            self.other(attributes, NAME, offset);
            return None;
        };
        let one = |id: &AttributeId| {
            let text = self.entry(*id, offset).and_then(Attribute::as_text).and_then(Text::as_str);
            let word = text
                .and_then(|text| text.strip_prefix("#tpu.dimension_semantics<"))
                .and_then(|text| text.strip_suffix('>'));
            let semantics = word.and_then(|word| word.trim().parse().ok());
            if semantics.is_none() {
                self.not_known(NAME, *id, offset);
            }
            semantics
        };
        Some(axes.iter().map(one).collect())
    }

    fn arguments(
        &mut self,
        kernel: &mut KernelBody<'m, 'a>,
        attributes: &OperationAttributes<'m, 'a>,
    ) {
        let function = kernel.function;
        let offset = function.offset();
        let block = function.regions().next().and_then(|region| region.blocks().next());
        let values = block.map(BasicBlock::arguments).into_iter().flatten();
        let values: Vec<_> = values.collect();
        let axes = kernel.axes();
        let prefetch =
            as_count(kernel.scalar_prefetch, &mut self.unread, "scalar_prefetch", offset);
        let scratch =
            as_count(kernel.scratch_operands, &mut self.unread, "scratch_operands", offset);
        let said = axes.saturating_add(prefetch).saturating_add(scratch);
        if values.len() < said {
            let name = kernel.name.map_or_else(String::new, |name| name.to_string());
            self.unread.add(NotUnderstood::Arguments(name), offset);
        }
        let windows = self.get(attributes, "window_params", offset);
        let windows = windows.and_then(|windows| {
            let windows = windows.as_array();
            if windows.is_none() {
                self.other(attributes, "window_params", offset);
            }
            windows
        });
        let own = self.get(attributes, "arg_attrs", offset).and_then(Attribute::as_array);
        let mut windows = windows.map(<[AttributeId]>::iter);
        let mut transforms = Transforms::new();
        let all = kinds(values.len(), axes, prefetch, scratch);
        for (place, (value, kind)) in values.into_iter().zip(all).enumerate() {
            let index = match kind {
                ArgumentKind::Grid if kernel.is_long(place) => IndexValue::axis(place),
                // There is no other step than the first.
                ArgumentKind::Grid => IndexValue::constant(0),
                ArgumentKind::Prefetch | ArgumentKind::Operand | ArgumentKind::Scratch => {
                    IndexValue::UNKNOWN
                }
            };
            self.scalars.set(value, index);
            let r#ref = self.refs.add(self.file, value, RefRoot::Argument(place), None);
            let window = match (kind, &mut windows) {
                (ArgumentKind::Operand, Some(windows)) => windows
                    .next()
                    .and_then(|window| self.window(*window, kernel, offset, &mut transforms)),
                _ => None,
            };
            let own = own.and_then(|own| own.get(place)).copied();
            let own =
                own.and_then(|own| self.entry(own, offset)).and_then(Attribute::as_dictionary);
            let is_persistent = own.is_some_and(|own| own.get("sc.persistent").is_some());
            kernel.arguments.push(BodyArgument { value, kind, r#ref, window, is_persistent });
        }
    }

    fn window(
        &mut self,
        id: AttributeId,
        kernel: &KernelBody<'m, 'a>,
        offset: usize,
        transforms: &mut Transforms<'m>,
    ) -> Option<BodyWindow<'m, 'a>> {
        let Some(dictionary) = self.entry(id, offset)?.as_dictionary() else {
            self.not_known("window_params", id, offset);
            return None;
        };
        let mut window = BodyWindow {
            keys: dictionary.iter().map(|(key, _)| key).collect(),
            bounds: None,
            transform: None,
            pipeline_mode: None,
            revisit_mode: None,
            kind: None,
        };
        for (key, id) in dictionary.iter() {
            let Some(attribute) = self.entry(id, offset) else { continue };
            let text = attribute.as_text();
            let understood = match key.as_str().unwrap_or_default() {
                "window_bounds" => {
                    window.bounds = self.file.dense_integers(attribute);
                    window.bounds.is_some()
                }
                "transform_indices" => {
                    window.transform = self.transform(attribute, kernel, offset, transforms);
                    window.transform.is_some()
                        || attribute.as_symbol().is_some()
                        || attribute.as_affine_map().is_some()
                }
                "pipeline_mode" => {
                    window.pipeline_mode = text.and_then(PipelineMode::read);
                    window.pipeline_mode.is_some()
                }
                "revisit_mode" => {
                    window.revisit_mode = text.and_then(RevisitMode::read);
                    window.revisit_mode.is_some()
                }
                "window_kind" => {
                    window.kind = text.and_then(ElementWindow::read);
                    window.kind.is_some()
                }
                _ => {
                    self.unread.add(NotUnderstood::WindowKey(key.to_string()), offset);
                    true
                }
            };
            if !understood {
                self.not_known(&key.to_string(), id, offset);
            }
        }
        Some(window)
    }

    fn transform(
        &mut self,
        attribute: &'m Attribute<'a>,
        kernel: &KernelBody<'m, 'a>,
        offset: usize,
        transforms: &mut Transforms<'m>,
    ) -> Option<WindowTransform<'m>> {
        if let Some(map) = attribute.as_affine_map() {
            return Some(WindowTransform::of_map(map));
        }
        let name = attribute.as_symbol()?;
        let Some(function) = self.functions.get(&name).copied() else {
            self.unread.add(NotUnderstood::IndexMap(name.to_string()), offset);
            return None;
        };
        if let Some(transform) = transforms.get(&function.index()) {
            return Some(transform.clone());
        }
        let transform = self.evaluate(function, kernel.axes(), name)?;
        transforms.insert(function.index(), transform.clone());
        Some(transform)
    }

    /// What an index map returns.
    fn evaluate(
        &mut self,
        function: Operation<'m, 'a>,
        axes: usize,
        name: Text<'a>,
    ) -> Option<WindowTransform<'m>> {
        let operations = function.end().saturating_sub(function.index());
        let Some(work) = self.work.checked_sub(operations) else {
            self.unread.add(NotUnderstood::TooMuchWork(name.to_string()), function.offset());
            return None;
        };
        self.work = work;
        let block = function.regions().next().and_then(|region| region.blocks().next())?;
        for (place, argument) in block.arguments().enumerate() {
            let index = if place < axes { IndexValue::axis(place) } else { IndexValue::UNKNOWN };
            self.scalars.set(argument, index);
        }
        let mut returned = None;
        for operation in function.descendants() {
            let known = self.names.get(operation.name_index()).copied().flatten();
            match known.map(|known| known.kind) {
                Some(Kind::For | Kind::While) => self.scalars.forget_loop(operation),
                Some(Kind::Return) => returned = Some(operation),
                _ => self.scalars.visit(operation, known),
            }
        }
        let Some(returned) = returned else {
            self.unread.add(NotUnderstood::IndexMap(name.to_string()), function.offset());
            return None;
        };
        let index = |value: crate::bytecode::Value<'m, 'a>| {
            let folded = self.scalars.get(value);
            let written = match value.definition() {
                Definition::Argument(of, place) if of.is(block) && (place as usize) < axes => {
                    WrittenIndex::Axis(place as usize)
                }
                Definition::Argument(..) => WrittenIndex::Computed,
                Definition::Result(made, _) => {
                    let constant = match self.kind(made) {
                        Some(Kind::Scalar(super::operations::Scalar::Constant)) => {
                            made.attribute("value").and_then(Attribute::as_integer)
                        }
                        _ => None,
                    };
                    constant.map_or(WrittenIndex::Computed, WrittenIndex::Constant)
                }
            };
            WindowIndex { written, folded }
        };
        let indices: Rc<[_]> = returned.operands().map(index).collect();
        Some(WindowTransform::of_function(indices))
    }
}
