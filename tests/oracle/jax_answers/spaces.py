"""Where JAX puts what the author wrote, and how it prints that for Mosaic."""

from jax._src.interpreters import mlir
from jax._src.lib import tpu
from jax._src.lib.mlir import ir
from jax._src.pallas.mosaic import core as tpu_core
from jax._src.pallas.mosaic import lowering

import words
from outcome import each


def resolve(value: dict) -> str:
    return words.space_word(
        tpu_core.memory_space_to_tpu_memory_space(
            words.space(value["space"]), words.CoreType(value["core"])
        )
    )


def mosaic_attribute(value: dict) -> str:
    with context:
        return str(
            lowering._memory_space_to_mosaic_attribute(
                words.space(value["space"]), words.CoreType(value["core"])
            )
        )


context = mlir.make_ir_context()
tpu.register_dialect(context)

FUNCTIONS = {
    "resolve": each(resolve, {}),
    "mosaic_attribute": each(
        mosaic_attribute,
        {
            "InvalidMemorySpace": (NotImplementedError, "Invalid memory space"),
            "NotOwnableByCore": (ir.MLIRError, "cannot be owned by"),
        },
    ),
}
