//! From a description to what it comes to: one pass, every fault.

mod accesses;
mod aliases;
mod host;
mod memory;
mod operands;
mod params;
mod pipelines;
mod refs;
mod scratch;
mod target;

use super::description::Kernel;
use super::report::{Diagnostics, Report};
use super::resolved::{self, ResolvedKernel};
use crate::custom_call::{AliasColors, LibtpuVersion, ResolvedParams};
use crate::fit::TcKernel;
use crate::operand::{GridAxis, one_step_a_core};
use refs::Refs;
use target::Target;

impl Kernel {
    /// Everything that the kernel comes to, as far as it can be told, and
    /// everything that is wrong with it.
    ///
    /// ```
    /// use mosaic_memspace::error::Code;
    /// use mosaic_memspace::kernel::Kernel;
    /// use mosaic_memspace::operand::Operand;
    /// use mosaic_memspace::{CoreType, Dtype};
    ///
    /// let x = Operand::input("x", [512, 256], Dtype::Float32);
    /// let kernel = Kernel::pipelined(CoreType::Tc)
    ///     .grid([6])
    ///     .operand(x.block([100, 256]).index_map([Some(0), None]));
    /// let report = kernel.check();
    /// let codes: Vec<_> = report.diagnostics.iter().map(|it| it.code).collect();
    /// assert_eq!(codes, [Code::BlockNotTileAligned]);
    /// ```
    pub fn check(&self) -> Report {
        Pass::over(self).report
    }

    /// The kernel with each ref resolved, from which the custom call is made.
    ///
    /// # Errors
    /// Every fault of the kernel, warnings too, when one of them is an error.
    ///
    /// ```
    /// use mosaic_memspace::kernel::Kernel;
    /// use mosaic_memspace::operand::Operand;
    /// use mosaic_memspace::{CoreType, Dtype, Resolved};
    ///
    /// let kernel = Kernel::pipelined(CoreType::Tc)
    ///     .operand(Operand::input("x", [512, 256], Dtype::Float32));
    /// let resolved = kernel.resolve()?;
    /// assert_eq!(resolved.operands()[0].resolved, Some(Resolved::VMEM));
    /// # Ok::<(), mosaic_memspace::kernel::Diagnostics>(())
    /// ```
    pub fn resolve(&self) -> Result<ResolvedKernel<'_>, Diagnostics> {
        let Pass { report, target, params, colors, .. } = Pass::over(self);
        match (target.core_type, params) {
            (Some(core_type), Some(params)) if !report.diagnostics.has_errors() => {
                Ok(ResolvedKernel::new(self, report, core_type, params, colors))
            }
            // Without a core type, or parameters, there is an error.
            (_, _) => Err(report.diagnostics),
        }
    }
}

/// What is known of a kernel on the way through its description.
struct Pass<'k> {
    kernel: &'k Kernel,
    target: Target<'k>,
    grid: Vec<GridAxis>,
    /// Whether every TensorCore is left with one step of the grid: of the chip's, or
    /// without a chip of one and of two, which chips have.
    one_step: [bool; 2],
    /// Of each operand, whether its value is in the host's memory.
    in_host: Vec<bool>,
    refs: Refs<'k>,
    params: Option<ResolvedParams>,
    colors: AliasColors,
    report: Report,
}

impl<'k> Pass<'k> {
    /// The parts of a description, in its order.
    fn over(kernel: &'k Kernel) -> Self {
        let mut report = Report { name: kernel.name.clone(), ..Report::default() };
        let target = Target::of(kernel, &mut report.diagnostics);
        report.core_type = target.core_type;
        let grid = kernel.grid_axes();
        let mut pass = Self {
            kernel,
            target,
            one_step: [1, 2].map(|cores| {
                let cores = target.chip.map_or(cores, |chip| TcKernel::new(chip).cores());
                one_step_a_core(&grid, cores)
            }),
            grid,
            in_host: host::in_host(kernel),
            refs: Refs::default(),
            params: None,
            colors: AliasColors::default(),
            report,
        };
        pass.operands();
        pass.scratch();
        pass.pipelines();
        pass.aliases();
        pass.params();
        pass.accesses();
        pass.memory();
        let body = kernel.from_body.iter();
        pass.report.not_understood = body.flat_map(|body| &body.not_understood).cloned().collect();
        pass.report.diagnostics.sort_by_key(|diagnostic| diagnostic.at.order());
        if let Some(params) = &pass.params
            && kernel.from_body.is_none()
            && !pass.report.diagnostics.has_errors()
        {
            let config =
                resolved::config(kernel, &kernel.body, params, &pass.colors, LibtpuVersion::NEWEST);
            pass.report.config = Some(config.to_json());
        }
        pass
    }
}
