"""What ``--help`` costs in CPU time, beside Python alone and beside importing click alone."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from measure import interleave

SOURCES = Path(__file__).resolve().parent.parent / "src"
CHILDREN = {
    "python": ["-c", "pass"],
    "click": ["-c", "import click"],
    "--help": ["-m", "trueline", "--help"],
    "show --help": ["-m", "trueline", "show", "--help"],
}


def child(arguments: list[str]) -> Callable[[], object]:
    """A callable that runs a child process to its end."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCES)}
    command = [sys.executable, *arguments]
    return lambda: subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)


def children_seconds() -> float:
    """The CPU time of all finished children, user and system."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    measured = interleave(
        {name: child(arguments) for name, arguments in CHILDREN.items()}, repeat=21, clock=children_seconds
    )
    print(f"{'process':<12} {'median ms':>9} {'quartiles':>11} {'x python':>8} {'x click':>7}")
    for name, sample in measured.items():
        quartiles = f"{sample.low * 1000:.0f}-{sample.high * 1000:.0f}"
        to_python, to_click = (sample.median / measured[other].median for other in ("python", "click"))
        print(f"{name:<12} {sample.median * 1000:>9.0f} {quartiles:>11} {to_python:>8.1f} {to_click:>7.1f}")
