//! Meshes of cores.

use crate::line::Word;
use mosaic_memspace::custom_call::DimensionSemantics;
use mosaic_memspace::error::{Code, Fault};
use mosaic_memspace::{Chip, ChipFacts, CoreMemorySpace, CoreType, MemorySpace, Mesh, MeshFault};
use serde::{Deserialize, Serialize};

#[derive(Deserialize)]
#[serde(tag = "core_type", rename_all = "snake_case", deny_unknown_fields)]
enum Described {
    Tc {
        axis: String,
        num_cores: Option<i64>,
    },
    ScScalarSubcore {
        axis: String,
        num_cores: Option<i64>,
    },
    ScVectorSubcore {
        core_axis: String,
        subcore_axis: String,
        num_cores: Option<i64>,
        num_subcores: Option<i64>,
    },
}

impl Described {
    fn on(&self, chip: &ChipFacts) -> Result<Mesh<'_>, MeshFault> {
        match self {
            Self::Tc { axis, num_cores } => Mesh::tensor_core(axis, *num_cores, chip),
            Self::ScScalarSubcore { axis, num_cores } => {
                Mesh::scalar_subcore(axis, *num_cores, chip)
            }
            Self::ScVectorSubcore { core_axis, subcore_axis, num_cores, num_subcores } => {
                Mesh::vector_subcore(core_axis, subcore_axis, *num_cores, *num_subcores, chip)
            }
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OnChip {
    chip: Word<Chip>,
    mesh: Described,
}

#[derive(Serialize)]
pub(crate) struct Made {
    shape: Vec<(String, u64)>,
    /// A TensorCore mesh of JAX's has none.
    size: Option<u64>,
    dimension_semantics: Vec<Word<DimensionSemantics>>,
    default_memory_space: Word<MemorySpace>,
}

pub(crate) fn mesh_new(asked: OnChip) -> Result<Made, Code> {
    let mesh = asked.mesh.on(asked.chip.0.facts()).map_err(|fault| fault.code())?;
    let axes = mesh.jax_shape();
    Ok(Made {
        shape: axes.iter().map(|axis| (axis.name.to_owned(), axis.extent)).collect(),
        size: mesh.core_type().is_sparse_core().then(|| mesh.size()),
        dimension_semantics: mesh.dimension_semantics().iter().copied().map(Word).collect(),
        default_memory_space: Word(mesh.default_memory_space()),
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Two {
    chip: Word<Chip>,
    a: Described,
    b: Described,
}

pub(crate) fn mesh_compatible(asked: Two) -> Result<bool, Code> {
    let facts = asked.chip.0.facts();
    let a = asked.a.on(facts).map_err(|fault| fault.code())?;
    let b = asked.b.on(facts).map_err(|fault| fault.code())?;
    a.check_is_compatible_with(&b).map(|()| true).map_err(|fault| fault.code())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Owned {
    core: Word<CoreType>,
    space: Word<MemorySpace>,
}

pub(crate) fn mesh_memory_space(asked: Owned) -> Result<Word<CoreMemorySpace>, Code> {
    let chip = Chip::Tpu7x.facts(); // has all three cores
    let mesh = match asked.core.0 {
        CoreType::Tc => Mesh::tensor_core("x", None, chip),
        CoreType::ScScalarSubcore => Mesh::scalar_subcore("x", None, chip),
        CoreType::ScVectorSubcore => Mesh::vector_subcore("x", "y", None, None, chip),
    };
    let mesh = mesh.map_err(|fault| fault.code())?;
    mesh.tag(asked.space.0).map(Word).map_err(|fault| fault.code())
}
