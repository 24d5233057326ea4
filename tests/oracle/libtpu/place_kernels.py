"""Kernels that leave a ref where it lies, to see whether it may lie there."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

from access_kernels import FLOAT, LANES, ROWS, kernel
from spaces import SPACES, annotated, argument, ref

SHAPE = (ROWS, LANES)
LOCAL = {"tc": "vmem", "sc_scalar_subcore": "smem", "sc_vector_subcore": "vmem"}


def operand(value: dict):
    """The kernel of an `operand_space` vector, with an input and an output.

    A mesh kernel's refs lie where their values do: it has no block specs.
    """
    is_input = value["role"] == "in"
    on_value = value["space"] if value["mesh"] else value["annotated"]
    result = jax.ShapeDtypeStruct(SHAPE, FLOAT)
    if not is_input and on_value is not None:
        result = ref(on_value, SHAPE, FLOAT)

    def body(*_):
        pass

    if value["mesh"]:
        run = kernel(value, body, [result], [])
    else:
        specs = [pl.BlockSpec(memory_space=SPACES[it]) for it in (value["space"], "hbm")]
        in_spec, out_spec = specs if is_input else reversed(specs)
        run = pl.pallas_call(
            body,
            in_specs=[in_spec],
            out_specs=[out_spec],
            out_shape=[result],
            compiler_params=pltpu.CompilerParams(has_side_effects=True),
        )
    on_input = on_value if is_input else None
    return lambda array: run(annotated(array, on_input)), [argument(SHAPE, FLOAT, on_input)]


def scratch(value: dict):
    """The kernel of a `scratch_space` vector; an untouched one would be left out."""
    space = value["space"]
    is_copied = space in ("hbm", "vmem_shared") or space == LOCAL[value["core"]]

    def body(result, place, semaphore):
        if is_copied:
            pltpu.async_copy(place, result, semaphore).wait()

    places = [ref(space, SHAPE, FLOAT), pltpu.SemaphoreType.DMA]
    return kernel(value, body, [jax.ShapeDtypeStruct(SHAPE, FLOAT)], places), []
