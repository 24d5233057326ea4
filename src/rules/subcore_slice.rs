//! The slice of a SparseCore's vmem_shared that is one subcore's own.

use crate::chip::SparseCoreFacts;
use crate::core_type::CoreType;
use crate::error::{Code, Fault};
use crate::memory_space::{Resolved, TpuSpace};

/// The last extent of one subcore's slice of a `vmem_shared` ref of this shape,
/// which then counts as a ref in `vmem` (`plsc.slice_subcore_vmem_from_shared`).
///
/// The chip's subcores count, whether the mesh has them or not.
///
/// # Errors
/// [`SubcoreSliceFault`], the first in JAX's order.
///
/// ```
/// use mosaic_memspace::rules::subcore_slice;
/// use mosaic_memspace::{Chip, CoreType, Resolved};
///
/// let sparse_core = Chip::Tpu7x.facts().require_sparse_core()?;
/// let shared = Resolved::VMEM_SHARED;
/// let extent = subcore_slice(&[8, 2048], shared, CoreType::ScVectorSubcore, sparse_core);
/// assert_eq!(extent, Ok(128));
/// let fault = subcore_slice(&[8, 100], shared, CoreType::ScVectorSubcore, sparse_core);
/// assert_eq!(fault.unwrap_err().to_string(), "a last extent of 100, among 16 subcores");
/// # Ok::<(), mosaic_memspace::NoSparseCores>(())
/// ```
pub const fn subcore_slice(
    shape: &[u64],
    space: Resolved,
    core_type: CoreType,
    sparse_core: &SparseCoreFacts,
) -> Result<u64, SubcoreSliceFault> {
    if !space.is(TpuSpace::VmemShared) {
        return Err(SubcoreSliceFault::NotShared { space });
    }
    let subcores = sparse_core.num_subcores;
    let [.., extent] = shape else { return Err(SubcoreSliceFault::RankZero) };
    let count = subcores.get() as u64;
    let (Some(slice), Some(0)) = (extent.checked_div(count), extent.checked_rem(count)) else {
        let subcores = subcores.get();
        return Err(SubcoreSliceFault::Indivisible { extent: *extent, subcores });
    };
    if matches!(core_type, CoreType::ScVectorSubcore) {
        Ok(slice)
    } else {
        Err(SubcoreSliceFault::NotVectorSubcore { core_type })
    }
}

/// A ref that has no slice for each subcore.
///
/// ```
/// use mosaic_memspace::rules::SubcoreSliceFault;
/// use mosaic_memspace::error::{Code, Fault};
///
/// let fault = SubcoreSliceFault::Indivisible { extent: 100, subcores: 16 };
/// assert_eq!(fault.code(), Code::SubcoreSliceIndivisible);
/// assert_eq!(fault.help(), "make the last extent 96 or 112");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SubcoreSliceFault {
    /// A ref in another space.
    #[error("a subcore's slice of a ref in {space}; expected vmem_shared")]
    NotShared {
        /// The space.
        space: Resolved,
    },
    /// A ref of rank 0.
    #[error("a subcore's slice of a ref of rank 0")]
    RankZero,
    /// A last extent that does not divide among the subcores.
    #[error("a last extent of {extent}, among {subcores} subcores")]
    Indivisible {
        /// The last extent.
        extent: u64,
        /// The chip's subcores.
        subcores: u32,
    },
    /// A slice on a core that isn't a vector subcore.
    #[error("{core_type} takes a subcore's slice of vmem_shared")]
    NotVectorSubcore {
        /// The core.
        core_type: CoreType,
    },
}

impl Fault for SubcoreSliceFault {
    fn code(&self) -> Code {
        match self {
            Self::NotShared { .. } | Self::NotVectorSubcore { .. } => Code::IllegalAccess,
            Self::RankZero | Self::Indivisible { .. } => Code::SubcoreSliceIndivisible,
        }
    }

    fn help(&self) -> String {
        match self {
            Self::NotShared { .. } => "slice a ref in vmem_shared".to_owned(),
            Self::RankZero => "give the ref a last dimension with an entry a subcore".to_owned(),
            Self::Indivisible { extent, subcores } => {
                let subcores = u64::from(*subcores);
                let above = extent.checked_next_multiple_of(subcores);
                let below = extent.checked_div(subcores).and_then(|it| it.checked_mul(subcores));
                match (below.filter(|below| *below > 0), above) {
                    (Some(below), Some(above)) => {
                        format!("make the last extent {below} or {above}")
                    }
                    (Some(extent), None) | (None, Some(extent)) => {
                        format!("make the last extent {extent}")
                    }
                    (None, None) => self.code().mend().to_owned(),
                }
            }
            Self::NotVectorSubcore { .. } => "slice it on a vector subcore".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chip::Chip;

    #[test]
    fn each_fault_says_what_would_be_right() {
        let (shared, vector) = (Resolved::VMEM_SHARED, CoreType::ScVectorSubcore);
        let wrong = [
            (&[32][..], Resolved::VMEM, vector, Code::IllegalAccess, "slice a ref in vmem_shared"),
            (
                &[],
                shared,
                vector,
                Code::SubcoreSliceIndivisible,
                "give the ref a last dimension with an entry a subcore",
            ),
            (&[17], shared, vector, Code::SubcoreSliceIndivisible, "make the last extent 16 or 32"),
            (&[7], shared, vector, Code::SubcoreSliceIndivisible, "make the last extent 16"),
            (
                &[u64::MAX],
                shared,
                vector,
                Code::SubcoreSliceIndivisible,
                "make the last extent 18446744073709551600",
            ),
            (
                &[32],
                shared,
                CoreType::ScScalarSubcore,
                Code::IllegalAccess,
                "slice it on a vector subcore",
            ),
        ];
        let sparse_core = Chip::V6e.facts().require_sparse_core();
        for (shape, space, core_type, code, help) in wrong {
            let said = sparse_core.map(|facts| {
                let slice = subcore_slice(shape, space, core_type, facts);
                slice.map_err(|fault| (fault.code(), fault.help()))
            });
            assert_eq!(said, Ok(Err((code, help.to_owned()))));
        }
    }
}
