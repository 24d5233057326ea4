//! Which way an operand goes, and how a kernel is given it.

use super::{GridAxis, ResolvedOperand};
use crate::core_type::CoreType;
use crate::error::words;
use crate::memory_space::{Resolved, TpuSpace};

words! {
    /// Which way an operand goes.
    pub enum Role {
        /// Read by the kernel.
        Input,
        /// Written by the kernel.
        Output,
    }
    path: "operand::Role",
    all: 2 "Both",
    as_str: Input "input" "The word",
}

/// How a kernel is given its operands.
///
/// ```
/// use mosaic_memspace::operand::Form;
/// use mosaic_memspace::{CoreType, Resolved};
///
/// assert!(!Form::Pipelined.has_window(Resolved::HBM, CoreType::Tc));
/// assert!(Form::Unpipelined.has_window(Resolved::HBM, CoreType::ScVectorSubcore));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// By blocks, one a step of the grid (`pl.pallas_call`).
    Pipelined,
    /// Whole, to each core of a mesh (`pl.kernel`).
    Unpipelined,
}

impl Form {
    /// Whether Mosaic is told of a window for an operand in this space.
    pub const fn has_window(self, space: Resolved, core_type: CoreType) -> bool {
        let everywhere = match self {
            Self::Pipelined => false,
            Self::Unpipelined => core_type.is_sparse_core(),
        };
        everywhere || !space.is_left_in_place() && !space.is(TpuSpace::SemaphoreMem)
    }

    /// Buffers of an operand's window on a SparseCore. An unpipelined kernel's windows do
    /// not move, but the compiler buffers those in vmem twice.
    pub(crate) fn sparse_core_buffers(
        self,
        operand: &ResolvedOperand<'_>,
        grid: &[GridAxis],
    ) -> u32 {
        match self {
            Self::Pipelined => operand.buffers_where(false, grid),
            Self::Unpipelined if operand.space.is(TpuSpace::Vmem) => 2,
            Self::Unpipelined => 1,
        }
    }
}
