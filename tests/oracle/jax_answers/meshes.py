"""JAX's meshes of cores: making them, using two at once, the spaces they own."""

from jax._src.pallas import core as pallas_core
from jax._src.pallas.mosaic import core as tpu_core
from jax._src.pallas.mosaic import sc_core

import words
from outcome import each

MESHES = {
    "tc": tpu_core.TensorCoreMesh,
    "sc_scalar_subcore": sc_core.ScalarSubcoreMesh,
    "sc_vector_subcore": sc_core.VectorSubcoreMesh,
}

ARGUMENTS = {
    "axis": "axis_name",
    "core_axis": "core_axis_name",
    "subcore_axis": "subcore_axis_name",
    "num_cores": "num_cores",
    "num_subcores": "num_subcores",
}


def mesh_new(value: dict) -> dict:
    with words.on_chip(value["chip"]):
        made = mesh(value["mesh"])
    return {
        "shape": [list(axis) for axis in made.shape.items()],
        "size": getattr(made, "size", None),  # a TensorCore mesh has none
        "dimension_semantics": [semantics.value for semantics in made.dimension_semantics],
        "default_memory_space": words.space_word(made.default_memory_space),
    }


def mesh_compatible(value: dict) -> bool:
    with words.on_chip(value["chip"]):
        return mesh(value["a"]).check_is_compatible_with(mesh(value["b"]))


def mesh_memory_space(value: dict) -> str:
    owner = words.any_mesh(words.CoreType(value["core"]))
    return str(pallas_core.CoreMemorySpace(words.space(value["space"]), owner))


def mesh(value: dict):
    kind = MESHES[value["core_type"]]
    return kind(**{ARGUMENTS[key]: value[key] for key in value if key != "core_type"})


NEW_ERRORS = {
    "NoSparseCores": (RuntimeError, "does not have SparseCores"),
    "TooManyCores": (ValueError, "but the current TPU chip has"),
}

FUNCTIONS = {
    "mesh_new": each(mesh_new, NEW_ERRORS),
    "mesh_compatible": each(
        mesh_compatible,
        NEW_ERRORS
        | {
            "TwoTensorCoreMeshes": (ValueError, "two different TensorCoreMeshes"),
            "TwoScalarSubcoreMeshes": (ValueError, "two different ScalarSubcoreMeshes"),
            "TwoVectorSubcoreMeshes": (ValueError, "two different VectorSubcoreMeshes"),
            "SparseCoreMeshMismatch": (ValueError, "should have the same core axis name"),
            "MeshAxisNameClash": (ValueError, "axis name from the TensorCoreMesh"),
            "IncompatibleMeshes": (ValueError, "is not compatible with"),
        },
    ),
    "mesh_memory_space": each(
        mesh_memory_space,
        {"MemorySpaceNotSupportedByMesh": (ValueError, "is not supported by mesh")},
    ),
}
