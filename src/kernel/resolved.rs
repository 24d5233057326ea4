//! A kernel without errors: what the custom call is made from.

use super::description::Kernel;
use super::handed::Function;
use super::report::{Diagnostics, Fit, OperandReport, Report, ScratchReport};
use crate::core_type::CoreType;
use crate::custom_call::{
    Alias, AliasColors, BackendConfig, CallOperand, CustomCall, InputColor, LibtpuVersion,
    ResolvedParams, TensorType, ValueName,
};
use crate::dtype::Dtype;
use crate::operand::Role;
use crate::word::Spelled;

/// A kernel of which each ref is resolved and nothing is refused.
///
/// ```
/// use mosaic_memspace::custom_call::LibtpuVersion;
/// use mosaic_memspace::kernel::Kernel;
/// use mosaic_memspace::CoreType;
///
/// let kernel = Kernel::pipelined(CoreType::Tc).body(*b"ML\xefR");
/// let resolved = kernel.resolve()?;
/// let config = resolved.config(LibtpuVersion::NEWEST);
/// assert_eq!(
///     config.to_json(),
///     r#"{"custom_call_config": {"body": "TUzvUg==", "serialization_format": 1, "needs_layout_passes": true}}"#
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
        config(self.kernel, &self.kernel.body, &self.params, &self.colors, libtpu)
    }

    /// The function of the Mosaic module that the kernel is lowered to; `None` for a
    /// mesh of which neither the kernel nor a chip says the extents.
    ///
    /// ```
    /// use mosaic_memspace::kernel::{Kernel, MeshSpec};
    /// let mesh = MeshSpec::scalar_subcores("core").cores(2);
    /// let kernel = Kernel::unpipelined(mesh).named("wait");
    /// let function = kernel.resolve()?.function().expect("two cores");
    /// assert_eq!(
    ///     function.to_string(),
    ///     "func.func @wait(%arg0: i32) attributes \
    ///      {dimension_semantics = [#tpu.dimension_semantics<core_parallel>], \
    ///      iteration_bounds = array<i64: 2>, scalar_prefetch = 0 : i64, \
    ///      scratch_operands = 0 : i64, tpu.core_type = #tpu.core_type<sc_scalar_subcore>, \
    ///      window_params = []}"
    /// );
    /// # Ok::<(), mosaic_memspace::kernel::Diagnostics>(())
    /// ```
    pub fn function(&self) -> Option<Function> {
        Function::of(self.kernel, &self.report, self.core_type)
    }

    /// The operation that calls the kernel, with this body, bytecode or text. `value`
    /// names the value of each operand by its number: the bounds of dynamic grid axes,
    /// the scalar prefetch, the inputs. A bool is an `i32` there, as JAX makes it before
    /// the call.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::{LibtpuVersion, ValueName};
    /// use mosaic_memspace::kernel::Kernel;
    /// use mosaic_memspace::operand::Operand;
    /// use mosaic_memspace::{CoreType, Dtype};
    ///
    /// let kernel = Kernel::pipelined(CoreType::Tc)
    ///     .named("show")
    ///     .operand(Operand::input("x", [8, 128], Dtype::Bool));
    /// let resolved = kernel.resolve()?;
    /// let x = ValueName::new("%x")?;
    /// let call = resolved.call(b"module {}", LibtpuVersion::NEWEST, |_| x).to_string();
    /// assert!(call.starts_with("stablehlo.custom_call @tpu_custom_call(%x) "));
    /// assert!(call.ends_with(" : (tensor<8x128xi32>) -> ()"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn call<'c>(
        &'c self,
        body: &'c [u8],
        libtpu: LibtpuVersion,
        mut value: impl FnMut(usize) -> ValueName<'c>,
    ) -> CustomCall<'c> {
        let tensor = |shape, dtype: &Spelled<Dtype>| {
            let dtype = dtype.known().copied().filter(|dtype| *dtype != Dtype::Bool);
            TensorType::new(shape, dtype.unwrap_or(Dtype::Int32))
        };
        let side = |role| {
            let of_role = self.kernel.operands.iter().filter(move |operand| operand.role == role);
            of_role.map(|operand| tensor(&operand.array_shape, &operand.dtype))
        };
        let dynamic = self.kernel.grid.iter().filter(|extent| extent.is_none()).count();
        let prefetch = self.kernel.scalar_prefetch.iter();
        let inputs = std::iter::repeat_n(TensorType::new(&[], Dtype::Int32), dynamic)
            .chain(prefetch.map(|prefetch| tensor(&prefetch.shape, &prefetch.dtype)))
            .chain(side(Role::Input));
        let operands =
            inputs.zip(0..).map(|(array, number)| CallOperand::new(value(number), array));
        let aliases = self.kernel.aliases.iter().filter_map(|(input, output)| {
            let (input, output) = (usize::try_from(*input).ok()?, usize::try_from(*output).ok()?);
            Some(Alias { input, output }.shifted(dynamic))
        });
        let config = config(self.kernel, body, &self.params, &self.colors, libtpu);
        let results = side(Role::Output).collect();
        let mut call = CustomCall::checked(config, operands.collect(), results, aliases.collect());
        call.kernel_name = self.kernel.name();
        call.kernel_metadata = Some("{}");
        call.side_effects = self.kernel.params.sound.has_side_effects;
        call
    }
}

/// The backend config of a kernel in which nothing is refused.
pub(super) fn config<'b>(
    kernel: &Kernel,
    body: &'b [u8],
    params: &ResolvedParams,
    colors: &AliasColors,
    libtpu: LibtpuVersion,
) -> BackendConfig<'b> {
    let mut config = kernel.params.sound.backend_config(params, body, libtpu);
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
