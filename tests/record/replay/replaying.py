"""Recording a program with its states, and replaying it, each in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cli.calling import environment


def trueline(folder: Path, *arguments: str, stdin: str = "", **more: str) -> subprocess.CompletedProcess[str]:
    """The command line, in a folder."""
    command = [sys.executable, "-m", "trueline", *arguments]
    changes = {"OMP_NUM_THREADS": "1", **more}
    return subprocess.run(
        command, cwd=folder, env=environment(**changes), input=stdin, capture_output=True, text=True, encoding="utf-8"
    )


@dataclass(frozen=True, slots=True)
class Recorded:
    """A run folder ``run`` beside its script, and what the script has printed."""

    folder: Path
    lines: list[str]

    def replay(self, *options: str) -> tuple[dict[str, Any], list[str]]:
        """The answer, and what the script has printed this time."""
        ended = trueline(self.folder, "replay", "run", "--json", "answer.json", *options)
        assert (self.folder / "answer.json").exists(), ended.stderr
        found: dict[str, Any] = json.loads((self.folder / "answer.json").read_text("utf-8"))
        (self.folder / "answer.json").unlink()
        assert ended.returncode == found["exit"], ended.stderr
        return found, ended.stdout.splitlines()

    def refused(self, *options: str) -> str:
        """The line that says why not."""
        ended = trueline(self.folder, "replay", "run", *options)
        assert ended.returncode == 2, ended.stderr
        return ended.stderr.splitlines()[-1]


def recorded(folder: Path, program: str, keep: list[str], *arguments: str) -> Recorded:
    """Record a program's text as ``train.py``."""
    (folder / "train.py").write_text(program, "utf-8")
    ended = trueline(folder, "run", "-o", "run", *keep, "train.py", *arguments)
    assert (folder / "run" / "run.json").exists(), ended.stderr
    return Recorded(folder, ended.stdout.splitlines())
