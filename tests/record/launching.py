"""Running real commands for the tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import warm

# MindSpore's operators one after the other: its threads spin while they wait for each other, several times as long as
# they compute. For trainings that are only a means; where TRUELINE_WHOLE is set, all are as a user has them.
IN_ORDER = {} if os.environ.get("TRUELINE_WHOLE") else {"MS_DEV_HOST_BLOCKING_RUN": "1"}


def trueline(
    *args: str, cwd: Path, env: dict[str, str] | None = None, forked: str | None = None
) -> subprocess.CompletedProcess[str]:
    """``trueline args…`` in a process of its own; ``forked`` from one where this framework is imported already."""
    return python("-m", "trueline", *args, cwd=cwd, env=env, forked=forked)


def python(
    *args: str, cwd: Path, env: dict[str, str] | None = None, forked: str | None = None
) -> subprocess.CompletedProcess[str]:
    """``python args…`` in a process of its own; ``forked`` from one where this framework is imported already."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", **(env or {})}
    if forked:
        return warm.python(forked, cwd, *args, env=environment)
    return subprocess.run(
        [sys.executable, *args], cwd=cwd, env=environment, capture_output=True, text=True, timeout=240, check=False
    )


def script(folder: Path, text: str, name: str = "train.py") -> str:
    """A script in a folder, by name."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    return name
