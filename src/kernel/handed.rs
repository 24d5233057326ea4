//! What a lowering pass prints: the function of a kernel's Mosaic module.

use super::description::{Kernel, OnChip};
use super::report::{OperandReport, Report};
use crate::attribute::{CoreTypeAttr, MemorySpaceAttr};
use crate::core_type::CoreType;
use crate::custom_call::{DimensionSemantics, quoted_text};
use crate::dtype::Dtype;
use crate::error::words;
use crate::memory_space::Resolved;
use crate::operand::{BlockDim, Form, Holds, IndexEntry, Operand, Role};
use crate::rules::WindowAttr;
use crate::word::List;
use std::collections::BTreeMap;
use std::fmt;

words! {
    /// What an argument of a kernel is for: arguments stand in this order.
    pub enum ArgumentKind {
        /// The index in an axis of the grid, or of the mesh.
        Grid,
        /// A scalar-prefetch ref.
        Prefetch,
        /// An input or an output.
        Operand,
        /// Scratch.
        Scratch,
    }
    path: "kernel::ArgumentKind",
    all: 4 "All of them, in their order",
    as_str: Operand "operand" "The word",
}

/// An argument of a kernel's function, which prints as `%arg1: memref<…>`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Argument {
    /// Its place among the arguments, which is the number in its value's name.
    pub number: usize,
    /// The ref's name, given or made up; of an index, `grid0` and so on.
    pub name: String,
    /// What it is for.
    pub kind: ArgumentKind,
    /// Mosaic's type. A memref's memory space is always written: the compiler does not
    /// take a missing one for any.
    pub r#type: String,
}

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "%arg{}: {}", self.number, self.r#type)
    }
}

/// The function that says which block a window shows.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Transform {
    /// Its name, without `@`.
    pub name: String,
    /// The function. Where the index map has an [`IndexEntry::Of`] or
    /// [`IndexEntry::Other`], a declaration alone: put a function of its type there.
    pub text: String,
}

/// The function of a kernel's Mosaic module, as JAX 0.12.0.1 lowers it. It prints as
/// `func.func @name(…) attributes {…}`, after which the region stands.
///
/// ```
/// use mosaic_memspace::kernel::Kernel;
/// use mosaic_memspace::operand::{Operand, Scratch, Semaphore};
/// use mosaic_memspace::{CoreType, Dtype};
///
/// let kernel = Kernel::pipelined(CoreType::Tc)
///     .named("wait")
///     .operand(Operand::input("x", [8, 128], Dtype::Float32))
///     .scratch(Scratch::semaphore("done", Semaphore::Dma, []));
/// let resolved = kernel.resolve()?;
/// let function = resolved.function().expect("no mesh of unknown size");
/// assert_eq!(
///     function.to_string(),
///     "func.func @wait(%arg0: memref<8x128xf32, #tpu.memory_space<vmem>>, \
///      %arg1: memref<!tpu.dma_semaphore, #tpu.memory_space<semaphore_mem>>) \
///      attributes {dimension_semantics = [], scalar_prefetch = 0 : i64, \
///      scratch_operands = 1 : i64, tpu.core_type = #tpu.core_type<tc>}"
/// );
/// # Ok::<(), mosaic_memspace::kernel::Diagnostics>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Function {
    /// Its name, the kernel's; `kernel` where that has none.
    pub name: String,
    /// Its arguments, in Mosaic's order. An accumulator is no memref, and none of them.
    pub arguments: Vec<Argument>,
    /// Its attributes, by name: names and values.
    pub attributes: Vec<(&'static str, String)>,
    /// The functions that its windows name.
    pub transforms: Vec<Transform>,
}

impl Function {
    /// A whole module: this function, doing these operations, and its transforms.
    ///
    /// ```
    /// use mosaic_memspace::CoreType;
    /// use mosaic_memspace::kernel::Kernel;
    /// let kernel = Kernel::pipelined(CoreType::Tc);
    /// let function = kernel.resolve()?.function().expect("no mesh of unknown size");
    /// let module = function.module("%c0 = arith.constant 0 : i32");
    /// assert!(module.ends_with("{\n%c0 = arith.constant 0 : i32\nreturn\n}\n}\n"));
    /// # Ok::<(), mosaic_memspace::kernel::Diagnostics>(())
    /// ```
    pub fn module(&self, operations: &str) -> String {
        let mut text = format!("module {{\n{self} {{\n{operations}\nreturn\n}}\n");
        for transform in &self.transforms {
            text.extend([&transform.text, "\n"]);
        }
        text.push_str("}\n");
        text
    }

    /// The function of a kernel in which nothing is refused; `None` for a mesh of which
    /// neither the kernel nor a chip says the extents.
    pub(super) fn of(kernel: &Kernel, report: &Report, core_type: CoreType) -> Option<Self> {
        let taken = kernel.name().is_some_and(|name| name.starts_with("transform_"));
        let mut lowering = Lowering {
            kernel,
            core_type,
            axes: axes(kernel, core_type)?,
            function: Self {
                name: kernel.name.clone().unwrap_or_else(|| "kernel".to_owned()),
                arguments: Vec::new(),
                attributes: Vec::new(),
                transforms: Vec::new(),
            },
            windows: Vec::new(),
            // JAX would have two functions of one name.
            transform: if taken { "index_map" } else { "transform" },
        };
        lowering.arguments(report);
        lowering.attributes();
        Some(lowering.function)
    }
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.');
        let starts =
            self.name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
        if starts && self.name.bytes().all(plain) {
            write!(f, "func.func @{}({}) ", self.name, List(&self.arguments))?;
        } else {
            write!(f, "func.func @{}({}) ", quoted_text(&self.name), List(&self.arguments))?;
        }
        let attributes = self.attributes.iter().map(|(name, value)| format!("{name} = {value}"));
        write!(f, "attributes {{{}}}", List(attributes))
    }
}

/// An axis of the grid or the mesh: its steps, and what they may assume of each other.
type Axis = (Option<u64>, DimensionSemantics);

/// `None` for a mesh of unknown extents.
fn axes(kernel: &Kernel, core_type: CoreType) -> Option<Vec<Axis>> {
    if let Some(mesh) = &kernel.mesh {
        let chip = kernel.chip.as_ref().and_then(OnChip::facts);
        let semantics = DimensionSemantics::of_mesh(core_type).iter().copied();
        let extents = mesh.extents(core_type, chip)?;
        return Some(extents.into_iter().map(Some).zip(semantics).collect());
    }
    let semantics = kernel.params.sound.dimension_semantics.as_deref().unwrap_or_default();
    let semantics =
        semantics.iter().copied().chain(std::iter::repeat(DimensionSemantics::Arbitrary));
    Some(kernel.grid.iter().copied().zip(semantics).collect())
}

struct Lowering<'k> {
    kernel: &'k Kernel,
    core_type: CoreType,
    axes: Vec<Axis>,
    function: Function,
    windows: Vec<String>,
    /// What the transforms are called, without their numbers.
    transform: &'static str,
}

impl Lowering<'_> {
    fn arguments(&mut self, report: &Report) {
        for axis in 0..self.axes.len() {
            self.argument(format!("grid{axis}"), ArgumentKind::Grid, "i32".to_owned());
        }
        let mut refs = report.operands.iter();
        for (prefetch, entry) in self.kernel.scalar_prefetch.iter().zip(&mut refs) {
            let ty = memref(&prefetch.shape, prefetch.dtype.known(), entry.attribute);
            self.argument(entry.name.clone(), ArgumentKind::Prefetch, ty);
        }
        let mut operands: Vec<_> = self.kernel.operands.iter().zip(refs).collect();
        operands.sort_by_key(|(operand, _)| operand.role == Role::Output);
        for (number, (operand, entry)) in operands.into_iter().enumerate() {
            self.operand(number, operand, entry);
        }
        for (scratch, entry) in self.kernel.scratch.iter().zip(&report.scratch) {
            // The body allocates what is scoped, and an accumulator is no memref.
            if scratch.scoped || matches!(entry.resolved, Some(Resolved::Acc(_))) {
                continue;
            }
            let ty = match &scratch.holds {
                Holds::Elements { dtype, .. } => {
                    memref(&scratch.shape, dtype.known(), entry.attribute)
                }
                Holds::Semaphores(kind) => {
                    written(&scratch.shape, kind.as_mosaic(), entry.attribute)
                }
            };
            self.argument(entry.name.clone(), ArgumentKind::Scratch, ty);
        }
    }

    fn argument(&mut self, name: String, kind: ArgumentKind, r#type: String) {
        let number = self.function.arguments.len();
        self.function.arguments.push(Argument { number, name, kind, r#type });
    }

    /// An operand, its window and the window's transform.
    fn operand(&mut self, number: usize, operand: &Operand, entry: &OperandReport) {
        let (Some(space), Some(dtype)) = (entry.resolved, operand.dtype.known()) else { return };
        let placed = operand.in_space(space);
        let (axes, core_type) = (self.axes.len(), self.core_type);
        let shape = if self.kernel.mesh.is_some() {
            self.windows.push(WindowAttr::unpipelined(&placed, axes, core_type).to_string());
            operand.array_shape.clone()
        } else {
            let transform = format!("{}_{number}", self.transform);
            let window = WindowAttr::pipelined(&placed, &transform, core_type);
            self.windows.push(window.to_string());
            if axes > 0 && Form::Pipelined.has_window(space, core_type) {
                self.transform(transform, operand);
            }
            placed.dims().map(BlockDim::extent).collect()
        };
        let ty = memref(&shape, Some(dtype), entry.attribute);
        self.argument(entry.name.clone(), ArgumentKind::Operand, ty);
    }

    fn transform(&mut self, name: String, operand: &Operand) {
        let whole = vec![IndexEntry::Zero; operand.array_shape.len()];
        let entries = operand.index_map.as_ref().unwrap_or(&whole);
        let takes = || {
            let kinds = [ArgumentKind::Grid, ArgumentKind::Prefetch];
            self.function.arguments.iter().filter(move |argument| kinds.contains(&argument.kind))
        };
        let types = List(entries.iter().map(|_| "i32"));
        let gives = if entries.len() == 1 { types.to_string() } else { format!("({types})") };
        let constant = |entry: &IndexEntry| match entry {
            IndexEntry::Constant(value) => Some((*value, format!("%c{value}").replace('-', "_"))),
            IndexEntry::Zero | IndexEntry::Axis(_) | IndexEntry::Of(_) | IndexEntry::Other => None,
        };
        let value = |entry: &IndexEntry| match entry {
            IndexEntry::Zero => Some("%zero".to_owned()),
            IndexEntry::Constant(_) => constant(entry).map(|(_, name)| name),
            IndexEntry::Axis(axis) => Some(format!("%arg{axis}")),
            IndexEntry::Of(_) | IndexEntry::Other => None,
        };
        let values: Option<Vec<_>> = entries.iter().map(value).collect();
        let text = if let Some(values) = values {
            let arguments = List(takes());
            let constants: BTreeMap<_, _> = entries.iter().filter_map(constant).collect();
            let constants = constants
                .iter()
                .map(|(value, name)| format!("{name} = arith.constant {value} : i32\n"));
            let constants: String = constants.collect();
            let values = List(&values);
            format!(
                "func.func @{name}({arguments}) -> {gives} {{\n%zero = arith.constant 0 : i32\n\
                 {constants}return {values} : {types}\n}}"
            )
        } else {
            let arguments = List(takes().map(|argument| &argument.r#type));
            format!("func.func private @{name}({arguments}) -> {gives}")
        };
        self.function.transforms.push(Transform { name, text });
    }

    /// In the order of their names, as MLIR prints them.
    fn attributes(&mut self) {
        let semantics = self.axes.iter().map(|(_, semantics)| semantics);
        let semantics = semantics.map(|semantics| semantics.attribute());
        let scratch = self.function.arguments.iter();
        let scratch = scratch.filter(|argument| argument.kind == ArgumentKind::Scratch).count();
        let prefetch = self.kernel.scalar_prefetch.len();
        let mut attributes = vec![("dimension_semantics", format!("[{}]", List(semantics)))];
        if !self.axes.is_empty() {
            // MLIR's number for what is known at run time only.
            let bound =
                |extent: &Option<u64>| extent.map_or(i64::MIN.to_string(), |it| it.to_string());
            let bounds = List(self.axes.iter().map(|(extent, _)| bound(extent)));
            attributes.push(("iteration_bounds", format!("array<i64: {bounds}>")));
        }
        attributes.push(("scalar_prefetch", format!("{prefetch} : i64")));
        attributes.push(("scratch_operands", format!("{scratch} : i64")));
        attributes.push(("tpu.core_type", CoreTypeAttr::new(self.core_type).to_string()));
        if !self.axes.is_empty() {
            attributes.push(("window_params", format!("[{}]", List(&self.windows))));
        }
        self.function.attributes = attributes;
    }
}

fn memref(shape: &[u64], dtype: Option<&Dtype>, space: Option<MemorySpaceAttr>) -> String {
    written(shape, dtype.map(|dtype| dtype.as_mosaic()).unwrap_or_default(), space)
}

/// The type of a memref; in a kernel in which nothing is refused, it has a space.
fn written(shape: &[u64], element: &str, space: Option<MemorySpaceAttr>) -> String {
    let space = space.map(|space| space.to_string()).unwrap_or_default();
    let mut text = "memref<".to_owned();
    for extent in shape {
        text.push_str(&extent.to_string());
        text.push('x');
    }
    text + element + ", " + &space + ">"
}
