"""The vectors' words and the JAX objects they stand for."""

import functools
import re

import jax
from jax._src import core as jax_core
from jax._src.mesh import AbstractDevice, AbstractMesh
from jax._src.pallas import core as pallas_core
from jax._src.pallas.mosaic import core as tpu_core
from jax._src.pallas.mosaic import sc_core
from jax._src.tpu_info import chip_version_from_device_kind

CoreType = tpu_core.CoreType

DEVICE_KINDS = {
    str(chip_version_from_device_kind(kind)): kind
    for kind in (
        "TPU v2",
        "TPU v3",
        "TPU v4 lite",
        "TPU v4",
        "TPU v5e",
        "TPU v5p",
        "TPU v6e",
        "TPU7",
        "TPU7x",
        "TPU8i",
        "TPU8t",
    )
}

UNTAGGED_SPACES = {
    "host": jax_core.MemorySpace.Host,
    **{space.value: space for space in (*pallas_core.MemorySpace, *tpu_core.MemorySpace)},
}


def on_chip(chip: str):
    """A context in which JAX believes to be on that chip, with one TensorCore."""
    device = AbstractDevice(device_kind=DEVICE_KINDS[chip], num_cores=1, platform="tpu")
    return jax.sharding.use_abstract_mesh(AbstractMesh((1,), ("x",), abstract_device=device))


def space(word: str | None):
    if word is None:
        return None
    if accumulator := re.fullmatch(r"acc\((\d+)\)", word):
        return tpu_core.AccMemorySpace(int(accumulator[1]))
    name, at, owner = word.partition("@")
    if at:
        return pallas_core.CoreMemorySpace(UNTAGGED_SPACES[name], any_mesh(CoreType(owner)))
    return UNTAGGED_SPACES[name]


def space_word(space) -> str:
    match space:
        case tpu_core.AccMemorySpace():
            return f"acc({space.mxu_id})"
        case jax_core.MemorySpace.Host:
            return "host"
    return str(space)


@functools.cache
def any_mesh(core_type: CoreType):
    """For what only asks a mesh's core type: of one core, on a chip that has all three."""
    with on_chip("7x"):
        match core_type:
            case CoreType.TC:
                return tpu_core.TensorCoreMesh(axis_name="x", num_cores=1)
            case CoreType.SC_SCALAR_SUBCORE:
                return sc_core.ScalarSubcoreMesh(axis_name="x", num_cores=1)
            case CoreType.SC_VECTOR_SUBCORE:
                return sc_core.VectorSubcoreMesh(
                    core_axis_name="x", subcore_axis_name="y", num_cores=1, num_subcores=1
                )
