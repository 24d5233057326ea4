"""The vectors that libtpu's compiler answers: `fn` → inputs → `expect` values."""

import re

import client

OVERFLOW = "JaxRuntimeError: RESOURCE_EXHAUSTED"


def vmem_fit_outcome(answer: dict) -> dict:
    if "ok" in answer:
        return {"expect": {"ok": {"vmem_bytes": answer["ok"]}}}
    if answer["error"].startswith(OVERFLOW) and re.search("space[ =]vmem", answer["error"]):
        return {"expect": {"error": "VmemOverflow"}}
    return {"expect": {"error": "CompilerRefused"}, "message": answer["error"]}
