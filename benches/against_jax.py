"""This crate's speed beside JAX's, measured in one run:

    tests/oracle/run ../../benches/against_jax [FAMILY …]

A family is a module against_jax_FAMILY with `measured()`, `table(measured)` and
`missed(measured)`, the promises that were not kept.
"""

import importlib
import sys

FAMILIES = ["resolve", "config"]


def main() -> None:
    missed = []
    for name in sys.argv[1:] or FAMILIES:
        family = importlib.import_module(f"against_jax_{name}")
        measured = family.measured()
        print(f"{family.table(measured)}\n", flush=True)
        missed += family.missed(measured)
    if missed:
        raise SystemExit("\n".join(missed))


if __name__ == "__main__":
    main()
