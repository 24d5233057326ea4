"""The vectors that libtpu's compiler answers: `fn` → inputs → `expect` values.

None stands for no answer: this libtpu does not know the chip.
"""

import re
from collections.abc import Callable

import client
from chips import can_be_asked

# An operand's padding in smem is the same on every chip but v2 and v3.
CHIP_OF_SMEM_OPERANDS = "v5e"

VMEM_OVERFLOW = re.compile("RESOURCE_EXHAUSTED.*space[ =]vmem", re.DOTALL)


class NoAnswer(Exception):
    """The compiler, or what asks it, failed in a way that no vector has a name for."""


def outcomes(fn: str, inputs: list[dict]) -> list[dict | None]:
    """As `client.ask`: {"ok": value} or {"error": text}; None for a chip not asked."""
    asked = [value for value in inputs if can_be_asked(chip(value))]
    answers = iter(client.ask(fn, [(chip(value), value) for value in asked]))
    return [next(answers) if can_be_asked(chip(value)) else None for value in inputs]


def vmem_fit_expect(answer: dict) -> dict | None:
    """None where the compiler gives no figure, for a reason other than the size."""
    if "ok" in answer:
        return {"ok": {"vmem_bytes": answer["ok"]}}
    if VMEM_OVERFLOW.search(answer["error"]):
        return {"error": "VmemOverflow"}
    return None


def chip(value: dict) -> str:
    return value.get("chip", CHIP_OF_SMEM_OPERANDS)


def function(fn: str, expect: Callable[[dict], dict | None]):
    def answers(inputs: list[dict]) -> list[dict | None]:
        return [
            answer and known(expect(answer), answer, value)
            for value, answer in zip(inputs, outcomes(fn, inputs))
        ]

    return answers


def known(expect: dict | None, answer: dict, value: dict) -> dict:
    if expect is None:
        raise NoAnswer(f"{answer['error']}\nwas asked about {value}")
    return expect


def named(key: str) -> Callable[[dict], dict | None]:
    return lambda answer: {"ok": {key: answer["ok"]}} if "ok" in answer else None


def verdict(**refused) -> Callable[[dict], dict | None]:
    """The answer as it is; a question that ended the compiler was refused."""

    def expect(answer: dict) -> dict | None:
        if answer.get("error") == client.ABORTED:
            return {"ok": refused}
        return answer if "ok" in answer else None

    return expect


FUNCTIONS = {
    "vmem_fit": function("vmem_fit", vmem_fit_expect),
    "smem_operand_bytes": function("smem_operand_bytes", named("bytes")),
    "sparse_core_pool": function("sparse_core_pool", named("fits")),
    "access": function("access", verdict(legal=False, jax_lowers=True)),
    "dma": function("dma", verdict(legal=False, jax_lowers=True)),
    "operand_space": function("operand_space", verdict(legal=False)),
    "scratch_space": function("scratch_space", verdict(legal=False)),
}
