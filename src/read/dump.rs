//! The kernels of a dump: StableHLO as JAX prints it, HLO as XLA does.

use super::body::{BodyCall, body_kernel};
use super::module::{DebugLocations, ModuleBody, is_text};
use crate::bytecode::{Bytecode, BytecodeFault};
use crate::custom_call::{
    BackendConfig, Body, Color, CompilerParams, Dump, DumpFault, DumpedCall, FlagName,
    InvalidBase64, InvalidConfig, Open, Tiling, VmemLimitBytes,
};
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
        /// It is printed without its config, and so without its body.
        NoConfig => InvalidConfig ("the call is printed without its backend config")
            help "print the module with it: a log of the compiler leaves it out";
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
    if call.backend_config.is_none() {
        return Err(DumpKernelFault::NoConfig);
    }
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
    let kernels = module.kernels.iter().map(|body| {
        let mut kernel = body_kernel(&module, body, locations.as_ref(), call);
        if module.kernels.len() == 1
            && let Some(name) = name
        {
            kernel = kernel.named(name);
        }
        DumpKernel { line: 0, kernel }
    });
    Ok(kernels.collect())
}

/// What the call says besides its body.
fn said(call: &DumpedCall<'_>, config: &BackendConfig<'_>) -> BodyCall {
    let sparse_core = config.sparse_core_config.as_ref();
    let flags = config.flag_configs.iter().flatten();
    let flags = flags.filter_map(|flag| Some((FlagName::new(flag.name()).ok()?, flag.value()?)));
    let mut params = CompilerParams {
        collective_id: config.collective_id,
        flags: config.flag_configs.as_ref().map(|_| flags.collect()),
        needs_layout_passes: config.needs_layout_passes,
        use_tc_tiling_on_sc: match sparse_core.and_then(|of| of.tiling.as_ref()) {
            Some(Open::Known(Tiling::SparseCore)) => Some(false),
            Some(Open::Known(Tiling::Compact) | Open::Other(_)) | None => None,
        },
        opt_level: match sparse_core.and_then(|of| of.opt_level()) {
            Some(Open::Known(level)) => Some(*level),
            Some(Open::Other(_)) | None => None,
        },
        ..CompilerParams::default()
    };
    params.take_over(config);
    let limit = config.vmem_limit_bytes().map(VmemLimitBytes::new);
    let faults = match limit {
        Some(Ok(limit)) => {
            params.vmem_limit_bytes = Some(limit);
            Vec::new()
        }
        Some(Err(fault)) => vec![fault],
        None => Vec::new(),
    };
    let space = |color| Color::try_from(color).ok().map(Color::memory_space);
    let inputs = config.input_memory_space_colors.iter().filter_map(|input| {
        Some((usize::try_from(input.operand_index).ok()?, space(input.color)?))
    });
    let outputs = config.output_colors();
    let outputs = outputs.filter_map(|(number, color)| Some((number, space(color)?)));
    BodyCall {
        operands: call.operand_types.clone(),
        results: call.result_types.clone(),
        params,
        faults,
        input_spaces: inputs.collect(),
        output_spaces: outputs.collect(),
        aliases: call.aliases.clone(),
        has_communication: config.has_communication,
        used_vmem_bytes: config.used_vmem_bytes(),
    }
}
