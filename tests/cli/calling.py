"""Calling the command line: in this process, and as a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner, Result

from trueline.cli.verbs import trueline

SOURCES = Path(__file__).resolve().parent.parent.parent / "src"


def call(*arguments: str | Path, **environment: str) -> Result:
    """A command line in this process, in English unless it says otherwise."""
    return CliRunner().invoke(trueline, [str(one) for one in arguments], env={"TRUELINE_LANG": "en", **environment})


def environment(**changes: str) -> dict[str, str]:
    """The environment of a child: English, 80 columns, no colour forced."""
    kept = {name: value for name, value in os.environ.items() if name not in ("FORCE_COLOR", "TRUELINE_DEBUG")}
    plain = {"PYTHONPATH": str(SOURCES), "TRUELINE_LANG": "en", "COLUMNS": "80", "PYTHONIOENCODING": "utf-8"}
    return {**kept, **plain, **changes}


def process(*arguments: str | Path, **changes: str) -> subprocess.CompletedProcess[str]:
    """A command line as a process."""
    command = [sys.executable, "-m", "trueline", *(str(one) for one in arguments)]
    return subprocess.run(command, env=environment(**changes), capture_output=True, text=True, encoding="utf-8")
