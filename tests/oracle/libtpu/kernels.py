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


WITHOUT_WINDOW = ("any", "hbm")


def windows_and_scratch(value: dict):
    """The kernel of a `vmem_fit` vector."""
    inputs = [operand for operand in value["operands"] if operand["role"] == "in"]
    outputs = [operand for operand in value["operands"] if operand["role"] == "out"]
    scratches = value["scratch"]

    def body(*refs):
        *refs, semaphore = refs
        windows, partners, scratch = split(
            refs, len(inputs) + len(outputs), len(scratches), len(scratches)
        )
        copies = [
            (ref, ref)
            for operand, ref in zip(inputs + outputs, windows)
            if operand["space"] not in WITHOUT_WINDOW
        ]
        for partner, ref in zip(partners, scratch):
            copies += [(partner, ref), (ref, partner)]
        for source, target in copies:
            pltpu.make_async_copy(source, target, semaphore).start()
            pltpu.make_async_copy(source, target, semaphore).wait()

    axes = len(value["grid"])
    kernel = pl.pallas_call(
        body,
        grid=tuple(value["grid"]),
        in_specs=[block_spec(operand, axes) for operand in inputs],
        out_specs=[block_spec(operand, axes) for operand in outputs]
        + [pl.BlockSpec(memory_space=pltpu.HBM) for _ in scratches],
        out_shape=[
            array(operand["array_shape"], operand["dtype"]) for operand in outputs
        ]
        + [array(scratch["shape"], scratch["dtype"]) for scratch in scratches],
        scratch_shapes=[
            SPACES[scratch["space"]](tuple(scratch["shape"]), jnp.dtype(scratch["dtype"]))
            for scratch in scratches
        ]
        + [pltpu.SemaphoreType.DMA],
        compiler_params=pltpu.CompilerParams(has_side_effects=True),
    )
    arguments = [array(operand["array_shape"], operand["dtype"]) for operand in inputs]
    return kernel, arguments


def array(shape: list[int], dtype: str):
    return jax.ShapeDtypeStruct(tuple(shape), jnp.dtype(dtype))


def split(items: list, *lengths: int) -> list[list]:
    items = iter(items)
    return [[next(items) for _ in range(length)] for length in lengths]


def block_spec(operand: dict, axes: int) -> pl.BlockSpec:
    space = SPACES[operand["space"]]
    if operand["space"] in WITHOUT_WINDOW:
        return pl.BlockSpec(memory_space=space)
    index_map = operand["index_map"]
    return pl.BlockSpec(
        tuple(operand["block_shape"]),
        lambda *indices: tuple(0 if axis is None else indices[axis] for axis in index_map),
        memory_space=space,
        pipeline_mode=operand["buffers"] and pl.Buffered(operand["buffers"]),
    )
