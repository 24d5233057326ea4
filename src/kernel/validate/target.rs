//! What the kernel is for: chip, core type, mesh.

use crate::chip::ChipFacts;
use crate::core_type::CoreType;
use crate::custom_call::DimensionSemantics;
use crate::kernel::description::{Kernel, MeshSpec, OnChip};
use crate::kernel::fault::KernelFault;
use crate::kernel::place::Place;
use crate::kernel::report::{Diagnostic, Diagnostics};
use crate::mesh::{CoresOf, MeshFault, at_least_one};
use crate::operand::Form;
use crate::resolve::CallSite;
use crate::word::Spelled;

/// What a kernel is for, as far as it is known.
#[derive(Clone, Copy)]
pub(super) struct Target<'k> {
    pub(super) core_type: Option<CoreType>,
    pub(super) form: Form,
    /// The chip, when it has such cores.
    pub(super) chip: Option<&'k ChipFacts>,
    /// Whether the chip has none: that is the fault, and nothing more is asked of
    /// the chip, nor where refs lie in a core that is not there.
    pub(super) lacks_core: bool,
    /// The cores of the mesh, as far as they are known.
    pub(super) mesh_cores: Option<u32>,
}

impl<'k> Target<'k> {
    pub(super) fn of(kernel: &'k Kernel, diagnostics: &mut Diagnostics) -> Self {
        if let Some(OnChip::Word(Spelled::Unknown(fault))) = &kernel.chip {
            diagnostics.push(Diagnostic::new(fault.clone(), Place::list("chip")));
        }
        let form = if kernel.mesh.is_none() { Form::Pipelined } else { Form::Unpipelined };
        let chip = kernel.chip.as_ref().and_then(OnChip::facts);
        let mut target = Self { core_type: None, form, chip, lacks_core: false, mesh_cores: None };
        if let Some(core_type) = &kernel.core_type {
            target.core_type(core_type, diagnostics);
        }
        if let Some(mesh) = &kernel.mesh {
            if kernel.core_type.is_some() {
                diagnostics
                    .push(Diagnostic::new(KernelFault::CoreTypeAndMesh, Place::list("mesh")));
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
            Spelled::Unknown(fault) => diagnostics.push(Diagnostic::new(fault.clone(), place)),
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
            diagnostics.push(Diagnostic::new(fault, place));
            self.chip = None;
            self.lacks_core = true;
        }
    }

    fn mesh(&mut self, mesh: &MeshSpec, diagnostics: &mut Diagnostics) {
        let place = Place::list("mesh");
        match &mesh.core_type {
            Spelled::Unknown(fault) => {
                diagnostics.push(Diagnostic::new(fault.clone(), place.field("core_type")));
            }
            Spelled::Known(core_type) => {
                self.core_type = Some(*core_type);
                for fault in mesh.faults(*core_type, self.chip) {
                    let place = place.clone();
                    match fault {
                        MeshFault::NoSparseCores(_) => {
                            self.require_core(*core_type, place, diagnostics);
                        }
                        MeshFault::TooManyCores { of, .. } | MeshFault::WithoutCores { of, .. } => {
                            diagnostics
                                .push(Diagnostic::new(fault, place.field(MeshSpec::field_of(of))));
                        }
                    }
                }
                if let Some(name) = mesh.name_of_both_axes() {
                    let fault = KernelFault::MeshAxesOfOneName { name };
                    diagnostics.push(Diagnostic::new(fault, place.field("subcore_axis")));
                }
                self.mesh_cores = mesh.core_count(*core_type, self.chip);
            }
        }
    }
}

impl MeshSpec {
    /// Why the mesh cannot be built on the chip, or without one on any: of each of its
    /// axes.
    fn faults(&self, core_type: CoreType, chip: Option<&ChipFacts>) -> Vec<MeshFault> {
        let mut faults = Vec::new();
        for (cores, subcores) in [(self.num_cores, None), (None, self.num_subcores)] {
            let fault = match chip {
                Some(chip) => self.on(core_type, cores, subcores, chip).err(),
                None => without_chip(core_type, cores, subcores),
            };
            match fault {
                Some(fault) if !faults.contains(&fault) => faults.push(fault),
                Some(_) | None => {}
            }
        }
        faults
    }

    fn on<'m>(
        &'m self,
        core_type: CoreType,
        cores: Option<i64>,
        subcores: Option<i64>,
        chip: &ChipFacts,
    ) -> Result<crate::Mesh<'m>, MeshFault> {
        let axis = self.core_axis.as_str();
        match core_type {
            CoreType::Tc => crate::Mesh::tensor_core(axis, cores, chip),
            CoreType::ScScalarSubcore => crate::Mesh::scalar_subcore(axis, cores, chip),
            CoreType::ScVectorSubcore => {
                crate::Mesh::vector_subcore(axis, &self.subcore_axis, cores, subcores, chip)
            }
        }
    }

    /// The extents of its axes, each as asked, else the chip's; `None` where neither
    /// says one.
    pub(in crate::kernel) fn extents(
        &self,
        core_type: CoreType,
        chip: Option<&ChipFacts>,
    ) -> Option<Vec<u64>> {
        if let Some(chip) = chip {
            let mesh = self.on(core_type, self.num_cores, self.num_subcores, chip).ok()?.shape();
            let axes = [Some(mesh.core), mesh.subcore].into_iter().flatten();
            return Some(axes.map(|axis| axis.extent).collect());
        }
        let asked = [self.num_cores, self.num_subcores].into_iter();
        let axes = DimensionSemantics::of_mesh(core_type);
        asked.take(axes.len()).map(|count| u64::try_from(count?).ok()).collect()
    }

    /// How many it has: as asked, else the chip's.
    fn core_count(&self, core_type: CoreType, chip: Option<&ChipFacts>) -> Option<u32> {
        let of_chip = || self.on(core_type, None, None, chip?).ok();
        let asked = self.num_cores.map(|asked| u64::try_from(asked).unwrap_or(0));
        let cores = asked.or_else(|| of_chip().map(|mesh| mesh.shape().core.extent));
        cores.map(|cores| u32::try_from(cores).unwrap_or(u32::MAX))
    }

    /// JAX keeps a mesh's axes by name: of two alike it loses one, and then refuses the
    /// kernel for an axis without semantics.
    fn name_of_both_axes(&self) -> Option<Box<str>> {
        let alike = !self.core_axis.is_empty() && self.core_axis == self.subcore_axis;
        alike.then(|| self.core_axis.as_str().into())
    }

    const fn field_of(of: CoresOf) -> &'static str {
        match of {
            CoresOf::TensorCores | CoresOf::SparseCores => "num_cores",
            CoresOf::VectorSubcores => "num_subcores",
        }
    }
}

fn without_chip(
    core_type: CoreType,
    cores: Option<i64>,
    subcores: Option<i64>,
) -> Option<MeshFault> {
    let cores_of =
        if core_type.is_sparse_core() { CoresOf::SparseCores } else { CoresOf::TensorCores };
    let counts = [(cores_of, cores), (CoresOf::VectorSubcores, subcores)];
    counts.into_iter().find_map(|(of, count)| match count {
        Some(asked) => at_least_one(asked, of).err(),
        None => None,
    })
}
