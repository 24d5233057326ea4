//! A window as Mosaic writes it.

use crate::core_type::CoreType;
use crate::operand::{BlockDim, Form, ResolvedOperand};
use crate::word::List;
use std::fmt;

/// An entry of a function's `window_params`, as Mosaic prints it.
///
/// A kernel without a grid has no `window_params`.
///
/// ```
/// use mosaic_memspace::operand::Operand;
/// use mosaic_memspace::rules::WindowAttr;
/// use mosaic_memspace::{CoreType, Dtype, Resolved};
///
/// let x = Operand::input("x", [512, 256], Dtype::Float32)
///     .block([128, 256])
///     .index_map([Some(0), None])
///     .buffers(1);
/// let in_vmem = x.in_space(Resolved::VMEM);
/// assert_eq!(
///     WindowAttr::pipelined(&in_vmem, "transform_0", CoreType::Tc).to_string(),
///     "{pipeline_mode = #tpu.pipeline_mode<synchronous>, transform_indices = @transform_0, \
///      window_bounds = array<i64: 128, 256>}"
/// );
/// let in_any = x.in_space(Resolved::ANY);
/// assert_eq!(WindowAttr::pipelined(&in_any, "transform_0", CoreType::Tc).to_string(), "{}");
/// assert_eq!(
///     WindowAttr::unpipelined(&in_any, 2, CoreType::ScVectorSubcore).to_string(),
///     "{transform_indices = affine_map<(d0, d1) -> (0, 0)>}"
/// );
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowAttr<'a>(Written<'a>);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Written<'a> {
    Nothing,
    Window { operand: ResolvedOperand<'a>, transform: &'a str },
    Zeros { axes: usize, rank: usize },
}

impl<'a> WindowAttr<'a> {
    /// Of an operand of a pipelined kernel, whose index map is the function
    /// `transform`.
    pub const fn pipelined(
        operand: &ResolvedOperand<'a>,
        transform: &'a str,
        core_type: CoreType,
    ) -> Self {
        if Form::Pipelined.has_window(operand.space, core_type) {
            Self(Written::Window { operand: *operand, transform })
        } else {
            Self(Written::Nothing)
        }
    }

    /// Of an operand of an unpipelined kernel, whose mesh has `axes` axes.
    pub const fn unpipelined(
        operand: &ResolvedOperand<'a>,
        axes: usize,
        core_type: CoreType,
    ) -> Self {
        if Form::Unpipelined.has_window(operand.space, core_type) {
            Self(Written::Zeros { axes, rank: operand.operand.array_shape.len() })
        } else {
            Self(Written::Nothing)
        }
    }
}

impl fmt::Display for WindowAttr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Written::Nothing => f.write_str("{}"),
            Written::Zeros { axes, rank } => {
                let dims = List((0..axes).map(|axis| format!("d{axis}")));
                let zeros = List(std::iter::repeat_n(0, rank));
                write!(f, "{{transform_indices = affine_map<({dims}) -> ({zeros})>}}")
            }
            Written::Window { operand, transform } => {
                f.write_str("{")?;
                match written_buffers(&operand) {
                    Some(1) => f.write_str("pipeline_mode = #tpu.pipeline_mode<synchronous>, ")?,
                    Some(_) => {
                        f.write_str("pipeline_mode = #tpu.pipeline_mode<double_buffered>, ")?;
                    }
                    None => {}
                }
                let dims = operand.dims();
                let bounds = List(operand.block());
                write!(
                    f,
                    "transform_indices = @{transform}, window_bounds = array<i64: {bounds}>"
                )?;
                if dims.clone().any(|dim| matches!(dim, BlockDim::Element(_))) {
                    let zeros = List(dims.map(|_| 0));
                    write!(f, ", window_kind = #tpu.element_window<[{zeros}], [{zeros}]>")?;
                }
                f.write_str("}")
            }
        }
    }
}

/// The buffers that JAX writes into the window, if any.
fn written_buffers(operand: &ResolvedOperand<'_>) -> Option<i64> {
    if operand.is_forced_to_one_buffer() { Some(1) } else { operand.operand.buffers }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::Dtype;
    use crate::memory_space::Resolved;
    use crate::operand::Operand;

    #[test]
    fn mosaics_text_holds_what_jax_writes() {
        let text = |operand: Operand| {
            let operand = operand.in_space(Resolved::VMEM);
            WindowAttr::pipelined(&operand, "transform_1", CoreType::Tc).to_string()
        };
        let whole = Operand::input("x", [512, 256], Dtype::Float32);
        let x = whole.clone().block([128, 256]).index_map([Some(0), None]);
        assert_eq!(
            text(x.clone()),
            "{transform_indices = @transform_1, window_bounds = array<i64: 128, 256>}"
        );
        assert_eq!(
            text(x.clone().buffers(2)),
            "{pipeline_mode = #tpu.pipeline_mode<double_buffered>, \
             transform_indices = @transform_1, window_bounds = array<i64: 128, 256>}"
        );
        assert_eq!(
            text(whole.buffers(2)),
            "{pipeline_mode = #tpu.pipeline_mode<synchronous>, \
             transform_indices = @transform_1, window_bounds = array<i64: 512, 256>}"
        );
        assert_eq!(
            text(x.block_dims([BlockDim::Squeezed, BlockDim::Element(256)]).element([2])),
            "{transform_indices = @transform_1, window_bounds = array<i64: 1, 256, 2>, \
             window_kind = #tpu.element_window<[0, 0], [0, 0]>}"
        );
        let scalar = Operand::input("s", [], Dtype::Float32);
        let scalar = scalar.in_space(Resolved::VMEM);
        assert_eq!(
            WindowAttr::unpipelined(&scalar, 1, CoreType::ScScalarSubcore).to_string(),
            "{transform_indices = affine_map<(d0) -> ()>}"
        );
    }
}
