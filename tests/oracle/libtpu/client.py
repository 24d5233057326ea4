"""Puts questions to server processes, two at a time, and survives their deaths."""

import itertools
import json
import os
import queue
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SERVERS = 2
QUESTIONS_PER_SERVER = 100
SECONDS_PER_QUESTION = 120

# The error of a question that ended its server.
ABORTED = "aborted"

ENVIRONMENT = {
    "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",
    "JAX_HLO_SOURCE_FILE_CANONICALIZATION_REGEX": ".*/",
    "JAX_PLATFORMS": "cpu",
    "TPU_ACCELERATOR_TYPE": "v5litepod-4",
    "TPU_LOG_DIR": "disabled",
    "TPU_SKIP_MDS_QUERY": "1",
    "TPU_WORKER_HOSTNAMES": "localhost",
}


def ask(name: str, chips_and_inputs: list[tuple[str, object]]) -> list[dict]:
    """Answers in the order asked: {"ok": value} or {"error": text}.

    The error of a question that ended its server is ABORTED, that of one
    that took too long "timed out". What is no answer is raised as a Fault.
    """
    answers: list[dict] = [{}] * len(chips_and_inputs)

    def serve(chip: str, numbers: tuple[int, ...]) -> None:
        server = Server(chip)
        try:
            for number in numbers:
                answers[number] = server.ask(name, chips_and_inputs[number][1])
        finally:
            server.stop()

    by_chip: dict[str, list[int]] = {}
    for number, (chip, _) in enumerate(chips_and_inputs):
        by_chip.setdefault(chip, []).append(number)
    with ThreadPoolExecutor(SERVERS) as pool:
        batches = [
            pool.submit(serve, chip, batch)
            for chip, numbers in by_chip.items()
            for batch in itertools.batched(numbers, QUESTIONS_PER_SERVER)
        ]
        try:
            for batch in batches:
                batch.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return answers


class Fault(Exception):
    """What asks the compiler went wrong, or JAX refused to be asked so."""


class Server:
    """One chip's process, started when needed and again when it died."""

    def __init__(self, chip: str):
        self.chip = chip
        self.process = None

    def ask(self, name: str, value: object) -> dict:
        if self.process is None:
            self.start()
        try:
            print(json.dumps({"ask": name, "input": value}), file=self.process.stdin, flush=True)
            answer = self.lines.get(timeout=SECONDS_PER_QUESTION)
        except BrokenPipeError:
            answer = ""
        except queue.Empty:
            self.stop()
            return {"error": "timed out"}
        if answer == "":
            self.stop()
            return {"error": ABORTED}
        answer = json.loads(answer)
        if "fault" in answer:
            raise Fault(f"{answer['fault']}\n{name} was asked about {value} on {self.chip}")
        return answer

    def start(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, Path(__file__).with_name("server.py"), self.chip],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None if os.environ.get("ORACLE_VERBOSE") else subprocess.DEVNULL,
            env=os.environ | ENVIRONMENT,
            text=True,
        )
        self.lines: queue.Queue[str] = queue.Queue()
        threading.Thread(
            target=read_lines, args=(self.process.stdout, self.lines), daemon=True
        ).start()

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


def read_lines(stream, lines: queue.Queue) -> None:
    for line in stream:
        lines.put(line)
    lines.put("")
