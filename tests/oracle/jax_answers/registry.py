"""Which function answers a vector's `fn`.

A family is a module with FUNCTIONS: `fn` → function from the list of inputs to
the list of `expect` values.
"""

import importlib
import os
from collections.abc import Callable

FAMILIES = (
    "spaces",
    "hardware",
    "meshes",
    "accumulators",
    "blocks",
    "handed_over",
    "operation",
    "collective_ids",
    "answers",  # libtpu's: last, so that JAX can be asked without it
)

# The other families are about a newer JAX than this environment's.
BASE_FAMILIES = ("collective_ids",)


def function(fn: str) -> Callable[[list[dict]], list[dict]]:
    for family in BASE_FAMILIES if os.environ["ORACLE_VENV"] == "base" else FAMILIES:
        functions = importlib.import_module(family).FUNCTIONS
        if fn in functions:
            return functions[fn]
    raise SystemExit(f"no function answers {fn!r}")
