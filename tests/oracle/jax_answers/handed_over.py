"""What JAX hands to XLA with a kernel: colors, parameters, the JSON."""

import base64

import jax.numpy as jnp
from jax._src import core as jax_core
from jax._src import tpu_custom_call
from jax._src.interpreters import mlir
from jax._src.lib import tpu
from jax._src.lib.mlir import ir
from jax._src.pallas.mosaic import core as tpu_core
from jax._src.pallas.mosaic import pallas_call_registration as registration

import words
from outcome import each


def color(value: dict) -> dict | None:
    space = registration._get_memory_space_from_aval(
        array(value["space"]), words.CoreType(value["core"])
    )
    return space and {"name": color_name(space), "color": space.color}


def alias_memory_spaces(value: dict) -> dict:
    inputs, outputs = registration._resolve_memory_spaces(
        [array(word) for word in value["inputs"]],
        [array(word) for word in value["outputs"]],
        input_output_aliases=tuple(tuple(pair) for pair in value["aliases"]),
        kernel_type=words.CoreType(value["core"]),
    )
    return {"inputs": color_names(inputs), "outputs": color_names(outputs)}


def tiling(value: dict) -> str | None:
    params = tpu_core.CompilerParams(use_tc_tiling_on_sc=value["use_tc_tiling_on_sc"])
    resolved = registration._resolve_tiling(params, words.CoreType(value["core"]))
    return resolved and resolved.value


def device_type(value: dict) -> str | None:
    return tpu_custom_call._get_device_type(module(value["functions"]))


def active_core_count(value: dict) -> int | None:
    return tpu_custom_call._get_active_core_count(module(value["functions"]))


def backend_config(value: dict) -> str:
    fields = dict(value)
    use_core_ids = fields.pop("use_core_ids")
    body = base64.b64decode(fields.pop("body_base64"))
    locations = fields.pop("debug_locations_base64")
    for side in ("input_memory_spaces", "output_memory_spaces"):
        fields[side] = fields[side] and tuple(map(color_named, fields[side]))
    config = tpu_custom_call._lowered_to_custom_call_config(
        body,
        lowered_module_asm_version=None,
        debug_locations=locations and base64.b64decode(locations),
        tiling=(word := fields.pop("tiling")) and tpu_custom_call.Tiling(word),
        opt_level=(word := fields.pop("opt_level")) and tpu_custom_call.OptLevel(word),
        **fields,
    )
    return config.to_json(use_core_ids=use_core_ids).decode()


def array(space: str | None) -> jax_core.ShapedArray:
    plain = jax_core.ShapedArray((8, 128), jnp.float32)
    return plain if space is None else plain.update(memory_space=words.space(space))


def color_name(space: tpu_custom_call.MemorySpace | None) -> str | None:
    return space and space.name.lower()


def color_names(spaces) -> list[str | None] | None:
    return None if spaces is None else [color_name(space) for space in spaces]


def color_named(name: str | None) -> tpu_custom_call.MemorySpace | None:
    return name and tpu_custom_call.MemorySpace[name.upper()]


def module(functions: list[dict]) -> ir.Module:
    text = "".join(
        f"func.func @f{number}() attributes {{{attributes(function)}}} {{ return }}\n"
        for number, function in enumerate(functions)
    )
    with context:
        return ir.Module.parse(text)


def attributes(function: dict) -> str:
    written = []
    if function["core_type"] is not None:
        written.append(f"tpu.core_type = #tpu.core_type<{function['core_type']}>")
    if "bounds" in function:
        bounds = ", ".join(map(str, function["bounds"]))
        written.append(f"iteration_bounds = array<i64{': ' if bounds else ''}{bounds}>")
    if "semantics" in function:
        semantics = (f"#tpu.dimension_semantics<{word}>" for word in function["semantics"])
        written.append(f"dimension_semantics = [{', '.join(semantics)}]")
    return ", ".join(written)


context = mlir.make_ir_context()
tpu.register_dialect(context)

COLOR_ERRORS = {
    "VmemColorUnsupported": (ValueError, "Invalid core type for VMEM"),
    "SemaphoreColorUnsupported": (ValueError, "Invalid kernel type for semaphore"),
}

FUNCTIONS = {
    "color": each(color, COLOR_ERRORS),
    "alias_memory_spaces": each(
        alias_memory_spaces,
        COLOR_ERRORS
        | {"AliasMemorySpaceConflict": (ValueError, "memory space conflict for alias")},
    ),
    "tiling": each(
        tiling,
        {"TcTilingFlagOnTensorCore": (ValueError, "is not supported for TC kernels")},
    ),
    "device_type": each(
        device_type,
        {"MixedCoreTypes": (ValueError, "cannot contain both TensorCore and SparseCore")},
    ),
    "active_core_count": each(
        active_core_count,
        {
            "SemanticsLengthMismatch": (ValueError, "must have the same number of elements"),
            "CoreParallelBoundDynamic": (ValueError, "must be statically known"),
            "MultipleCoreParallelDims": (ValueError, "multiple core sharding dimensions"),
            "CoreParallelBoundsDiffer": (ValueError, "be the same across all subkernels"),
        },
    ),
    "backend_config": each(
        backend_config,
        {
            "MissingCollectiveId": (ValueError, "has to be specified when using a custom barrier"),
            "UnexpectedCollectiveId": (ValueError, "has to be unspecified or None"),
            "TilingOnlyForSparseCore": (ValueError, "explicit tiling is only supported"),
            "OptLevelOnlyForSparseCore": (ValueError, "explicit opt_level is only supported"),
            "InputColorUnsupported": (NotImplementedError, "only supports HBM, VMEM and SMEM"),
            "InvalidFlagValue": (ValueError, "invalid flag value"),
        },
    ),
}
