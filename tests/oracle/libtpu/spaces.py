"""The vectors' words for memory spaces, and what JAX has for them."""

from jax._src import core as jax_core
from jax._src.pallas import core as pallas_core
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
