"""Recording a program with its states, and replaying it, each in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import warm
from cli.calling import environment

Ended = subprocess.CompletedProcess[str]


# A replay starts Python once more, with the run's environment; this says that it has.
HAS_STARTED = {} if os.environ.get("TRUELINE_WHOLE") else {"TRUELINE_REPLAYING": "1"}


def trueline(folder: Path, *arguments: str, stdin: str = "", framework: str = "torch") -> Ended:
    """The command line, in a folder, where the framework is imported already and replays need not start again."""
    env = environment(OMP_NUM_THREADS="1", **HAS_STARTED)
    return warm.python(framework, folder, "-m", "trueline", *arguments, env=env, stdin=stdin)


def started(folder: Path, *arguments: str) -> Ended:
    """The command line, in a folder, with all that a start of Python is."""
    command, env = [sys.executable, "-m", "trueline", *arguments], environment(OMP_NUM_THREADS="1")
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Recorded:
    """A run folder ``run`` beside its script, and what the script has printed."""

    folder: Path
    lines: list[str]
    framework: str

    def replay(self, *options: str, afresh: bool = False) -> tuple[dict[str, Any], list[str]]:
        """The answer, and what the script has printed this time."""
        line = ("replay", "run", "--json", "answer.json", *options)
        ended = started(self.folder, *line) if afresh else trueline(self.folder, *line, framework=self.framework)
        assert (self.folder / "answer.json").exists(), ended.stderr
        found: dict[str, Any] = json.loads((self.folder / "answer.json").read_text("utf-8"))
        (self.folder / "answer.json").unlink()
        assert ended.returncode == found["exit"], ended.stderr
        return found, ended.stdout.splitlines()

    def refused(self, *options: str) -> str:
        """The line that says why not."""
        ended = trueline(self.folder, "replay", "run", *options, framework=self.framework)
        assert ended.returncode == 2, ended.stderr
        return ended.stderr.splitlines()[-1]


def recorded(folder: Path, program: str, keep: list[str], *arguments: str) -> Recorded:
    """Record a program's text as ``train.py``."""
    (folder / "train.py").write_text(program, "utf-8")
    framework = "mindspore" if "import mindspore" in program else "torch"
    ended = trueline(folder, "run", "-o", "run", *keep, "train.py", *arguments, framework=framework)
    assert (folder / "run" / "run.json").exists(), ended.stderr
    return Recorded(folder, ended.stdout.splitlines(), framework)
