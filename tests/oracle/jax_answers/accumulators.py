"""The MXU's accumulators: which may be declared, and where they are put."""

from types import SimpleNamespace

import jax.numpy as jnp
from jax._src import tpu_info
from jax._src.pallas.mosaic import core as tpu_core
from jax._src.pallas.mosaic import lowering

import words
from outcome import each, outcome


def accumulator(value: dict) -> bool:
    with words.on_chip(value["chip"]):
        declare(value["mxu_id"], value["shape"], value["dtype"])
    return True


def accumulator_alloc(value: dict) -> list[dict]:
    # All that the allocator keeps between two allocations.
    kernel = SimpleNamespace(accumulator_offsets=None)

    def allocate(request: dict) -> dict:
        shape = (request["rows"], tpu_info.get_tpu_info().mxu_column_size)
        ref = declare(request["mxu_id"], shape, "float32").get_ref_aval()
        placed = lowering.LoweringContext.alloc_accumulator(kernel, ref)
        return {"base_address": placed.base_address}

    with words.on_chip(value["chip"]):
        return [outcome(lambda: allocate(request), ERRORS) for request in value["allocs"]]


def declare(mxu_id: int, shape: list[int], dtype: str):
    return tpu_core.AccMemorySpace(mxu_id)(shape, jnp.dtype(dtype))


ERRORS = {
    "AccumulatorRank": (ValueError, "must be at least 2D"),
    "AccumulatorDtype": (ValueError, "dtype must be float32 or int32"),
    "NoAccumulators": (ValueError, "Accumulators are not available"),
    "MxuIdOutOfRange": (ValueError, "mxu_id must be in"),
    "AccumulatorMinorDim": (ValueError, "minor dimension size of an accumulator"),
    "AccumulatorMajorDims": (ValueError, "product of the major dimensions"),
    "AccumulatorOverflow": (ValueError, "Accumulator space overflow"),
}

FUNCTIONS = {
    "accumulator": each(accumulator, ERRORS),
    "accumulator_alloc": each(accumulator_alloc, {}),
}
