"""Programs that the tests run in processes of their own."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import warm

import trueline

_HERE = Path(__file__).parent
_PATHS = (Path(trueline.__file__).parent.parent, _HERE.parent.parent.parent)


def environment() -> dict[str, str]:
    """This process's, with the tool and the tests to be found."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, _PATHS))}


def run_program(name: str, *args: str, cwd: Path) -> Any:
    """The JSON that a program prints."""
    # What comes before MindSpore's import begins without it.
    program = str(_HERE / f"{name}.py")
    done = warm.python("" if name == "graph_dump" else "mindspore", cwd, program, *args, env=environment())
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout.rpartition("\nRESULT")[2])
