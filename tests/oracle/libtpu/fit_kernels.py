"""Kernels that measure memory: small, and of nothing but copies.

A body must leave no declared thing unused, or it is optimized away, and must
use no vector registers, or the compiler may spill them into the very memory
that is being measured.  So a window is copied onto itself, and scratch is
filled from a partner in HBM and copied back.  Operands in any and hbm are left
alone: there the compiler adds to an argument of one element what it costs in
VMEM, if it is touched.
"""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu
from jax.experimental.pallas import tpu_sc as plsc

from spaces import SPACES, ref

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
        for operand, window in zip(inputs + outputs, windows):
            if operand["space"] not in WITHOUT_WINDOW:
                copy(window, window, semaphore)
        for partner, place in zip(partners, scratch):
            copy(partner, place, semaphore)
            copy(place, partner, semaphore)

    axes = len(value["grid"])
    kernel = pl.pallas_call(
        body,
        grid=tuple(value["grid"]),
        in_specs=[block_spec(operand, axes) for operand in inputs],
        out_specs=[block_spec(operand, axes) for operand in outputs]
        + [pl.BlockSpec(memory_space=pltpu.HBM) for _ in scratches],
        out_shape=[array(operand["array_shape"], operand["dtype"]) for operand in outputs]
        + [array(scratch["shape"], scratch["dtype"]) for scratch in scratches],
        scratch_shapes=[
            ref(scratch["space"], tuple(scratch["shape"]), jnp.dtype(scratch["dtype"]))
            for scratch in scratches
        ]
        + [pltpu.SemaphoreType.DMA],
        compiler_params=pltpu.CompilerParams(has_side_effects=True),
    )
    return kernel, [array(operand["array_shape"], operand["dtype"]) for operand in inputs]


def smem_operand(value: dict):
    """The kernel of a `smem_operand_bytes` vector."""

    def body(operand, _, semaphore):
        copy(operand, operand, semaphore)

    kernel = pl.pallas_call(
        body,
        in_specs=[pl.BlockSpec(memory_space=pltpu.SMEM)],
        out_specs=pl.BlockSpec(memory_space=pltpu.HBM),
        out_shape=array([8, 128], "float32"),
        scratch_shapes=[pltpu.SemaphoreType.DMA],
        compiler_params=pltpu.CompilerParams(has_side_effects=True),
    )
    return kernel, [array(value["shape"], value["dtype"])]


def sparse_core_scratch(value: dict):
    """The kernel of a `sparse_core_pool` vector."""
    sizes = {"vmem": value["vmem_bytes_per_subcore"], "vmem_shared": value["vmem_shared_bytes"]}
    shapes = {space: (size // 4,) for space, size in sizes.items() if size}

    def body(*refs):
        *refs, semaphore = refs
        partners, scratch = split(refs, len(shapes), len(shapes))
        for partner, place in zip(partners, scratch):
            copy(partner, place, semaphore)
            copy(place, partner, semaphore)

    kernel = pl.kernel(
        body,
        out_type=[array(shape, "int32") for shape in shapes.values()],
        mesh=plsc.VectorSubcoreMesh(core_axis_name="core", subcore_axis_name="subcore"),
        scratch_types=[ref(space, shape, jnp.dtype("int32")) for space, shape in shapes.items()]
        + [pltpu.SemaphoreType.DMA],
        compiler_params=pltpu.CompilerParams(has_side_effects=True),
    )
    return kernel, []


def copy(source, target, semaphore) -> None:
    pltpu.async_copy(source, target, semaphore).wait()


def array(shape, dtype: str) -> jax.ShapeDtypeStruct:
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
