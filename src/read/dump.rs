//! The kernels of a dump: StableHLO as JAX prints it, HLO as XLA does.

use super::body::{BodyCall, BodyTensor, body_kernel};
use super::module::{DebugLocations, ModuleBody, is_text};
use crate::bytecode::{Bytecode, BytecodeFault};
use crate::custom_call::{
    BackendConfig, Body, Color, ColorNumber, CompilerParams, Dump, DumpFault, DumpedCall,
    InvalidBase64, InvalidConfig, Open, Tiling, VmemLimitBytes,
};
use crate::dtype::Dtype;
use crate::error::faults;
use crate::kernel::Kernel;
use std::io::BufRead;

/// A kernel of a dump.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DumpKernel {
    /// The line of its call, the first being 1.
    pub line: u64,
    /// The kernel, as far as its body and its call say it.
    pub kernel: Kernel,
    /// What in its body is not understood, by name.
    pub not_understood: Vec<String>,
}

/// The kernels of the calls of a dump, in order; of a body written for several meshes,
/// each.
///
/// ```
/// use mosaic_memspace::read::DumpKernels;
///
/// let text = r#"%0 = stablehlo.custom_call @tpu_custom_call(%a) {backend_config = "{\22custom_call_config\22: {\22body\22: \22bW9kdWxlIHt9\22}}"} : (tensor<4xf32>) -> tensor<4xf32>"#;
/// let mut kernels = DumpKernels::new(text.as_bytes());
/// let (line, fault) = kernels.next_call()?.and_then(Result::err).ok_or("no call")?;
/// assert_eq!(line, 1);
/// assert_eq!(fault.to_string(), "the body is Mosaic in text, which is not read");
/// assert!(kernels.next_call()?.is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct DumpKernels<R>(Dump<R>);

/// The kernels of a call, or its line and why it has none.
type OfCall = Result<Vec<DumpKernel>, (u64, DumpKernelFault)>;

impl<R: BufRead> DumpKernels<R> {
    /// The kernels of the text of a module, to be read from `reader`.
    pub const fn new(reader: R) -> Self {
        Self(Dump::new(reader))
    }

    /// The kernels of the next call; `None` after the last.
    ///
    /// # Errors
    /// [`DumpFault`]: those of the reader, and a line too long to be held.
    pub fn next_call(&mut self) -> Result<Option<OfCall>, DumpFault> {
        let Some(call) = self.0.next_call()? else { return Ok(None) };
        let line = call.line;
        let read = read_call(&call).map_err(|fault| (line, fault));
        Ok(Some(read.map(|mut kernels| {
            for kernel in &mut kernels {
                kernel.line = line;
            }
            kernels
        })))
    }
}

impl DumpKernel {
    /// The kernels of a bare module, as a lowering pass has it in hand.
    ///
    /// # Errors
    /// [`DumpKernelFault`]: it is text, or bytes that are no bytecode, or has no kernel.
    pub fn of_module(bytes: &[u8]) -> Result<Vec<Self>, DumpKernelFault> {
        read_body(bytes, None, None, None)
    }
}

faults! {
    /// Why a call has no kernel that can be checked.
    pub enum DumpKernelFault {
        /// Its config cannot be read.
        Config[config: InvalidConfig];
        /// Its body is no base64.
        Base64[base64: InvalidBase64];
        /// Its body is no bytecode.
        Bytecode[bytecode: BytecodeFault];
        /// Its body is in text.
        Text => InvalidBytecode ("the body is Mosaic in text, which is not read")
            help "compile the module to bytecode, or describe the kernel in JSON";
        /// Its body has no function that is a kernel.
        NoKernel => InvalidBytecode ("the module has no kernel: no function that no attribute names");
    }
}

fn read_call(call: &DumpedCall<'_>) -> Result<Vec<DumpKernel>, DumpKernelFault> {
    let config = call.config()?;
    let body = config.body.decode()?;
    let locations = config.debug_locations.as_ref().map(Body::decode).transpose().ok().flatten();
    let said = said(call, &config);
    let name = call.kernel_name.as_deref();
    read_body(&body, locations.as_deref(), Some(&said), name)
}

fn read_body(
    bytes: &[u8],
    locations: Option<&[u8]>,
    call: Option<&BodyCall>,
    name: Option<&str>,
) -> Result<Vec<DumpKernel>, DumpKernelFault> {
    if is_text(bytes) {
        return Err(DumpKernelFault::Text);
    }
    let file = Bytecode::parse(bytes)?;
    let module = ModuleBody::read(&file);
    let of_locations = locations.and_then(|bytes| Bytecode::parse(bytes).ok());
    let locations =
        of_locations.as_ref().and_then(|locations| DebugLocations::read(locations, &file).ok());
    if module.kernels.is_empty() {
        return Err(DumpKernelFault::NoKernel);
    }
    let not_understood: Vec<_> =
        module.not_understood.iter().map(|(what, _, _)| what.to_string()).collect();
    let kernels = module.kernels.iter().map(|body| {
        let mut kernel = body_kernel(&module, body, locations.as_ref(), call);
        if module.kernels.len() == 1
            && let Some(name) = name
        {
            kernel = kernel.named(name);
        }
        DumpKernel { line: 0, kernel, not_understood: not_understood.clone() }
    });
    Ok(kernels.collect())
}

/// What the call says besides its body.
fn said(call: &DumpedCall<'_>, config: &BackendConfig<'_>) -> BodyCall {
    let (mut operands, mut results) = call.types.map(types).unwrap_or_default();
    operands.resize(call.operands, None);
    results.resize(call.results, None);
    let vmem = config.scoped_memory_configs.iter().find(|memory| of_vmem(memory.memory_space));
    let tiling = config.sparse_core_config.as_ref().and_then(|of| of.tiling.as_ref());
    let params = CompilerParams {
        vmem_limit_bytes: vmem.and_then(|memory| VmemLimitBytes::new(memory.size).ok()),
        use_tc_tiling_on_sc: match tiling {
            Some(Open::Known(Tiling::SparseCore)) => Some(false),
            Some(Open::Known(Tiling::Compact) | Open::Other(_)) | None => None,
        },
        ..CompilerParams::default()
    };
    let inputs = config.input_memory_space_colors.iter().filter_map(|input| {
        Some((usize::try_from(input.operand_index).ok()?, Color::try_from(input.color).ok()?))
    });
    let outputs = config.output_memory_space_colors.iter().filter_map(|output| {
        let number = output.shape_index.first().copied().unwrap_or(0);
        Some((usize::try_from(number).ok()?, Color::try_from(output.color).ok()?))
    });
    BodyCall {
        operands,
        results,
        params,
        input_spaces: inputs.map(|(number, color)| (number, color.memory_space())).collect(),
        output_spaces: outputs.map(|(number, color)| (number, color.memory_space())).collect(),
    }
}

fn of_vmem(space: ColorNumber) -> bool {
    Color::try_from(space) == Ok(Color::Vmem)
}

type Tensors = Vec<Option<BodyTensor>>;

/// The types of operands and results: `(tensor<4xf32>) -> tensor<4xf32>`, and perhaps more
/// behind it.
fn types(text: &str) -> (Tensors, Tensors) {
    let Some((operands, rest)) = group(text) else { return Default::default() };
    let rest = rest.trim_start().strip_prefix("->").unwrap_or_default().trim_start();
    let results = match group(rest) {
        Some((results, _)) => results,
        None => rest,
    };
    (split(operands).map(tensor).collect(), split(results).map(tensor).collect())
}

/// What stands in the parentheses that the text begins with, and what follows them.
fn group(text: &str) -> Option<(&str, &str)> {
    let inside = text.strip_prefix('(')?;
    let mut depth = 1_usize;
    for (at, character) in inside.char_indices() {
        match character {
            '(' => depth = depth.saturating_add(1),
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            let (inside, rest) = inside.split_at_checked(at)?;
            return Some((inside, rest.strip_prefix(')').unwrap_or(rest)));
        }
    }
    None
}

/// Types with commas between them.
fn split(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_usize;
    let parts = text.split(move |character| {
        match character {
            '<' | '(' | '[' | '{' => depth = depth.saturating_add(1),
            '>' | ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        character == ',' && depth == 0
    });
    parts.map(str::trim).filter(|part| !part.is_empty())
}

/// `tensor<8x128xf32>`.
fn tensor(text: &str) -> Option<BodyTensor> {
    let inside = text.strip_prefix("tensor<")?;
    let inside = inside.split_once('>').map_or(inside, |(inside, _)| inside);
    let inside = inside.split(',').next().unwrap_or(inside);
    let (shape, element) = match inside.rsplit_once('x') {
        // The element types with an x in them are none of numbers.
        Some((shape, element)) => (shape, element),
        None => ("", inside),
    };
    let extents = shape.split('x').filter(|extent| !extent.is_empty()).map(str::parse);
    let dtype = Dtype::ALL.iter().find(|dtype| dtype.as_stablehlo() == element.trim());
    Some(BodyTensor { shape: extents.collect::<Result<_, _>>().ok()?, dtype: dtype.copied() })
}
