//! What the kernel is for: chip, core type, mesh.

use crate::check::Form;
use crate::chip::ChipFacts;
use crate::core_type::CoreType;
use crate::kernel::description::{Kernel, Mesh, OnChip};
use crate::kernel::fault::KernelFault;
use crate::kernel::place::Place;
use crate::kernel::report::Diagnostics;
use crate::kernel::spelled::Spelled;
use crate::mesh::{CoresOf, MeshError};
use crate::resolve::CallSite;

/// What a kernel is for, as far as it is known.
#[derive(Clone, Copy)]
pub(super) struct Target<'k> {
    pub(super) core_type: Option<CoreType>,
    pub(super) form: Form,
    /// The chip, when it has such cores; where it hasn't, that is the fault, and
    /// nothing more is asked of the chip.
    pub(super) chip: Option<&'k ChipFacts>,
}

impl<'k> Target<'k> {
    pub(super) fn of(kernel: &'k Kernel, diagnostics: &mut Diagnostics) -> Self {
        if let Some(OnChip::Word(Spelled::Unknown(fault))) = &kernel.chip {
            diagnostics.push(fault, Place::list("chip"));
        }
        let form = if kernel.mesh.is_none() { Form::Pipelined } else { Form::Unpipelined };
        let chip = kernel.chip.as_ref().and_then(OnChip::facts);
        let mut target = Self { core_type: None, form, chip };
        if let Some(core_type) = &kernel.core_type {
            target.core_type(core_type, diagnostics);
        }
        if let Some(mesh) = &kernel.mesh {
            if kernel.core_type.is_some() {
                diagnostics.push(&KernelFault::CoreTypeAndMesh, Place::list("mesh"));
            }
            target.mesh(mesh, diagnostics);
        }
        target
    }

    /// Who meets the kernel's refs. On a mesh a missing space has become the mesh's
    /// own by the time that it is lowered (JAX: `default_memory_space`): any on a
    /// TensorCore, hbm on a SparseCore, whose compiler takes no any.
    pub(super) const fn call_site(self) -> CallSite {
        match self.form {
            Form::Pipelined => CallSite::BlockSpec,
            Form::Unpipelined => CallSite::Other,
        }
    }

    fn core_type(&mut self, core_type: &Spelled<CoreType>, diagnostics: &mut Diagnostics) {
        let place = Place::list("core_type");
        match core_type {
            Spelled::Unknown(fault) => diagnostics.push(fault, place),
            Spelled::Known(core_type) => {
                self.core_type = Some(*core_type);
                match self.form {
                    Form::Pipelined => self.require_core(*core_type, place, diagnostics),
                    Form::Unpipelined => {} // the mesh asks
                }
            }
        }
    }

    fn require_core(&mut self, core_type: CoreType, place: Place, diagnostics: &mut Diagnostics) {
        if let Some(Err(fault)) = self.chip.map(|chip| chip.require_core(core_type)) {
            diagnostics.push(&fault, place);
            self.chip = None;
        }
    }

    fn mesh(&mut self, mesh: &Mesh, diagnostics: &mut Diagnostics) {
        let place = Place::list("mesh");
        match &mesh.core_type {
            Spelled::Unknown(fault) => diagnostics.push(fault, place.field("core_type")),
            Spelled::Known(core_type) => {
                self.core_type = Some(*core_type);
                let Err(fault) = mesh.check(*core_type, self.chip) else { return };
                match fault {
                    MeshError::NoSparseCores(_) => {
                        self.require_core(*core_type, place, diagnostics);
                    }
                    MeshError::TooManyCores { of, .. } | MeshError::WithoutCores { of, .. } => {
                        diagnostics.push(&fault, place.field(Mesh::field_of(of)));
                    }
                }
            }
        }
    }
}

impl Mesh {
    /// Whether the mesh can be built on the chip; without one, on any.
    fn check(&self, core_type: CoreType, chip: Option<&ChipFacts>) -> Result<(), MeshError> {
        let (axis, cores) = (self.core_axis.as_str(), self.num_cores);
        let Some(chip) = chip else { return self.check_counts(core_type) };
        match core_type {
            CoreType::Tc => crate::Mesh::tensor_core(axis, cores, chip)?,
            CoreType::ScScalarSubcore => crate::Mesh::scalar_subcore(axis, cores, chip)?,
            CoreType::ScVectorSubcore => {
                let subcores = self.num_subcores;
                crate::Mesh::vector_subcore(axis, &self.subcore_axis, cores, subcores, chip)?
            }
        };
        Ok(())
    }

    fn check_counts(&self, core_type: CoreType) -> Result<(), MeshError> {
        let cores_of = match core_type {
            CoreType::Tc => CoresOf::TensorCores,
            CoreType::ScScalarSubcore | CoreType::ScVectorSubcore => CoresOf::SparseCores,
        };
        for (of, count) in
            [(cores_of, self.num_cores), (CoresOf::VectorSubcores, self.num_subcores)]
        {
            match count {
                Some(asked) if asked < 1 => return Err(MeshError::WithoutCores { of, asked }),
                Some(_) | None => {}
            }
        }
        Ok(())
    }

    const fn field_of(of: CoresOf) -> &'static str {
        match of {
            CoresOf::TensorCores | CoresOf::SparseCores => "num_cores",
            CoresOf::VectorSubcores => "num_subcores",
        }
    }
}
