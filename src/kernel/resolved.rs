//! A kernel without errors: what the custom call is made from.

use super::description::Kernel;
use super::report::{Diagnostics, Fit, OperandReport, Report, ScratchReport};
use crate::core_type::CoreType;
use crate::custom_call::{AliasColors, BackendConfig, InputColor, LibtpuVersion, ResolvedParams};

/// A kernel of which each ref is resolved and nothing is refused.
///
/// ```
/// use mosaic_memspace::custom_call::LibtpuVersion;
/// use mosaic_memspace::kernel::Kernel;
/// use mosaic_memspace::CoreType;
///
/// let kernel = Kernel::pipelined(CoreType::Tc).body(*b"module {}");
/// let resolved = kernel.resolve()?;
/// let config = resolved.config(LibtpuVersion::NEWEST);
/// assert_eq!(
///     config.to_json(),
///     r#"{"custom_call_config": {"body": "bW9kdWxlIHt9", "serialization_format": 1, "needs_layout_passes": true}}"#
/// );
/// # Ok::<(), mosaic_memspace::kernel::Diagnostics>(())
/// ```
#[derive(Clone, Debug)]
pub struct ResolvedKernel<'k> {
    kernel: &'k Kernel,
    report: Report,
    core_type: CoreType,
    params: ResolvedParams,
    colors: AliasColors,
}

impl<'k> ResolvedKernel<'k> {
    pub(super) const fn new(
        kernel: &'k Kernel,
        report: Report,
        core_type: CoreType,
        params: ResolvedParams,
        colors: AliasColors,
    ) -> Self {
        Self { kernel, report, core_type, params, colors }
    }

    /// The core type it is lowered for.
    pub const fn core_type(&self) -> CoreType {
        self.core_type
    }

    /// The scalar prefetch and then the operands, in order.
    pub fn operands(&self) -> &[OperandReport] {
        &self.report.operands
    }

    /// The scratch, in order.
    pub fn scratch(&self) -> &[ScratchReport] {
        &self.report.scratch
    }

    /// The bytes used and the bytes there; `None` without a chip.
    pub const fn fit(&self) -> Option<Fit> {
        self.report.fit
    }

    /// What is accepted, and does not do what it says.
    pub const fn warnings(&self) -> &Diagnostics {
        &self.report.diagnostics
    }

    /// What its parameters come to.
    pub const fn params(&self) -> &ResolvedParams {
        &self.params
    }

    /// The custom call's backend config, for a version of libtpu.
    pub fn config(&self, libtpu: LibtpuVersion) -> BackendConfig<'k> {
        config(self.kernel, &self.params, &self.colors, libtpu)
    }
}

/// The backend config of a kernel in which nothing is refused.
pub(super) fn config<'k>(
    kernel: &'k Kernel,
    params: &ResolvedParams,
    colors: &AliasColors,
    libtpu: LibtpuVersion,
) -> BackendConfig<'k> {
    let mut config = kernel.params.sound.backend_config(params, &kernel.body, libtpu);
    config.has_communication = kernel.has_communication;
    config.cost_estimate.clone_from(&kernel.cost_estimate);
    if let Some(outputs) = &colors.outputs {
        config.set_output_colors(outputs);
    }
    if let Some(inputs) = &colors.inputs {
        // XLA counts the bounds of dynamic grid axes among the operands, as the first.
        let bounds = kernel.grid.iter().filter(|extent| extent.is_none()).map(|_| None);
        let inputs: Vec<Option<InputColor>> = bounds.chain(inputs.iter().copied()).collect();
        config.set_input_colors(&inputs);
    }
    config
}
