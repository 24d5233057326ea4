"""The backend config, written by this crate and by JAX in one run.

`measured()` is a list with an object a size; `main` prints it as a table. Needs the
oracle's environment: `tests/oracle/run ../../benches/against_jax_config`.
"""

import json
import subprocess
import time
from pathlib import Path

from jax._src import tpu_custom_call

PROJECT = Path(__file__).parent.parent
SPEED = ["cargo", "run", "--quiet", "--release", "--features", "read", "--example", "config_speed"]

# What is promised: so many times JAX, and so much of the base64 library alone.
TIMES_JAX = {1 << 10: 15, 1 << 17: 8, 1 << 20: 12, 1 << 24: 12}
OF_BASE64 = {1 << 17: 0.9, 1 << 20: 0.9, 1 << 24: 0.9}
READ_BYTES_PER_NS = {1 << 20: 2.0}
SECONDS = 1.0


def measured() -> list[dict]:
    ours = json.loads(subprocess.check_output(SPEED, cwd=PROJECT))
    return [beside_jax(size) for size in ours]


def beside_jax(ours: dict) -> dict:
    size = ours["body_bytes"]
    config = jax_config(bytes(size))
    if ours["json"] is not None:
        # The two write the same; only the bodies differ.
        mine = json.loads(ours["json"])
        mine["custom_call_config"]["body"] = ""
        theirs = json.loads(config.to_json(use_core_ids=True))
        theirs["custom_call_config"]["body"] = ""
        assert mine == theirs, (mine, theirs)
    jax_ns = shortest(lambda: config.to_json(use_core_ids=True))
    return {
        "body_bytes": size,
        "jax_ns": jax_ns,
        "write_ns": ours["write_reused_ns"],
        "write_new_ns": ours["write_new_ns"],
        "base64_ns": ours["base64_ns"],
        "read_ns": ours["read_ns"],
        "times_jax": jax_ns / ours["write_reused_ns"],
        "times_jax_promised": TIMES_JAX[size],
        "of_base64": ours["base64_ns"] / ours["write_reused_ns"],
        "of_base64_promised": OF_BASE64.get(size),
        "read_bytes_per_ns": ours["json_bytes"] / ours["read_ns"],
        "read_bytes_per_ns_promised": READ_BYTES_PER_NS.get(size),
    }


def jax_config(body: bytes) -> tpu_custom_call.CustomCallBackendConfig:
    space = tpu_custom_call.MemorySpace
    return tpu_custom_call.CustomCallBackendConfig(
        lowered_module_asm=body,
        lowered_module_asm_version=None,
        has_communication=False,
        collective_id=None,
        device_type=None,
        cost_estimate={
            "flops": 4_320_133_120,
            "transcendentals": 8_388_608,
            "bytes_accessed": 8_388_608,
            "remote_bytes_transferred": 0,
        },
        needs_hlo_passes=False,
        needs_layout_passes=True,
        vmem_limit_bytes=1 << 25,
        flags={
            "xla_tpu_enable_log_recorder": False,
            "xla_tpu_level": 3,
            "xla_tpu_fraction": 0.5,
        },
        allow_input_fusion=None,
        serialization_format=1,
        internal_scratch_in_bytes=None,
        output_memory_spaces=(space.HBM,),
        disable_bounds_checks=False,
        disable_semaphore_checks=False,
        active_core_count=None,
        input_memory_spaces=(None, space.VMEM),
        skip_device_barrier=False,
        shape_invariant_numerics=True,
    )


def shortest(work) -> int:
    """The shortest of many runs, in nanoseconds: what else the machine does adds to a run."""
    shortest = None
    end = time.monotonic() + SECONDS
    while shortest is None or time.monotonic() < end:
        begin = time.perf_counter_ns()
        work()
        took = time.perf_counter_ns() - begin
        shortest = took if shortest is None else min(shortest, took)
    return shortest


def missed(sizes: list[dict]) -> list[str]:
    """The promises that were not kept."""
    return [
        f"{size['body_bytes']} bytes: {what} is {size[what]:.2f}, promised {promised}"
        for size in sizes
        for what in ("times_jax", "of_base64", "read_bytes_per_ns")
        if (promised := size[f"{what}_promised"]) is not None and size[what] < promised
    ]


def table(sizes: list[dict]) -> str:
    lines = ["     body         JAX        ours  times JAX  of base64  read GB/s"]
    for size in sizes:
        lines.append(
            f"{size['body_bytes']:>9} {size['jax_ns']:>8} ns {size['write_ns']:>8.0f} ns"
            f" {size['times_jax']:>9.1f} {size['of_base64']:>10.2f}"
            f" {size['read_bytes_per_ns']:>10.1f}"
        )
    return "\n".join(lines)


def main() -> None:
    sizes = measured()
    print(table(sizes))
    if kept_not := missed(sizes):
        raise SystemExit("\n".join(kept_not))


if __name__ == "__main__":
    main()
