"""A process that answers questions about one chip: `python server.py CHIP`.

A question is a line of JSON on stdin, {"ask": name, "input": …}; its answer is
a line on stdout, {"ok": value} or {"error": text}.  A question that the
compiler cannot survive takes the process with it: `client.py` copes.
"""

import json
import os
import sys


def main(chip: str) -> None:
    answers = private_stdout()
    from compiler import Compiler
    from questions import QUESTIONS

    compiler = Compiler(chip)
    for line in sys.stdin:
        question = json.loads(line)
        try:
            answer = {"ok": QUESTIONS[question["ask"]](compiler, question["input"])}
        except Exception as error:  # whatever JAX or the compiler says is the answer
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


def private_stdout():
    """The answers' own stream: the compiler prints what it likes on file 1."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return answers


if __name__ == "__main__":
    main(sys.argv[1])
