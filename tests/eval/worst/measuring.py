"""What reading a file costs: each command line in a process forked from one that has imported the verbs already.

As a script it is that process: it takes lines of JSON, and answers each with one.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

SOURCES = Path(__file__).resolve().parents[3] / "src"
MIB = 1 << 20
# Beyond every budget of a file of a megabyte, so that the table shows by how much one is exceeded.
MOST_MEMORY = 3 << 30
MOST_SECONDS = 60
# The lazily imported parts of the verbs: what they cost to import is no cost of a file.
WARM = (
    *("numpy", "ml_dtypes", "msgspec", "trueline.cli.verbs", "trueline.cli.params", "trueline.cli.compare"),
    *("trueline.cli.convert", "trueline.migrate.params_report", "trueline.migrate.params_pairs_report"),
    *("trueline.migrate.converting", "trueline.migrate.report", "trueline.compare.report.arrays"),
    *("trueline.formats.pth", "trueline.formats.pth.sharded", "trueline.formats.ckpt", "trueline.formats.safetensors"),
    *("trueline.formats.npz", "trueline.formats.ms_dump", "trueline.formats.msprobe", "trueline.formats.log"),
    *("trueline.formats.tensorboard", "trueline.formats.ms_summary", "trueline.formats.opening"),
    *("trueline.data.sources.opening", "trueline.data.sources.arrays", "trueline.data.sources.cifar"),
    *(
        "trueline.data.sources.idx",
        "trueline.data.sources.columns",
        "trueline.compare.runs",
        "trueline.report.terminal",
    ),
    *("duckdb", "pyarrow.parquet", "PIL.Image", "yaml"),
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a verb ended: memory and processor time are those above what the process had at its start."""

    exit: int | None
    said: str
    memory: int
    seconds: float

    @property
    def ended(self) -> str:
        """In a word."""
        if self.exit is None:
            return self.said
        return {0: "read", 1: "read", 2: "refused"}.get(self.exit, f"exit {self.exit}")


class Measuring:
    """The waiting process."""

    def __init__(self) -> None:
        environment = {**os.environ, "PYTHONPATH": str(SOURCES), "TRUELINE_LANG": "en", "OMP_NUM_THREADS": "1"}
        environment |= {"OPENBLAS_NUM_THREADS": "1", "COLUMNS": "80", "MALLOC_ARENA_MAX": "1"}
        environment.pop("TRUELINE_DEBUG", None)
        command = [sys.executable, str(Path(__file__).resolve())]
        self._process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )

    def __enter__(self) -> Measuring:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def run(self, arguments: Sequence[str | Path], folder: Path) -> Outcome:
        """One command line of ``trueline``, in a folder."""
        assert self._process.stdin is not None and self._process.stdout is not None
        asked = {"arguments": [str(one) for one in arguments], "folder": str(folder)}
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        return Outcome(**json.loads(self._process.stdout.readline()))


def _serve() -> None:
    for name in WARM:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin:
        asked: dict[str, Any] = json.loads(line)
        json.dump(_measured(asked["arguments"], asked["folder"]), answers)
        answers.write("\n")
        answers.flush()


def _measured(arguments: list[str], folder: str) -> dict[str, Any]:
    with tempfile.TemporaryFile() as said:
        ready, told = os.pipe()
        child = os.fork()
        if not child:
            os.close(ready)
            _run(arguments, folder, said.fileno(), told)
        os.close(told)
        with os.fdopen(ready, "rb") as numbers:
            held = numbers.read()
        _, status, used = os.wait4(child, 0)
        said.seek(0)
        text = said.read().decode("utf-8", "replace").strip()
    start, cpu = (int(one) for one in held.split()[:2]) if held else (0, 0)
    exit = os.waitstatus_to_exitcode(status)
    seconds = used.ru_utime + used.ru_stime - cpu / 1e6
    if exit < 0:
        text = "stopped: time" if seconds >= MOST_SECONDS - 1 else f"killed by signal {-exit}"
    return {
        "exit": exit if exit >= 0 else None,
        "said": text[-500:],
        "memory": max(0, used.ru_maxrss * 1024 - start),
        "seconds": round(max(0.0, seconds), 3),
    }


def _run(arguments: list[str], folder: str, said: int, told: int) -> None:
    code = 70
    try:
        os.chdir(folder)
        with Path(os.devnull).open("r+b", buffering=0) as nothing:
            os.dup2(nothing.fileno(), 0)
            os.dup2(nothing.fileno(), 1)
        os.dup2(said, 2)
        sys.stdin = os.fdopen(os.dup(0), encoding="utf-8")
        sys.stdout = os.fdopen(os.dup(1), "w", encoding="utf-8")
        sys.stderr = os.fdopen(os.dup(2), "w", encoding="utf-8")
        pages = [int(one) * resource.getpagesize() for one in Path("/proc/self/statm").read_text().split()[:2]]
        resource.setrlimit(resource.RLIMIT_AS, (pages[0] + MOST_MEMORY,) * 2)
        resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
        used = resource.getrusage(resource.RUSAGE_SELF)
        os.write(told, f"{used.ru_maxrss * 1024} {int((used.ru_utime + used.ru_stime) * 1e6)}".encode())
        os.close(told)
        from trueline.cli.verbs import trueline

        try:
            trueline.main(args=arguments, prog_name="trueline")
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException as error:  # noqa: BLE001 (it is the outcome)
        os.write(2, f"{type(error).__name__}: {error}"[:500].encode())
    finally:
        os._exit(code)


if __name__ == "__main__":
    _serve()
