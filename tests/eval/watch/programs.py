"""Programs that go non-finite in known places, and healthy ones: what ``watch`` must say of each."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
FOLDERS = ("blind",)
_LONGEST = 300


@dataclass(frozen=True)
class Program:
    """A script and what is known of it; ``told`` is its row of cases.toml."""

    name: str
    folder: Path
    told: Mapping[str, Any] = field(repr=False)

    @property
    def healthy(self) -> bool:
        """Whether no alarm may be raised."""
        return bool(self.told.get("healthy"))

    @property
    def lines(self) -> list[str]:
        """The lines that are right, as they stand in the file."""
        return [self.told["line"], *self.told.get("alt_lines", ())]

    @property
    def causes(self) -> list[str]:
        """The causes that are right; the cases know no name for what is simply too large."""
        found = [self.told["cause"], *self.told.get("alt_causes", ())]
        return [*found, "overflow"] if "other" in found else found


def programs() -> list[Program]:
    """All of them."""
    found = []
    for folder in FOLDERS:
        cases = tomllib.loads((HERE / folder / "cases.toml").read_text("utf-8"))["case"]
        found += [Program(one["name"], HERE / folder, one) for one in cases]
    return found


def in_python(folder: Path, *arguments: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """``python arguments…`` in a folder."""
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=_LONGEST, check=False)


def watched(
    program: Program, answer: Path, python: Callable[..., subprocess.CompletedProcess[str]] = in_python
) -> dict[str, Any]:
    """What the verb answers, in a process of its own."""
    sources = str(HERE.parents[2] / "src")
    environment = {"ONEDNN_MAX_CPU_ISA": "AVX2", "OMP_NUM_THREADS": "1", **os.environ, "PYTHONPATH": sources}
    line = ("-m", "trueline", "watch", "--json", str(answer), program.told["script"])
    ended = python(program.folder, *line, env=environment)
    if not answer.exists():
        raise RuntimeError(f"no answer: {ended.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(answer.read_text("utf-8"))
    assert ended.returncode == found["exit"], ended.stderr[-2000:]
    return found


def wrong(program: Program, answer: Mapping[str, Any]) -> list[str]:
    """What in the answer is not right; for a healthy program an alarm."""
    first = answer["first"]
    if program.healthy:
        return [] if first is None and answer["exit"] == 0 else [f"alarm: {answer['conclusion']}"]
    if first is None:
        return [f"nothing found: {answer['conclusion']}"]
    told = program.told
    # A weight that is loaded bad shows in the forward pass; the answer calls it by its own name.
    phases = [told["phase"], *(["weights"] if told["cause"] == "bad_weight" else [])]
    names = [first["op"].lower(), first["name"].lower()]
    lines = [_text(first["file"], first["line"])]
    if first["forward_line"] is not None:
        lines.append(_text(first["forward_line"]["file"], first["forward_line"]["line"]))
    found = {
        "step": first["step"] == told["step"],
        "phase": first["phase"] in phases,
        "line": any(one in program.lines for one in lines),
        "op": any(op in name or name in op for op in told["op"] for name in names if name),
        "cause": first["cause"] in program.causes,
        "sample": "sample" not in told or told["sample"] in first["samples"],
    }
    said = {"step": first["step"], "phase": first["phase"], "line": lines, "op": names, "cause": first["cause"]}
    said["sample"] = first["samples"]
    return [f"{name}: {said[name]} instead of {told.get(name)}" for name, right in found.items() if not right]


def _text(file: str | None, line: int | None) -> str:
    if file is None or line is None:
        return ""
    lines: Sequence[str] = Path(file).read_text("utf-8").splitlines()
    return lines[line - 1].strip()
