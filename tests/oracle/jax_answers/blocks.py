"""Which blocks JAX takes."""

from types import SimpleNamespace

import jax.numpy as jnp
from jax._src import core as jax_core
from jax._src.pallas import core as pallas_core
from jax._src.pallas.mosaic import lowering

import words
from outcome import each


def block_mapping(value: dict) -> bool:
    # Not a BlockMapping, which finds out about its window by itself.
    mapping = SimpleNamespace(
        array_aval=jax_core.ShapedArray(tuple(value["array_shape"]), jnp.dtype(value["dtype"])),
        block_shape=tuple(
            pallas_core.squeezed if extent is None else pallas_core.Blocked(extent)
            for extent in value["block_shape"]
        ),
        block_aval=SimpleNamespace(memory_space=words.space(value["space"])),
        has_trivial_window=lambda: value["trivial_window"],
        origin="the vector",
        index_map_jaxpr=None,
    )
    with words.on_chip(value["chip"]):
        lowering._check_block_mappings(
            (mapping,), None, SimpleNamespace(func_src_info=""), words.CoreType(value["core"])
        )
    return True


FUNCTIONS = {
    "block_mapping": each(
        block_mapping,
        {
            "BlockRankZero": (ValueError, "supports only blocks of rank >= 1"),
            "BlockedInAnyOrHbm": (ValueError, "supports in memory space ANY only blocks"),
            "BlockNotTileAligned": (ValueError, "the last two dimensions of your block shape"),
            "Rank1BlockInfeasible": (ValueError, "requires that rank 1 block shapes"),
        },
    ),
}
