"""Kernels written from what a vector says, small and of nothing but copies.

A body must leave no declared thing unused, or it is optimised away, and must
use no vector registers, or the compiler may spill them into the very memory
that is being measured.  So a window is copied onto itself, and scratch is
filled from a partner in HBM and copied back.
"""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

SPACES = {
    None: None,
    "any": pl.ANY,
    "host": pl.HOST,
    "cmem": pltpu.CMEM,
    "hbm": pltpu.HBM,
    "smem": pltpu.SMEM,
    "vmem": pltpu.VMEM,
    "vmem_shared": pltpu.VMEM_SHARED,
}


def windows_and_scratch(value: dict, chip: str):
    """The kernel of a `vmem_fit` vector."""
    inputs = [operand for operand in value["operands"] if operand["role"] == "in"]
    outputs = [operand for operand in value["operands"] if operand["role"] == "out"]
    partners = [partner(scratch) for scratch in value["scratch"]]

    def body(*refs):
        *refs, semaphore = refs
        windows, partner_refs, more_windows, scratch = split(
            refs, len(inputs), len(partners), len(outputs), len(partners)
        )
        copies = [(window, window) for window in windows + more_windows]
        for partner_ref, ref in zip(partner_refs, scratch):
            if len(partner_ref.shape) > len(ref.shape):
                partner_ref = partner_ref.at[(0,) * (len(partner_ref.shape) - len(ref.shape))]
            copies += [(partner_ref, ref), (ref, partner_ref)]
        for source, target in copies:
            pltpu.make_async_copy(source, target, semaphore).start()
            pltpu.make_async_copy(source, target, semaphore).wait()

    axes = len(value["grid"])
    kernel = pl.pallas_call(
        body,
        grid=tuple(value["grid"]),
        in_specs=[block_spec(operand, axes) for operand in inputs]
        + [pl.BlockSpec(memory_space=pltpu.HBM) for _ in partners],
        out_specs=[block_spec(operand, axes) for operand in outputs],
        out_shape=[
            pltpu.HBM(tuple(operand["array_shape"]), jnp.dtype(operand["dtype"]))
            for operand in outputs
        ],
        scratch_shapes=[
            SPACES[scratch["space"]](tuple(scratch["shape"]), jnp.dtype(scratch["dtype"]))
            for scratch in value["scratch"]
        ]
        + [pltpu.SemaphoreType.DMA],
        compiler_params=pltpu.CompilerParams(has_side_effects=True),
    )
    arguments = [array(operand["array_shape"], operand["dtype"]) for operand in inputs] + partners
    return lambda *values: kernel(*(in_hbm(value, chip) for value in values)), arguments


def partner(scratch: dict):
    shape = tuple(scratch["shape"])
    if all(extent == 1 for extent in shape):
        shape = (2,) * max(1, 3 - len(shape)) + shape  # an array of one element costs VMEM
    return array(shape, scratch["dtype"])


def array(shape, dtype: str):
    return jax.ShapeDtypeStruct(tuple(shape), jnp.dtype(dtype))


def split(items: list, *lengths: int) -> list[list]:
    items = iter(items)
    return [[next(items) for _ in range(length)] for length in lengths]


def block_spec(operand: dict, axes: int) -> pl.BlockSpec:
    space = SPACES[operand["space"]]
    if operand["space"] in ("any", "hbm"):
        return pl.BlockSpec(memory_space=space)
    index_map = operand["index_map"]
    return pl.BlockSpec(
        tuple(operand["block_shape"]),
        lambda *indices: tuple(0 if axis is None else indices[axis] for axis in index_map),
        memory_space=space,
        pipeline_mode=operand["buffers"] and pl.Buffered(operand["buffers"]),
    )


def in_hbm(array, chip: str):
    """Keeps XLA from moving an operand into VMEM, where a window costs nothing."""
    if chip == "7x" and array.size == 1:
        return array  # 7x cannot compile the annotation there
    return pltpu.with_memory_space_constraint(array, pltpu.HBM)
