"""Kernels of chance, compiled, as `vmem_fit` vectors.

    run libtpu/sweep --seed N --count N [--chips v4,v5e,…] [--out FILE]

A line's `expect` is {"ok": {"vmem_bytes": N}}, or {"error": "VmemOverflow"} where
the kernel does not fit, or {"error": "CompilerRefused"}: then there is no figure,
for a reason that is none of this sweep's, and the line's `message` has it.
"""

import argparse
import hashlib
import json
import random
import sys
from collections import Counter

import answers
from chips import can_be_asked

CHIPS = ("v4", "v5e", "v5p", "v6e", "7x")

TWO_BITS = ("int2", "uint2")

DTYPES = (
    ("float32", "int32", "uint32", "bool"),
    ("bfloat16", "float16", "int16", "uint16"),
    ("int8", "uint8", "float8_e4m3fn", "float8_e5m2", "float8_e4m3b11fnuz"),
    ("int4", "uint4", "float4_e2m1fn"),
    TWO_BITS,
)

# rank → the largest extents
MOST = {
    1: (5000,),
    2: (300, 900),
    3: (12, 200, 600),
    4: (5, 12, 100, 400),
    5: (3, 5, 8, 50, 300),
}


def main() -> None:
    arguments = parse_arguments()
    chance = random.Random(arguments.seed)
    inputs = [
        kernel(chance, arguments.chips[number % len(arguments.chips)])
        for number in range(arguments.count)
    ]
    counts = Counter()
    for value, outcome in zip(inputs, answers.outcomes("vmem_fit", inputs)):
        line = {"id": identity(value), "fn": "vmem_fit", "input": value}
        expect = answers.vmem_fit_expect(outcome)
        if expect is None:
            expect, line["message"] = {"error": "CompilerRefused"}, outcome["error"]
        line["expect"] = expect
        counts[expect.get("error", "figures")] += 1
        print(json.dumps(line, separators=(",", ":")), file=arguments.out)
    print(", ".join(f"{count} {outcome}" for outcome, count in counts.items()), file=sys.stderr)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="run libtpu/sweep", description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, required=True)
    parser.add_argument("--chips", type=lambda text: text.split(","), default=CHIPS)
    parser.add_argument("--out", type=argparse.FileType("w"), default=sys.stdout)
    arguments = parser.parse_args()
    for chip in arguments.chips:
        if not can_be_asked(chip):
            parser.error(f"this libtpu does not know the chip {chip!r}")
    return arguments


def identity(value: dict) -> str:
    digest = hashlib.sha256(json.dumps(["vmem_fit", value], sort_keys=True).encode())
    return f"vmem_fit-{digest.hexdigest()[:10]}"


def kernel(chance: random.Random, chip: str) -> dict:
    grid = [chance.choice((1, 2, 2, 3, 4)) for _ in range(chance.choice((0, 1, 1, 2, 2, 3)))]
    operands = [operand(chance, "in", grid) for _ in range(chance.randint(0, 3))]
    operands += [operand(chance, "out", grid) for _ in range(chance.randint(1, 3))]
    scratches = [scratch(chance) for _ in range(chance.randint(0, 3))]
    if chance.random() < 0.02:
        scratches.append(around_the_limit(chance))
    return {"chip": chip, "grid": grid, "operands": operands, "scratch": scratches}


def operand(chance: random.Random, role: str, grid: list[int]) -> dict:
    dtype = any_dtype(chance)
    if role == "in" and dtype == "float16":
        dtype = "bfloat16"  # the compiler takes float16 results, but no such arguments
    space = chance.choices(("vmem", "smem", "any", "hbm"), (12, 3, 1, 1))[0]
    array = few(chance, dtype) if space == "smem" else extents(chance, dtype)
    block, index_map, buffers = list(array), [None] * len(array), None
    if space == "vmem" or space == "smem":
        buffers = chance.choice((None, None, 1, 2))
        if grid and chance.random() < 0.7 and (space == "vmem" or len(array) == 1):
            block, index_map, array = moving(chance, grid, dtype, array)
    return {
        "role": role,
        "array_shape": array,
        "block_shape": block,
        "index_map": index_map,
        "dtype": dtype,
        "space": space,
        "buffers": buffers,
    }


def moving(chance: random.Random, grid: list[int], dtype: str, extents: list[int]):
    """A block, which grid axis moves each of its dimensions, and an array for both."""
    block, index_map, array = [], [], []
    for place, extent in zip(range(len(extents), 0, -1), extents):
        axis = chance.randrange(len(grid)) if chance.random() < 0.4 else None
        if place == 2 and dtype in TWO_BITS:
            axis = None  # as in `extents`
        array.append(extent)
        if axis is not None:
            if place == 1:
                extent = 4096 if len(extents) == 1 else 128 * chance.randint(1, 3)
            elif place == 2:
                extent = 8 * chance.randint(1, 12)
            array[-1] = extent * grid[axis]
            # The last block may reach over the array's end.
            if array[-1] > extent > 1 and chance.random() < 0.3:
                array[-1] -= chance.randrange(1, extent)
        squeezed = place > 2 and extent == 1 and chance.random() < 0.5
        block.append(None if squeezed else extent)
        index_map.append(axis)
    return block, index_map, array


def scratch(chance: random.Random) -> dict:
    space = chance.choice(("vmem", "vmem", "vmem", "smem"))
    dtype = any_dtype(chance)
    shape = few(chance, dtype) if space == "smem" else extents(chance, dtype)
    return {"space": space, "shape": shape, "dtype": dtype}


def around_the_limit(chance: random.Random) -> dict:
    """Of 15 to 17 or 31 to 33 MiB: the chips' limits are 16 and 32 where none is given."""
    rows = chance.choice((2, 4)) * 16384 + chance.randint(-2048, 2048)
    return {"space": "vmem", "shape": [rows, 128], "dtype": "float32"}


def any_dtype(chance: random.Random) -> str:
    return chance.choice(chance.choice(DTYPES))


def few(chance: random.Random, dtype: str) -> list[int]:
    """A shape that leaves room in smem for the others there."""
    limits = (1500,) if dtype in TWO_BITS else chance.choice(((1500,), (12, 200), (3, 4, 150)))
    return [chance.randint(1, limit) for limit in limits]


def extents(chance: random.Random, dtype: str) -> list[int]:
    shape = []
    for limit in MOST[chance.choice((1, 1, 2, 2, 2, 3, 3, 4, 5))]:
        shape.append(
            chance.choice((1, chance.randint(1, limit), chance.randint(1, min(limit, 40))))
        )
    if dtype in TWO_BITS and len(shape) > 1:
        # Other arrays of these the compiler refuses, or does not survive.
        shape[-1] = max(shape[-1], 128)
        shape[-2] = min(shape[-2], 40) if len(shape) == 2 else 16 * chance.randint(1, 2)
    return shape


if __name__ == "__main__":
    main()
