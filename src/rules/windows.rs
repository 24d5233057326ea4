//! Windows: where the compiler takes one, and how it may be stepped and buffered.

use crate::chip::ChipFacts;
use crate::core_type::CoreType;
use crate::error::{Code, faults};
use crate::memory_space::{Resolved, TpuSpace};
use crate::operand::{Form, GridAxis, IndexEntry, ResolvedOperand, Role};
use crate::reach::{Afar, Reach, Unreached, reach};

/// Whether the compiler takes the window of an operand, or that it has none, in
/// this space.
///
/// JAX lowers a window in any space; the compiler takes it in vmem, smem and
/// host, and no semaphores as an output.
///
/// # Errors
/// [`WindowFault::Space`], [`WindowFault::SemaphoreOutput`].
///
/// ```
/// use mosaic_memspace::{operand::Role, rules::check_window_space};
/// use mosaic_memspace::error::{Code, Fault};
/// use mosaic_memspace::{CoreType, Resolved};
///
/// assert!(check_window_space(Resolved::VMEM, Role::Output, CoreType::Tc).is_ok());
/// let fault = check_window_space(Resolved::CMEM, Role::Input, CoreType::Tc).unwrap_err();
/// assert_eq!(fault.to_string(), "a window in cmem");
/// assert_eq!(fault.code(), Code::WindowSpaceUnsupported);
/// ```
pub const fn check_window_space(
    space: Resolved,
    role: Role,
    core_type: CoreType,
) -> Result<(), WindowFault> {
    let why = match reach(space, core_type, None) {
        Reach::Local(_) | Reach::ByCopies(Afar::Hbm | Afar::Host) => return Ok(()),
        Reach::Not(Unreached::Semaphores) => {
            return match role {
                Role::Input => Ok(()),
                Role::Output => Err(WindowFault::SemaphoreOutput),
            };
        }
        Reach::ByCopies(Afar::Shared) => None,
        Reach::Not(why) => Some(why),
    };
    Err(WindowFault::Space { space, why })
}

/// Whether an unpipelined kernel takes an operand in this space, of those in which
/// [`check_window_space`] lets one be. `num_cores`: the mesh's, when they are known.
///
/// JAX refuses vmem on a mesh of several TensorCores. On a SparseCore the compiler
/// takes an operand in smem as a scalar subcore's input only, and no output in vmem on
/// a chip whose TensorCores can be one device, as it does not know whose.
///
/// # Errors
/// [`WindowFault::SeveralCores`], [`WindowFault::NotOnMesh`].
///
/// ```
/// use mosaic_memspace::{operand::Role, rules::check_mesh_operand};
/// use mosaic_memspace::{CoreType, Resolved};
///
/// let core = CoreType::ScVectorSubcore;
/// assert!(check_mesh_operand(Resolved::VMEM, Role::Input, core, None, None).is_ok());
/// let fault = check_mesh_operand(Resolved::SMEM, Role::Input, core, None, None).unwrap_err();
/// assert_eq!(fault.to_string(), "an input in smem on a sc_vector_subcore mesh");
/// ```
pub const fn check_mesh_operand(
    space: Resolved,
    role: Role,
    core_type: CoreType,
    num_cores: Option<u32>,
    chip: Option<&ChipFacts>,
) -> Result<(), WindowFault> {
    let ambiguous = match chip {
        Some(chip) => chip.supports_megacore && space.is(TpuSpace::Vmem),
        None => false,
    };
    let taken = match (core_type, role) {
        (CoreType::Tc, _) => match num_cores {
            Some(cores) if cores > 1 && space.is(TpuSpace::Vmem) => {
                return Err(WindowFault::SeveralCores { cores });
            }
            Some(_) | None => true,
        },
        (CoreType::ScScalarSubcore, Role::Input) => true,
        (CoreType::ScVectorSubcore, Role::Input) => !space.is(TpuSpace::Smem),
        (CoreType::ScScalarSubcore | CoreType::ScVectorSubcore, Role::Output) => {
            !ambiguous && !space.is(TpuSpace::Smem)
        }
    };
    if taken { Ok(()) } else { Err(WindowFault::NotOnMesh { space, role, core_type }) }
}

/// Whether the compiler takes an operand in this space of a value that is in the
/// host's memory, or is not.
///
/// A block spec of host makes no copy, and aborts the compiler where the value is
/// elsewhere. Of a value that is there, a window needs a copy between host and its
/// memory, and there is none from host.
///
/// # Errors
/// [`WindowFault::NotInHost`], [`WindowFault::OfHostValue`].
///
/// ```
/// use mosaic_memspace::{operand::Role, rules::check_host_operand};
/// use mosaic_memspace::Resolved;
///
/// assert!(check_host_operand(Resolved::HOST, Role::Input, true, None).is_ok());
/// let fault = check_host_operand(Resolved::HOST, Role::Input, false, None).unwrap_err();
/// assert_eq!(fault.to_string(), "host for a value that is not in the host's memory");
/// assert!(check_host_operand(Resolved::VMEM, Role::Output, true, None).is_ok());
/// assert!(check_host_operand(Resolved::VMEM, Role::Input, true, None).is_err());
/// ```
pub const fn check_host_operand(
    space: Resolved,
    role: Role,
    in_host: bool,
    chip: Option<&ChipFacts>,
) -> Result<(), WindowFault> {
    if !in_host {
        return match space {
            Resolved::HOST => Err(WindowFault::NotInHost),
            Resolved::Memref(_) | Resolved::Acc(_) => Ok(()),
        };
    }
    let old = match chip {
        Some(chip) => chip.generation < 5,
        None => false,
    };
    let refused = match role {
        Role::Input => space.is(TpuSpace::Vmem) || space.is(TpuSpace::Smem),
        Role::Output => space.is(TpuSpace::Smem) && old,
    };
    if refused || matches!(space, Resolved::ANY) {
        Err(WindowFault::OfHostValue { space, role })
    } else {
        Ok(())
    }
}

/// Everything that is wrong with an operand's window, in a kernel of this form with this
/// grid; its block is [`block_faults`](super::block_faults)'s to check.
///
/// ```
/// use mosaic_memspace::operand::{Form, Operand};
/// use mosaic_memspace::rules::window_faults;
/// use mosaic_memspace::{CoreType, Dtype, Resolved};
///
/// let x = Operand::input("x", [3], Dtype::Int8).index_map([Some(0)]);
/// let x = x.in_space(Resolved::VMEM);
/// let faults: Vec<_> = window_faults(&x, &[], Form::Pipelined, CoreType::Tc).collect();
/// assert_eq!(faults[0].to_string(), "an index map reads axis 0 of a grid of 0 axes");
/// ```
pub fn window_faults(
    operand: &ResolvedOperand<'_>,
    grid: &[GridAxis],
    form: Form,
    core_type: CoreType,
) -> impl Iterator<Item = WindowFault> + use<> {
    let windowed = form.has_window(operand.space, core_type);
    let map = operand.operand.index_map.as_deref();
    let (entries, dimensions) = (map.unwrap_or_default().len(), operand.operand.array_shape.len());
    let lacks = map.is_some() && entries != dimensions;
    let outside = |entry: &IndexEntry| match entry {
        IndexEntry::Axis(axis) if *axis >= grid.len() => Some(*axis),
        IndexEntry::Of(axes) => axes.iter().find(|axis| *axis >= grid.len()),
        IndexEntry::Axis(_) | IndexEntry::Zero | IndexEntry::Constant(_) | IndexEntry::Other => {
            None
        }
    };
    let outside = map.unwrap_or_default().iter().find_map(outside);
    let (blocked, scalar) = match form {
        Form::Pipelined => (
            grid.is_empty() && !operand.has_trivial_window(),
            operand.array().next().is_none() && windowed && !grid.is_empty(),
        ),
        Form::Unpipelined => (false, false),
    };
    [
        lacks.then_some(WindowFault::RankMismatch { entries, dimensions }),
        outside.map(|axis| WindowFault::AxisOutOfRange { axis, axes: grid.len() }),
        blocked.then_some(WindowFault::BlockedWithoutGrid),
        scalar.then_some(WindowFault::Scalar),
        check_window_space(operand.space, operand.operand.role, core_type).err(),
        refused_buffers(operand, windowed && !grid.is_empty()),
    ]
    .into_iter()
    .flatten()
}

/// JAX forces a trivial window in vmem to one buffer before it looks at what was asked,
/// and looks only where it writes a window.
fn refused_buffers(operand: &ResolvedOperand<'_>, written: bool) -> Option<WindowFault> {
    match operand.operand.buffers {
        None | Some(1 | 2) => None,
        Some(_) if !written || operand.is_forced_to_one_buffer() => None,
        Some(buffers) => Some(WindowFault::BufferCount { buffers }),
    }
}

faults! {
    /// What is wrong with a window.
    ///
    /// ```
    /// use mosaic_memspace::rules::WindowFault;
    /// use mosaic_memspace::error::{Code, Fault};
    ///
    /// let fault = WindowFault::BufferCount { buffers: 3 };
    /// assert_eq!(fault.to_string(), "a window of 3 buffers");
    /// assert_eq!(fault.code(), Code::BufferCountUnsupported);
    /// ```
    #[derive(Clone, Copy)]
    pub enum WindowFault {
        /// Not one entry of the index map for each dimension.
        RankMismatch {
            /// Entries of the index map.
            entries: usize,
            /// The array's rank.
            dimensions: usize,
        } => RankMismatch at "index_map"
          ("an index map of {entries} entries for an array of rank {dimensions}")
          help "return one index for each dimension of the array, {dimensions} in all";
        /// An index map that reads an axis which the grid does not have.
        AxisOutOfRange {
            /// The axis read.
            axis: usize,
            /// Axes of the grid.
            axes: usize,
        } => IndexMapAxisOutOfRange at "index_map"
          ("an index map reads axis {axis} of a grid of {axes} axes")
          help {
              match axes.checked_sub(1) {
                  None => "give the kernel a grid".to_owned(),
                  Some(last) => format!("read one of the axes 0 to {last}, or nothing"),
              }
          };
        /// A window on a scalar, which JAX lowers in smem, and the compiler takes in a
        /// kernel without a grid only.
        Scalar => BlockRankZero at "array_shape" ("a window of rank 0, in a kernel with a grid")
          help "give the array a dimension, as in (1,), or make it scalar prefetch";
        /// A window that is not trivial, in a kernel without a grid.
        BlockedWithoutGrid => BlockedWithoutGrid at "block_shape"
          ("a block that is not the whole array, and no grid to step through it");
        /// A space that a window cannot be in.
        Space {
            /// The space.
            space: Resolved,
            /// Why the core reaches no ref there, if it does not.
            why: Option<Unreached>,
        } => WindowSpaceUnsupported at "space" ("a window in {space}")
          help {
              match why {
                  Some(why @ Unreached::AnyOnSparseCore) => why.help(),
                  Some(_) | None => Code::WindowSpaceUnsupported.mend().to_owned(),
              }
          };
        /// Semaphores as an output.
        SemaphoreOutput => WindowSpaceUnsupported at "space" ("an output in semaphore_mem")
          help "make the semaphores scratch, or an input";
        /// In vmem, on a mesh of several TensorCores.
        SeveralCores {
            /// The mesh's.
            cores: u32,
        } => WindowSpaceUnsupported at "space"
          ("an operand in vmem on a mesh of {cores} TensorCores")
          help "leave it in any or hbm, or give the mesh one core";
        /// In a space in which an unpipelined kernel of these cores takes none.
        NotOnMesh {
            /// The space.
            space: Resolved,
            /// Input or output.
            role: Role,
            /// The mesh's.
            core_type: CoreType,
        } => WindowSpaceUnsupported at "space" ("an {role} in {space} on a {core_type} mesh")
          help {
              match role {
                  Role::Input => "leave it in hbm and copy it into scratch",
                  Role::Output => "leave it in hbm and copy it there from scratch",
              }
          };
        /// In host, of a value that is elsewhere: that aborts the compiler.
        NotInHost => WindowSpaceUnsupported at "space"
          ("host for a value that is not in the host's memory")
          help "annotate the value with host as well, or leave it in hbm";
        /// In a space into which, or from which, the compiler copies no host value.
        OfHostValue {
            /// The space.
            space: Resolved,
            /// Input or output.
            role: Role,
        } => WindowSpaceUnsupported at "space"
          ("an {role} in {space} of a value in the host's memory")
          help {
              match role {
                  Role::Input => "write host and copy from there to hbm",
                  Role::Output => "write host and copy there from hbm",
              }
          };
        /// Another number of buffers than 1 or 2.
        BufferCount {
            /// The number asked for.
            buffers: i64,
        } => BufferCountUnsupported at "buffers" ("a window of {buffers} buffers")
          help "use 1 or 2 buffers; for more, run pltpu.emit_pipeline over a ref in hbm";
    }
}

impl WindowFault {
    /// Whether it is about the block or where it lies: of these, the first counts.
    pub(crate) const fn is_about_block_or_place(&self) -> bool {
        match self {
            Self::RankMismatch { .. } | Self::AxisOutOfRange { .. } | Self::BufferCount { .. } => {
                false
            }
            Self::Scalar
            | Self::BlockedWithoutGrid
            | Self::Space { .. }
            | Self::SemaphoreOutput
            | Self::SeveralCores { .. }
            | Self::NotInHost
            | Self::OfHostValue { .. }
            | Self::NotOnMesh { .. } => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::Dtype;
    use crate::error::{Code, Fault};
    use crate::operand::{Operand, one_step_a_core};

    const GRID: [GridAxis; 1] = [GridAxis::new(4)];

    fn whole() -> Operand {
        Operand::input("x", [512, 256], Dtype::Float32)
    }

    fn x() -> Operand {
        whole().block([128, 256]).index_map([Some(0), None])
    }

    #[test]
    fn each_fault_says_what_would_be_right() {
        let output = Operand { role: Role::Output, ..x() };
        let wrong = [
            (
                x().index_map([None]),
                Resolved::VMEM,
                Code::RankMismatch,
                "an index map of 1 entries for an array of rank 2",
                "return one index for each dimension of the array, 2 in all",
            ),
            (
                x().index_map([Some(1), None]),
                Resolved::VMEM,
                Code::IndexMapAxisOutOfRange,
                "an index map reads axis 1 of a grid of 1 axes",
                "read one of the axes 0 to 0, or nothing",
            ),
            (
                x(),
                Resolved::VMEM_SHARED,
                Code::WindowSpaceUnsupported,
                "a window in vmem_shared",
                "put the window in vmem or smem, or leave the operand in any or hbm and copy from it",
            ),
            (
                output,
                Resolved::SEMAPHORE_MEM,
                Code::WindowSpaceUnsupported,
                "an output in semaphore_mem",
                "make the semaphores scratch, or an input",
            ),
            (
                x().buffers(3),
                Resolved::VMEM,
                Code::BufferCountUnsupported,
                "a window of 3 buffers",
                "use 1 or 2 buffers; for more, run pltpu.emit_pipeline over a ref in hbm",
            ),
        ];
        for (operand, space, code, message, help) in wrong {
            let operand = operand.in_space(space);
            let faults = window_faults(&operand, &GRID, Form::Pipelined, CoreType::Tc);
            let said: Vec<_> =
                faults.map(|fault| (fault.code(), fault.to_string(), fault.help())).collect();
            assert_eq!(said, [(code, message.to_owned(), help.to_owned())]);
        }
        let scalar = Operand::input("s", [], Dtype::Float32);
        let of_scalar = |grid: &[GridAxis], form| {
            let scalar = scalar.in_space(Resolved::SMEM);
            let faults = window_faults(&scalar, grid, form, CoreType::Tc);
            faults.map(|fault| (fault.code(), fault.help())).collect::<Vec<_>>()
        };
        let help = "give the array a dimension, as in (1,), or make it scalar prefetch".to_owned();
        assert_eq!(of_scalar(&GRID, Form::Pipelined), [(Code::BlockRankZero, help)]);
        assert_eq!(of_scalar(&[], Form::Pipelined), []);
        assert_eq!(of_scalar(&GRID, Form::Unpipelined), []);
        let still = whole().block([128, 256]);
        let still = still.in_space(Resolved::VMEM);
        let faults = window_faults(&still, &[], Form::Pipelined, CoreType::Tc);
        let said: Vec<_> = faults.map(|fault| (fault.code(), fault.help())).collect();
        let help = "give the kernel a grid, or use the whole array".to_owned();
        assert_eq!(said, [(Code::BlockedWithoutGrid, help)]);
    }

    /// As JAX and libtpu took them, on v5p and 7x.
    #[test]
    fn a_mesh_takes_fewer_spaces_than_a_grid() {
        let [tc, scalar, vector] =
            [CoreType::Tc, CoreType::ScScalarSubcore, CoreType::ScVectorSubcore];
        let [input, output] = [Role::Input, Role::Output];
        let not = |space, role, core_type| Err(WindowFault::NotOnMesh { space, role, core_type });
        let several = Err(WindowFault::SeveralCores { cores: 2 });
        for (space, role, core_type, cores, expected) in [
            (Resolved::VMEM, input, tc, None, Ok(())),
            (Resolved::VMEM, input, tc, Some(1), Ok(())),
            (Resolved::VMEM, output, tc, Some(2), several),
            (Resolved::ANY, input, tc, Some(2), Ok(())),
            (Resolved::SMEM, output, tc, Some(2), Ok(())),
            (Resolved::HOST, input, tc, Some(1), Ok(())),
            (Resolved::VMEM, output, vector, Some(2), Ok(())),
            (Resolved::SMEM, input, vector, None, not(Resolved::SMEM, input, vector)),
            (Resolved::SMEM, input, scalar, None, Ok(())),
            (Resolved::SMEM, output, scalar, None, not(Resolved::SMEM, output, scalar)),
            (Resolved::HOST, input, scalar, None, Ok(())),
            (Resolved::HOST, output, vector, None, Ok(())),
            (Resolved::HBM, output, vector, None, Ok(())),
        ] {
            assert_eq!(check_mesh_operand(space, role, core_type, cores, None), expected);
        }
        let helps =
            [several, not(Resolved::SMEM, input, vector), not(Resolved::SMEM, output, vector)];
        let helps = helps.map(|fault| fault.err().map(|fault| fault.help()));
        let expected = [
            "leave it in any or hbm, or give the mesh one core",
            "leave it in hbm and copy it into scratch",
            "leave it in hbm and copy it there from scratch",
        ];
        assert_eq!(helps, expected.map(|help| Some(help.to_owned())));
    }

    #[test]
    fn a_buffer_count_counts_only_where_jax_writes_it() {
        let asked = |operand: Operand, space, grid: &[GridAxis]| {
            let operand = operand.buffers(0);
            window_faults(&operand.in_space(space), grid, Form::Pipelined, CoreType::Tc).count()
        };
        assert_eq!(asked(x(), Resolved::VMEM, &GRID), 1);
        assert_eq!(asked(whole(), Resolved::VMEM, &GRID), 0, "forced to one");
        assert_eq!(asked(whole(), Resolved::SMEM, &GRID), 1, "not forced");
        assert_eq!(asked(whole(), Resolved::SMEM, &[]), 0, "no grid");
        assert_eq!(asked(whole(), Resolved::HBM, &GRID), 0, "no window");
    }

    #[test]
    fn only_cores_left_with_one_step_buffer_once() {
        let [one, two, four] = [1, 2, 4].map(|extent| GridAxis::new(extent).in_parallel());
        let in_order = GridAxis::new(2);
        for (grid, cores, expected) in [
            (&[two][..], 2, true),
            (&[one, two], 2, true),
            (&[two], 1, false),
            (&[four], 2, false),
            (&[two, two], 2, false),
            (&[in_order], 2, false),
            (&[GridAxis::DYNAMIC.in_parallel()], 2, false),
            (&[one], 1, true),
        ] {
            assert_eq!(one_step_a_core(grid, cores), expected, "{grid:?} on {cores}");
        }
    }
}
