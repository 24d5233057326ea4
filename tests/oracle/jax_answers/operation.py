"""The custom call as an operation of StableHLO, as JAX prints it."""

import base64

import jax
from jax._src import core as jax_core
from jax._src import tpu_custom_call
from jax._src.frozen_dict import FrozenDict

from outcome import each

# What JAX writes without a TPU: of another version it would be read and written anew.
BODY_VERSION = tpu_custom_call._FWD_COMPAT_VERSION


def custom_call(value: dict) -> str:
    """The operation's line, whose operands are the arguments of a function."""
    config = tpu_custom_call._lowered_to_custom_call_config(
        base64.b64decode(value["body_base64"]),
        lowered_module_asm_version=BODY_VERSION,
        vmem_limit_bytes=None,
        cost_estimate=None,
        flags=None,
        allow_input_fusion=None,
        internal_scratch_in_bytes=None,
        collective_id=None,
        serialization_format=1,
        has_custom_barrier=False,
        has_communication=False,
        needs_hlo_passes=False,
        needs_layout_passes=True,
        device_type=None,
        shape_invariant_numerics=True,
    )
    metadata = value["metadata"]
    call = tpu_custom_call._as_jax_callable(
        config,
        tpu_custom_call.TpuSideEffectType(value["side_effects"]),
        [jax_core.ShapedArray(*array(result)) for result in value["results"]],
        kernel_name=value["kernel_name"],
        input_output_aliases=tuple(tuple(pair) for pair in value["aliases"]),
        metadata=None if metadata is None else FrozenDict(metadata),
    )
    operands = [jax.ShapeDtypeStruct(*array(operand)) for operand in value["operands"]]
    with jax.enable_x64(True):
        lowered = jax.jit(call).trace(*operands).lower(lowering_platforms=("tpu",))
        lines = map(str.strip, lowered.as_text().splitlines())
    (line,) = (line for line in lines if "custom_call @tpu_custom_call" in line)
    return line


def array(value: dict) -> tuple[tuple[int, ...], jax.numpy.dtype]:
    return tuple(value["shape"]), jax.numpy.dtype(value["dtype"])


FUNCTIONS = {"custom_call": each(custom_call, {})}
