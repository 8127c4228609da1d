"""Programs that the tests run in processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import trueline

_HERE = Path(__file__).parent
_PATHS = (Path(trueline.__file__).parent.parent, _HERE.parent.parent.parent)


def environment() -> dict[str, str]:
    """This process's, with the tool and the tests to be found."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, _PATHS))}


def run_program(name: str, *args: str, cwd: Path) -> Any:
    """The JSON that a program prints."""
    done = subprocess.run(
        [sys.executable, str(_HERE / f"{name}.py"), *args],
        env=environment(),
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout.rpartition("\nRESULT")[2])
