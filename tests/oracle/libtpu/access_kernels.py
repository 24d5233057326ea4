"""Kernels of one load, store or copy, to see whether a core may do it."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu
from jax.experimental.pallas import tpu_sc as plsc

from spaces import annotated, argument, ref

FLOAT = jnp.dtype("float32")

OF_OPERANDS = ("any", "hbm", "host")

ROWS, LANES = 8, 128
MANY_ROWS = 64


def access(value: dict):
    """The kernel of an `access` vector.

    What a load gives is stored where such a store is allowed: a scalar in smem,
    a vector in vmem.
    """
    shape = (ROWS, LANES)
    if value["core"] != "tc":
        shape = (plsc.get_sparse_core_info().num_lanes,)
    scalar = value["shape"] == "scalar"
    where = (0,) * len(shape) if scalar else ...

    def load(_, place, result):
        result[0 if scalar else ...] = place[where]

    def store(_, place):
        place[where] = jnp.float32(1) if scalar else jnp.full(shape, 1, FLOAT)

    scratch = [ref(value["space"], shape, FLOAT)]
    if value["op"] == "load":
        scratch.append(ref("smem", (1,), FLOAT) if scalar else ref("vmem", shape, FLOAT))
    return kernel(value, {"load": load, "store": store}[value["op"]], [jax.ShapeDtypeStruct(shape, FLOAT)], scratch), []


def copy(value: dict):
    """The kernel of a `dma` vector: what an operand can lie in is an argument or a
    result, the rest scratch."""
    few, many = (ROWS, LANES), (MANY_ROWS, LANES)
    gather, scatter = value["mode"] == "gather", value["mode"] == "scatter"
    from_operand, to_operand = value["src"] in OF_OPERANDS, value["dst"] in OF_OPERANDS
    from_shape, to_shape = many if gather else few, many if scatter else few

    def body(*refs):
        refs = list(refs)
        semaphore = refs.pop()
        indices = refs.pop() if gather or scatter else None
        argument = refs.pop(0) if from_operand else None
        result = refs.pop(0)
        source = argument if from_operand else refs.pop(0)
        target = result if to_operand else refs.pop(0)
        pltpu.async_copy(
            source.at[indices] if gather else source,
            target.at[indices] if scatter else target,
            semaphore,
            add=value["add"],
        ).wait()

    scratch = []
    if not from_operand:
        scratch.append(ref(value["src"], from_shape, FLOAT))
    if not to_operand:
        scratch.append(ref(value["dst"], to_shape, FLOAT))
    if gather or scatter:
        scratch.append(ref("vmem", (ROWS,), jnp.dtype("int32")))
    scratch.append(pltpu.SemaphoreType.DMA)
    result = ref(value["dst"] if to_operand else "hbm", to_shape, FLOAT)
    run = kernel(value, body, [result], scratch)
    if not from_operand:
        return run, []
    return lambda array: run(annotated(array, value["src"])), [
        argument(from_shape, FLOAT, value["src"])
    ]


def kernel(value: dict, body, results: list, scratch: list):
    return pl.kernel(
        body,
        out_type=results,
        mesh=mesh(value["core"]),
        scratch_types=scratch,
        compiler_params=pltpu.CompilerParams(has_side_effects=True),
    )


def mesh(core: str):
    match core:
        case "tc":
            return pltpu.TensorCoreMesh(axis_name="core", num_cores=1)
        case "sc_scalar_subcore":
            return plsc.ScalarSubcoreMesh(axis_name="core", num_cores=1)
        case "sc_vector_subcore":
            return plsc.VectorSubcoreMesh(
                core_axis_name="core", subcore_axis_name="subcore", num_cores=1
            )
