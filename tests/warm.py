"""Processes that begin with a framework imported: forked from one that waits, each is a process of its own."""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import runpy
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

# What torch's own optimizers need is half of the import.
FRAMEWORKS = {"torch": ["torch", "torch._dynamo", "torch.utils.data"], "mindspore": ["mindspore", "mindspore.dataset"]}
# Of the test that asks, not of the processes.
_FOREIGN = ("PYTEST_CURRENT_TEST", "PYTEST_XDIST_TESTRUNUID")

_waiting: dict[tuple[str, str], subprocess.Popen[str]] = {}


def python(
    framework: str, folder: Path, *arguments: str, env: dict[str, str], stdin: str = "", **more: str
) -> subprocess.CompletedProcess[str]:
    """``python arguments…`` in a folder, forked where the framework is imported already.

    ``env`` is the environment as it is when Python starts, ``more`` is set besides. Where TRUELINE_WHOLE is set,
    Python is started each time, as users do.
    """
    env = {name: value for name, value in env.items() if name not in _FOREIGN}
    if os.environ.get("TRUELINE_WHOLE"):
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=folder,
            env={**env, **more},
            input=stdin,
            capture_output=True,
            text=True,
            encoding="utf-8",
        )
    key = framework, json.dumps(sorted(env.items()))
    if key not in _waiting:
        command = [sys.executable, __file__, framework]
        _waiting[key] = subprocess.Popen(
            command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )
    asked = _waiting[key]
    assert asked.stdin is not None
    assert asked.stdout is not None
    with tempfile.TemporaryDirectory() as room:
        streams = [str(Path(room) / name) for name in ("in", "out", "err")]
        Path(streams[0]).write_text(stdin, "utf-8")
        wanted = {"folder": str(folder), "arguments": arguments, "streams": streams, "more": more}
        asked.stdin.write(json.dumps(wanted) + "\n")
        asked.stdin.flush()
        code = int(asked.stdout.readline())
        said = [Path(one).read_text("utf-8") for one in streams[1:]]
    return subprocess.CompletedProcess([sys.executable, *arguments], code, *said)


def end() -> None:
    """End those that wait."""
    for one in _waiting.values():
        one.communicate()
    _waiting.clear()


def _become(wanted: dict[str, Any]) -> None:
    """Be the process that is asked for, as if Python had been started for it."""
    os.chdir(wanted["folder"])
    os.environ.update(wanted["more"])
    ways = (os.O_RDONLY, os.O_WRONLY | os.O_CREAT, os.O_WRONLY | os.O_CREAT)
    for place, (file, how) in enumerate(zip(wanted["streams"], ways, strict=True)):
        opened = os.open(file, how, 0o600)
        os.dup2(opened, place)
        os.close(opened)
    sys.stdin, sys.stdout = open(0, encoding="utf-8"), open(1, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1)  # noqa: SIM115
    program = wanted["arguments"]
    as_module = program[0] == "-m"
    sys.argv = program[1:] if as_module else program
    sys.path[0] = wanted["folder"] if as_module else str(Path(program[0]).resolve().parent)
    if as_module:
        runpy.run_module(program[1], run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(program[0], run_name="__main__")


def _fork_for_each() -> dict[str, Any]:
    """What is asked for, in a process forked for it; ends where nobody asks any more."""
    for line in iter(sys.stdin.readline, ""):
        process = os.fork()
        if not process:
            wanted: dict[str, Any] = json.loads(line)
            return wanted
        _, status = os.waitpid(process, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)
    sys.exit()


if __name__ == "__main__":
    for name in FRAMEWORKS[sys.argv[1]]:
        importlib.import_module(name)
    gc.freeze()
    with contextlib.suppress(KeyboardInterrupt):
        _become(_fork_for_each())
