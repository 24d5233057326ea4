"""The collective ids that JAX gives to the calls of one module."""

import json
import logging
import os
import subprocess
from pathlib import Path
from types import SimpleNamespace

from jax._src import config, tpu_custom_call
from jax._src.interpreters import mlir
from jax._src.pallas.mosaic import core as tpu_core

from outcome import each, outcome

logging.disable(logging.WARNING)  # JAX warns of ids that it is about to ignore

RUN = Path(__file__).resolve().parents[1] / "run"


def collective_ids(value: dict) -> list[dict]:
    with mode(value):
        return ids(value["calls"], mlir.CollectiveIdMapping.from_jaxpr(Module(value["calls"])))


def from_base(value: dict) -> list[dict]:
    with mode(value):
        return ids(value["calls"], mlir.CollectiveIdMapping())


def collective_ids_from_base(inputs: list[dict]) -> list[dict]:
    if os.environ["ORACLE_VENV"] == "base":
        return each(from_base, {})(inputs)
    questions = [{"fn": "collective_ids_from_base", "input": value} for value in inputs]
    child = subprocess.run(
        [RUN, "--base", "regenerate", "--stdin"],
        input="\n".join(map(json.dumps, questions)),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return [json.loads(line)["expect"] for line in child.stdout.splitlines()]


def mode(value: dict):
    return config.jax_pallas_auto_assign_collective_ids(value["mode"])


class Module:
    """As much of a jaxpr as JAX looks at when it reserves the calls' own ids."""

    def __init__(self, calls: list[dict]):
        self.eqns = [pallas_call(call["collective_id"]) for call in calls]


def pallas_call(collective_id: int | None) -> SimpleNamespace:
    return SimpleNamespace(
        primitive=SimpleNamespace(name="pallas_call"),
        params={"compiler_params": tpu_core.CompilerParams(collective_id=collective_id)},
    )


def ids(calls: list[dict], mapping: mlir.CollectiveIdMapping) -> list[dict]:
    lowering = SimpleNamespace(
        module_context=SimpleNamespace(pallas_collective_id_mapping=mapping)
    )
    return [outcome(lambda: lowered(call, lowering).collective_id, ERRORS) for call in calls]


def lowered(call: dict, lowering: SimpleNamespace) -> tpu_custom_call.CustomCallBackendConfig:
    arguments = dict(call)
    if "tag" in arguments:
        arguments["collective_id_tag"] = arguments.pop("tag")
    return tpu_custom_call._lowered_to_custom_call_config(
        arguments.pop("module").encode(),
        ctx=lowering,
        **INDIFFERENT,
        **arguments,
    )


# Parameters that ids do not depend on, but that have no defaults.
INDIFFERENT = dict.fromkeys(
    (
        "lowered_module_asm_version",
        "vmem_limit_bytes",
        "cost_estimate",
        "flags",
        "allow_input_fusion",
        "internal_scratch_in_bytes",
        "serialization_format",
        "has_communication",
        "needs_hlo_passes",
        "needs_layout_passes",
        "device_type",
    )
)

ERRORS = {
    "CollectiveIdAndTag": (ValueError, "Conflicting collective_id specified"),
    "TooManyCollectiveIds": (ValueError, "exceeded the limit of"),
    "CollectiveIdConflict": (ValueError, "conflicts with an existing auto-assigned"),
    "MissingCollectiveId": (ValueError, "has to be specified when using a custom barrier"),
    "UnexpectedCollectiveId": (ValueError, "has to be unspecified or None"),
}

FUNCTIONS = {
    "collective_ids": each(collective_ids, {}),
    "collective_ids_from_base": collective_ids_from_base,
}
