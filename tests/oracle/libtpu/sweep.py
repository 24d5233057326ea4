"""Kernels of chance, compiled, as `vmem_fit` vectors.

    run libtpu/sweep --seed N --count N [--chips v4,v5e,…] [--out FILE]
"""

import argparse
import hashlib
import json
import math
import random
import sys

import client

CHIPS = ("v4", "v5e", "v5p", "v6e", "7x")

DTYPES = (
    ("float32", "int32", "uint32", "bool"),
    ("bfloat16", "float16", "int16", "uint16"),
    ("int8", "uint8", "float8_e4m3fn", "float8_e5m2", "float8_e4m3b11fnuz"),
    ("int4", "uint4", "float4_e2m1fn"),
    ("int2", "uint2"),
)


def main() -> None:
    arguments = parse_arguments()
    chance = random.Random(arguments.seed)
    inputs = [
        kernel(chance, arguments.chips[number % len(arguments.chips)])
        for number in range(arguments.count)
    ]
    answers = client.ask("vmem_fit", [(value["chip"], value) for value in inputs])
    for value, answer in zip(inputs, answers):
        line = {"id": identity(value), "fn": "vmem_fit", "input": value, "expect": answer}
        print(json.dumps(line, separators=(",", ":")), file=arguments.out)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="run libtpu/sweep", description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, required=True)
    parser.add_argument("--chips", type=lambda text: text.split(","), default=CHIPS)
    parser.add_argument("--out", type=argparse.FileType("w"), default=sys.stdout)
    return parser.parse_args()


def identity(value: dict) -> str:
    digest = hashlib.sha256(json.dumps(["vmem_fit", value], sort_keys=True).encode())
    return f"vmem_fit-{digest.hexdigest()[:10]}"


def kernel(chance: random.Random, chip: str) -> dict:
    grid = [chance.choice((1, 2, 2, 3, 4)) for _ in range(chance.choice((0, 1, 1, 2, 2, 3)))]
    operands = [operand(chance, "in", grid) for _ in range(chance.randint(0, 3))]
    operands += [operand(chance, "out", grid) for _ in range(chance.randint(1, 3))]
    scratches = [scratch(chance) for _ in range(chance.randint(0, 3))]
    return {"chip": chip, "grid": grid, "operands": operands, "scratch": scratches}


def operand(chance: random.Random, role: str, grid: list[int]) -> dict:
    dtype = chance.choice(chance.choice(DTYPES))
    space = chance.choices(("vmem", "smem", "any", "hbm"), (12, 2, 1, 1))[0]
    buffers = None
    if space == "vmem" and chance.random() < 0.7:
        block, index_map, array = window(chance, grid, dtype)
        if any(axis is not None for axis in index_map):
            buffers = chance.choice((None, 1, 2))
    else:
        array = extents(chance)
        if space == "smem":
            dtype, array = chance.choice(("int32", "float32")), array[-1:]
        block, index_map = array, [None] * len(array)
        if space == "vmem":
            buffers = chance.choice((None, None, 1, 2))
    return {
        "role": role,
        "array_shape": array,
        "block_shape": block,
        "index_map": index_map,
        "dtype": dtype,
        "space": space,
        "buffers": buffers,
    }


def window(chance: random.Random, grid: list[int], dtype: str):
    """A block, which grid axis moves each of its dimensions, and an array for both."""
    block: list[int | None] = extents(chance)
    index_map: list[int | None] = [
        chance.randrange(len(grid)) if grid and chance.random() < 0.4 else None for _ in block
    ]
    rank = len(block)
    array = []
    for dimension, axis in enumerate(index_map):
        extent = block[dimension]
        if axis is None:
            array.append(extent)
            continue
        if dimension == rank - 1:
            extent = 4096 if rank == 1 else 128 * chance.randint(1, 3)
        elif dimension == rank - 2:
            extent = 8 * chance.randint(1, 12)
        array.append(extent * grid[axis])
        # The last block may reach over the array's end.
        if grid[axis] > 1 and extent > 1 and chance.random() < 0.3:
            array[-1] -= chance.randrange(1, extent)
        if dimension < rank - 2 and extent == 1 and chance.random() < 0.5:
            extent = None
        block[dimension] = extent
    return block, index_map, array


def scratch(chance: random.Random) -> dict:
    space = chance.choice(("vmem", "vmem", "vmem", "smem"))
    dtype = chance.choice(chance.choice(DTYPES))
    shape = extents(chance)
    if space == "smem":
        dtype, shape = chance.choice(("int32", "float32")), shape[-1:]
    return {"space": space, "shape": shape, "dtype": dtype}


def extents(chance: random.Random) -> list[int]:
    rank = chance.choice((1, 1, 2, 2, 2, 3, 3, 4, 5))
    most = (3000, 200, 12, 5, 3)
    shape = []
    for place in range(rank):
        limit = most[place] if place else (3000 if rank == 1 else 600)
        shape.append(chance.choice((1, chance.randint(1, limit), chance.randint(1, min(limit, 40)))))
    return shape[::-1]


if __name__ == "__main__":
    main()
