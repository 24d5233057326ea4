"""The resolver and the attribute beside JAX's, over every vector of theirs that
has an answer, a million calls in random order. See `against_jax.py`."""

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
sys.path.append(str(PROJECT / "tests/oracle/jax_answers"))

import spaces
import words
from jax._src.pallas.mosaic import core as tpu_core
from jax._src.pallas.mosaic import lowering

BENCH = ["cargo", "bench", "--quiet", "--bench", "resolve", "--", "--quiet", "million/"]
CALLS = 1_000_000

# What is promised of the resolver; of the others nothing is.
TIMES_LOOKUP = 2
TIMES_JAX = 200


def measured() -> list[dict]:
    """Nanoseconds a call: medians of ours, the mean of JAX's."""
    ours = medians()
    jax_resolve = jax_mean("resolve", tpu_core.memory_space_to_tpu_memory_space)
    with spaces.context:
        jax_attribute = jax_mean("mosaic_attribute", lowering._memory_space_to_mosaic_attribute)
    return [
        row("resolve", ours, "resolve", jax_resolve, promised=True),
        row("resolve at a call site", ours, "resolve", jax_resolve),
        row("attribute", ours, "attribute", jax_attribute),
    ]


def row(name: str, ours: dict, floor: str, jax_ns: float, promised: bool = False) -> dict:
    lookup_ns = ours[f"{floor}, plain lookup"]
    return {
        "name": name,
        "ns": ours[name],
        "match_ns": ours.get(f"{name}, plain match"),
        "lookup_ns": lookup_ns,
        "jax_ns": jax_ns,
        "times_lookup": ours[name] / lookup_ns,
        "times_jax": jax_ns / ours[name],
        "promised": promised,
    }


def medians() -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"CRITERION_HOME": folder}
        subprocess.run(BENCH, cwd=PROJECT, env=environment, stdout=sys.stderr, check=True)
        return dict(median(path.parent) for path in Path(folder).rglob("new/estimates.json"))


def median(folder: Path) -> tuple[str, float]:
    name = json.loads((folder / "benchmark.json").read_text())["function_id"]
    estimates = json.loads((folder / "estimates.json").read_text())
    return name, estimates["median"]["point_estimate"] / CALLS


def jax_mean(vectors: str, function) -> float:
    path = PROJECT / "tests/vectors" / f"{vectors}.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    table = [
        (words.space(line["input"]["space"]), words.CoreType(line["input"]["core"]))
        for line in lines
        if "ok" in line["expect"]
    ]
    calls = random.Random(0).choices(table, k=CALLS)

    def nothing(space, core_type):
        pass

    return (total(function, calls) - total(nothing, calls)) / CALLS


def total(function, calls: list) -> int:
    # The processor's time, to which what else the machine does adds nothing.
    begin = time.process_time_ns()
    for space, core_type in calls:
        function(space, core_type)
    return time.process_time_ns() - begin


def missed(rows: list[dict]) -> list[str]:
    missed = []
    for row in rows:
        if row["promised"] and row["times_lookup"] > TIMES_LOOKUP:
            missed.append(
                f"{row['name']}: {row['times_lookup']:.2f} plain lookups, promised {TIMES_LOOKUP}"
            )
        if row["promised"] and row["times_jax"] < TIMES_JAX:
            missed.append(f"{row['name']}: {row['times_jax']:.0f} times JAX, promised {TIMES_JAX}")
    return missed


def table(rows: list[dict]) -> str:
    lines = ["                            ours  plain lookup  plain match       JAX  / lookup   JAX /"]
    for row in rows:
        match = "" if row["match_ns"] is None else f"{row['match_ns']:.2f} ns"
        lines.append(
            f"{row['name']:22} {row['ns']:6.2f} ns {row['lookup_ns']:10.2f} ns {match:>12}"
            f" {row['jax_ns']:6.0f} ns {row['times_lookup']:9.2f} {row['times_jax']:7.0f}"
        )
    return "\n".join(lines)
