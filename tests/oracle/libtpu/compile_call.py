"""Compiles StableHLO modules that hold a `tpu_custom_call`, to see that it can be.

    run libtpu/compile_call < questions

A question is a line of JSON, {"chip": …, "module": StableHLO text}; its answer a
line of JSON: {"ok": null}, {"error": what the compiler says}, or {"error":
"aborted"} for a module that the compiler does not survive.
"""

import json
import sys

import client
from chips import TOPOLOGIES


def main() -> None:
    questions = [json.loads(line) for line in sys.stdin if line.strip()]
    for question in questions:
        if question["chip"] not in TOPOLOGIES:
            sys.exit(f"no chip {question['chip']!r}: there are {', '.join(TOPOLOGIES)}")
    asked = [(question["chip"], question["module"]) for question in questions]
    for answer in client.ask("compile_call", asked):
        print(json.dumps(answer))


if __name__ == "__main__":
    main()
