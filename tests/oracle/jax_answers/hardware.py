"""What JAX knows of element types and chips, and how it tiles on them."""

import dataclasses

import jax
import jax.numpy as jnp
from jax._src import core as jax_core
from jax._src import dtypes
from jax._src import tpu_info as info
from jax._src.interpreters import mlir
from jax._src.lib.mlir import ir
from jax._src.pallas.mosaic import lowering, sc_core

import words
from outcome import each


def dtype(value: dict) -> dict:
    named = jnp.dtype(value["dtype"])
    with mlir.make_ir_context(), ir.Location.unknown():
        mosaic = str(lowering._dtype_to_ir_type(named, is_kernel_boundary=True))
    bits = dtypes.itemsize_bits(named)
    return {"bits": bits, "itemsize_bytes": named.itemsize, "mosaic": mosaic}


def matmul_pairs(value: dict) -> list[list[str]]:
    """Of left and right operands, in the order of their words."""
    named = sorted(str(jnp.dtype(kind)) for kind in dtypes._jax_types)
    # Else JAX takes a 64-bit type to be the 32-bit one.
    with jax.enable_x64(True), words.on_chip(value["chip"]):
        supported = info.get_tpu_info().is_matmul_supported
        return [[lhs, rhs] for lhs in named for rhs in named if supported(lhs, rhs)]


def device_kind(value: dict) -> str | None:
    chip = info.chip_version_from_device_kind(value["device_kind"])
    return None if chip is None else str(chip)


def tpu_info(value: dict) -> dict:
    chip = info.get_tpu_info_for_chip(info.ChipVersion(value["chip"]), value["num_cores"])
    figures = dataclasses.asdict(chip)
    del figures["chip_version"]
    sparse_core = figures.pop("sparse_core")
    properties = ("is_lite", "is_split_chip", "is_megacore")
    figures |= {name: getattr(chip, name) for name in properties}
    return figures | {"sparse_core": sparse_core}


def sublane_tiling(value: dict) -> int:
    with words.on_chip(value["chip"]):
        return info.get_tpu_info().get_sublane_tiling(jnp.dtype(value["dtype"]))


def infer_tiling(value: dict) -> list[int]:
    tiling = value["tiling"] and info.Tiling[value["tiling"].upper()]
    array = jax_core.ShapedArray(tuple(value["shape"]), jnp.dtype(value["dtype"]))
    if array.dtype.itemsize > 4:
        raise NotImplementedError("JAX doubles a tile of 0 for ever")
    with words.on_chip(value["chip"]):
        return list(info.infer_tiling(array, tiling))


def sc_supported_shapes(value: dict) -> list[list[int]]:
    with words.on_chip(value["chip"]):
        return [list(shape) for shape in sc_core.supported_shapes(value["dtype"])]


FUNCTIONS = {
    "dtype": each(dtype, {}),
    "matmul_pairs": each(matmul_pairs, {}),
    "device_kind": each(device_kind, {}),
    "tpu_info": each(
        tpu_info,
        {"CoreCountUnsupported": (ValueError, "must have num_tensor_cores_per_logical_device=1")},
    ),
    "sublane_tiling": each(sublane_tiling, {}),
    "infer_tiling": each(infer_tiling, {}),
    "sc_supported_shapes": each(
        sc_supported_shapes,
        {
            "NoSparseCores": (RuntimeError, "does not have SparseCores"),
            "UnsupportedDtype": (ValueError, "Unsupported dtype"),
        },
    ),
}
