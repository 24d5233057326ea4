"""The vectors' words for memory spaces, and what JAX has for them."""

import jax
from jax._src import core as jax_core
from jax._src.pallas import core as pallas_core
from jax._src.state import primitives
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

SPACES = {
    None: None,
    "default": pallas_core.MemorySpace.DEFAULT,
    "any": pl.ANY,
    "host": pl.HOST,
    "cmem": pltpu.CMEM,
    "hbm": pltpu.HBM,
    "semaphore_mem": pltpu.MemorySpace.SEMAPHORE,
    "smem": pltpu.SMEM,
    "vmem": pltpu.VMEM,
    "vmem_shared": pltpu.VMEM_SHARED,
}


def ref(space: str, shape: tuple[int, ...], dtype) -> pallas_core.MemoryRef:
    """A ref to allocate: not every space can be called for one."""
    return pallas_core.MemoryRef(jax_core.ShapedArray(shape, dtype), SPACES[space])


class InHost(jax.ShapeDtypeStruct):
    """An argument that is in the host's memory when the program begins."""


def argument(shape: tuple[int, ...], dtype, space: str | None) -> jax.ShapeDtypeStruct:
    return (InHost if space == "host" else jax.ShapeDtypeStruct)(shape, dtype)


def annotated(array, space: str | None):
    """The value with a memory space of its own; Pallas lets no one write `any`."""
    if space is None:
        return array
    return primitives.with_memory_space_constraint(array, SPACES[space])
