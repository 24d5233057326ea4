"""A process that answers questions about one chip: `python server.py CHIP`.

A question is a line of JSON on stdin, {"ask": name, "input": …}; its answer is
a line on stdout: {"ok": value}, {"error": text} where the compiler or Mosaic
refuses, {"fault": text} where something else went wrong.  A question that the
compiler cannot survive takes the process with it: `client.py` copes.
"""

import json
import os
import sys
import traceback


def main(chip: str) -> None:
    answers = private_stdout()
    from compiler import REFUSALS, Compiler
    from questions import QUESTIONS

    compiler = Compiler(chip)
    for line in sys.stdin:
        question = json.loads(line)
        try:
            answer = {"ok": QUESTIONS[question["ask"]](compiler, question["input"])}
        except REFUSALS as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        except Exception:
            answer = {"fault": traceback.format_exc()}
        print(json.dumps(answer), file=answers, flush=True)


def private_stdout():
    """The answers' own stream: the compiler prints what it likes on file 1."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return answers


if __name__ == "__main__":
    main(sys.argv[1])
