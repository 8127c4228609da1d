"""What a command line costs: each in a process of its own with limits, forked from one that has everything loaded."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cli.calling import SOURCES, call, environment

SPACE = 4 << 30
SECONDS = 20


@dataclass(frozen=True)
class Cost:
    """How a command line ended, the seconds of CPU time, and the megabytes it held at most."""

    code: int
    output: str
    error: str
    seconds: float
    megabytes: int


class Costs:
    """Asks the process that forks."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def of(self, *arguments: str | Path) -> Cost:
        """The cost of one command line."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps([str(one) for one in arguments]) + "\n")
        self._process.stdin.flush()
        return Cost(**json.loads(self._process.stdout.readline()))


@contextmanager
def costs() -> Iterator[Costs]:
    """For some command lines."""
    path = f"{SOURCES}{os.pathsep}{Path(__file__).parent.parent}"
    with subprocess.Popen(
        [sys.executable, "-m", "cli.costs"],
        env=environment(PYTHONPATH=path, OMP_NUM_THREADS="1"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield Costs(process)


def _child(arguments: list[str], write: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (SPACE, SPACE))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    ended = call(*arguments)
    with os.fdopen(write, "w") as file:
        json.dump({"code": ended.exit_code, "output": ended.stdout[-100_000:], "error": ended.stderr[-2000:]}, file)


def _measured(arguments: list[str]) -> dict[str, Any]:
    read, write = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(read)
        try:
            _child(arguments, write)
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as file:
        said = file.read()
    _, status, used = os.wait4(pid, 0)
    killed = {"code": os.waitstatus_to_exitcode(status), "output": "", "error": "killed"}
    told = json.loads(said) if said else killed
    return {**told, "seconds": used.ru_utime + used.ru_stime, "megabytes": used.ru_maxrss >> 10}


if __name__ == "__main__":
    import numpy  # noqa: F401

    for line in sys.stdin:
        print(json.dumps(_measured(json.loads(line))), flush=True)
