"""Asks the reference what the recorded vectors say, and writes its answers.

    run regenerate [FN …] [--vectors DIR] [--check]
    run regenerate --stdin < questions
"""

import argparse
import hashlib
import json
import os
import sys
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).resolve().parent
# In place of HERE, whose folder `libtpu` would pass for the package of that name.
sys.path[0] = str(HERE / "jax_answers")
sys.path.append(str(HERE / "libtpu"))

import registry

DIFFERENCES_SHOWN = 10


def main() -> None:
    arguments = parse_arguments()
    if arguments.stdin:
        questions = [json.loads(text) for text in sys.stdin if text.strip()]
        for question, text in zip(questions, answered(questions)):
            print(text or json.dumps(question, separators=(",", ":")))
        return

    recorded = read_vectors(arguments.vectors)
    asked = [line for line in recorded if not arguments.fn or line.fn in arguments.fn]
    check_each_is_asked(arguments.fn, asked)
    for line, text in zip(asked, answered([line.question for line in asked])):
        line.answer = text or line.recorded
    if arguments.check:
        sys.exit(report(asked))
    write_vectors(recorded)


class Line:
    """One line of a file of vectors: as recorded, and as the reference has it."""

    def __init__(self, path: Path, number: int, text: str):
        self.path = path
        self.place = f"{path}:{number}"
        self.recorded = self.answer = text
        self.question = json.loads(text)
        self.fn = self.question["fn"]


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="run regenerate", description=__doc__.splitlines()[0])
    parser.add_argument("fn", nargs="*", help="ask only these functions")
    parser.add_argument("--vectors", type=Path, default=HERE.parent / "vectors", metavar="DIR")
    parser.add_argument("--check", action="store_true", help="write nothing, exit 1 if they differ")
    parser.add_argument("--stdin", action="store_true", help="answer questions, one JSON a line")
    arguments = parser.parse_args()
    if arguments.stdin and (arguments.fn or arguments.check):
        parser.error("--stdin goes with nothing else")
    return arguments


def answered(questions: list[dict]) -> list[str | None]:
    """The questions' whole lines, in their order; each function is called once.

    None is the line of a question that its function could not ask, and says so.
    """
    numbers_of = defaultdict(list)
    for number, question in enumerate(questions):
        numbers_of[question["fn"]].append(number)

    functions = {fn: registry.function(fn) for fn in numbers_of}
    lines: list[str | None] = [None] * len(questions)
    for fn, numbers in numbers_of.items():
        inputs = [questions[number]["input"] for number in numbers]
        expects = functions[fn](inputs)
        for number, expect in zip(numbers, expects, strict=True):
            if expect is not None:
                lines[number] = vector(questions[number], expect)
        if unasked := expects.count(None):
            print(f"{fn}: {unasked} not asked, of chips this libtpu lacks", file=sys.stderr)
    return lines


def vector(question: dict, expect: dict) -> str:
    fn, value = question["fn"], question["input"]
    # A recorded id stays: some are of an input that has been put in other words since.
    line = {"id": question.get("id") or new_id(fn, value), "fn": fn, "input": value}
    return json.dumps(line | {"expect": expect}, separators=(",", ":"))


def new_id(fn: str, value: object) -> str:
    digest = hashlib.sha256(json.dumps([fn, value], sort_keys=True).encode()).hexdigest()
    return f"{fn}-{digest[:10]}"


def read_vectors(folder: Path) -> list[Line]:
    lines = [
        Line(path, number, text)
        for path in sorted(folder.rglob("*.jsonl"))
        for number, text in enumerate(path.read_text().splitlines(), 1)
    ]
    if not lines:
        sys.exit(f"no vectors in {folder}")
    return lines


def write_vectors(lines: list[Line]) -> None:
    texts = defaultdict(str)
    for line in lines:
        texts[line.path] += line.answer + "\n"
    for path, text in texts.items():
        if path.read_text() != text:
            path.write_text(text)
            print("changed", path)


def check_each_is_asked(functions: list[str], lines: list[Line]) -> None:
    missing = set(functions) - {line.fn for line in lines}
    if missing:
        sys.exit(f"no vector asks {', '.join(sorted(missing))}")


def report(lines: list[Line]) -> int:
    different = [line for line in lines if line.answer != line.recorded]
    for line in different[:DIFFERENCES_SHOWN]:
        expected, got = where_they_part(line.recorded, line.answer)
        print(f"{line.place}: {line.fn}\n  expected {expected}\n  got      {got}")
    print(f"{len(lines)} vectors asked, {len(different)} differ")
    return 1 if different else 0


def where_they_part(*texts: str) -> list[str]:
    expects = [json.dumps(json.loads(text).get("expect")) for text in texts]
    if len(set(expects)) > 1:
        texts = expects
    start = max(0, len(os.path.commonprefix(texts)) - 80)
    return [("…" if start else "") + text[start : start + 240] for text in texts]


if __name__ == "__main__":
    main()
