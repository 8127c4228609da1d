"""Healthy projects, the faults that mutations plant in them, and what the checklist says of each."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "mutations"), str(HERE.parent.parent)]

from planting import Mutation, Planted, Project, all_mutations, read_projects

FRAMEWORKS = ("torch", "mindspore")
PROJECTS = HERE / "projects"
# Faults are planted in so many of the projects that a mutation fits, other ones for other mutations.
EACH = 1
_DATA = ("ds", "dp")


@dataclass(frozen=True)
class Variant:
    """A project, with a planted fault or as it is."""

    project: Project
    mutation: Mutation | None = None
    planted: Planted | None = None

    @property
    def name(self) -> str:
        """``torch/flat_blobs`` or ``torch/flat_blobs dp.03/shuffle-false``."""
        fault = f" {self.mutation.code}/{self.mutation.name}" if self.mutation is not None else ""
        return f"{self.project.framework}/{self.project.name}{fault}"

    @property
    def needs_bench(self) -> bool:
        """Whether only a benchmark shows the fault: the healthy project is one."""
        return self.planted is not None and not {"script", "run"} & set(self.planted.shows_in)


def variants(each: int = EACH) -> Iterator[Variant]:
    """All healthy projects, then every mutation in some of the projects that it fits."""
    projects = {framework: read_projects(PROJECTS, framework) for framework in FRAMEWORKS}
    for framework in FRAMEWORKS:
        yield from (Variant(one) for one in projects[framework])
    for mutation in all_mutations():
        fitting = [
            Variant(project, mutation, planted[0])
            for project in projects[mutation.framework]
            if (planted := list(mutation(project))[:1])
        ]
        first = zlib.crc32(f"{mutation.code}/{mutation.name}".encode())
        places = dict.fromkeys((first + at * len(fitting) // each) % len(fitting) for at in range(each) if fitting)
        yield from (fitting[place] for place in places)


def examine(variant: Variant, *, record: bool = True) -> dict[str, Any]:
    """A row: what was found, and what of it is wrong."""
    row: dict[str, Any] = {
        "project": variant.project.name,
        "framework": variant.project.framework,
        "code": variant.mutation.code if variant.mutation else None,
        "mutation": variant.mutation.name if variant.mutation else None,
    }
    with tempfile.TemporaryDirectory(prefix="checked-") as room:
        folder = Path(room) / variant.project.name
        source = PROJECTS / variant.project.framework / variant.project.name
        shutil.copytree(source, folder, ignore=shutil.ignore_patterns("__pycache__"))
        for name, text in (variant.planted.files if variant.planted else {}).items():
            (folder / name).write_text(text, encoding="utf-8")
        bench = Path(room) / "bench" / variant.project.name if variant.needs_bench else None
        if bench is not None:
            shutil.copytree(source, bench, ignore=shutil.ignore_patterns("__pycache__"))
        for place in (folder, bench) if record else ():
            trouble = _recorded(variant.project, place) if place is not None else None
            if trouble is not None:
                return {**row, "found": [], "wrong": [f"did not run: {trouble}"], "named": False, "placed": False}
        found = _asked(variant.project, folder, bench, record)
    return {**row, **judged(variant, found)}


def _recorded(project: Project, folder: Path) -> str | None:
    import warm

    entry = [project.entry] if isinstance(project.entry, str) else list(project.entry)
    env = {**os.environ, "OMP_NUM_THREADS": "1", "ONEDNN_MAX_CPU_ISA": "AVX2", "PYTHONDONTWRITEBYTECODE": "1"}
    line = ["-m", "trueline", "run", "--quiet", "-o", "../run", *entry]
    done = warm.python(project.framework, folder, *line, env=env)
    return None if done.returncode == 0 else (done.stderr.strip().splitlines() or [str(done.returncode)])[-1][:200]


def _asked(project: Project, folder: Path, bench: Path | None, record: bool) -> list[dict[str, Any]]:
    """The roots that are found, as JSON, with file names within the project."""
    from trueline.checks.checklist import fill_in
    from trueline.checks.listing import all_checks
    from trueline.formats.run_folder.reader import open_run
    from trueline.script.script import read_script

    entry = project.entry if isinstance(project.entry, str) else None
    evidence: dict[str, Any] = {}
    for side, place in (("", folder), ("bench_", bench)):
        if place is not None:
            evidence[f"{side}script"] = read_script([place / entry if entry else place])
            if record:
                evidence[f"{side}run"] = open_run(place.parent / "run")
    checklist = fill_in(all_checks(), evidence)
    crashed = [one for one in checklist.findings if one.error is not None]
    found = []
    for one in (*checklist.problems, *crashed):
        shape = one.to_json("en")
        file = one.where.file
        if file is not None and (Path(file).is_absolute() or not (folder / file).is_file()):
            shape["where"]["file"] = str(Path(file).resolve()).removeprefix(f"{folder.resolve()}/")
        found.append(shape)
    return found


def judged(variant: Variant, found: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Whether the planted fault was named, and placed; and what else was said."""
    told = [
        {
            "code": one["code"],
            "by": one.get("by", ""),
            "file": one["where"]["file"],
            "line": one["where"]["line"],
            "sample": one["where"]["sample"],
            "message": one["message"],
            "error": one["error"],
        }
        for one in found
    ]
    planted = variant.planted
    if planted is None:
        return {"found": told, "wrong": [_said(one) for one in told], "named": None, "placed": None}
    own = [one for one in told if one["code"] == planted.code and one["error"] is None]
    others = [one for one in told if one["code"] != planted.code and one["code"] not in planted.because]
    placed = any(_is_placed(one, planted) for one in own)
    wrong = [f"also {_said(one)}" for one in others]
    if not own:
        wrong.insert(0, "not found")
    elif not placed:
        wrong.insert(0, "elsewhere: " + "; ".join(_said(one) for one in own) + f" not {list(planted.places)}")
    return {"found": told, "wrong": wrong, "named": bool(own), "placed": placed, "clean": not others}


def _is_placed(one: dict[str, Any], planted: Planted) -> bool:
    if (one["file"], one["line"]) in planted.places:
        return True
    if planted.code.startswith(_DATA) and planted.code.startswith("ds"):
        # A fault of the data: the field and the sample are its place.
        return not planted.samples or one["sample"] in planted.samples or one["sample"] is None
    return False


def _said(one: dict[str, Any]) -> str:
    return f"{one['code']} at {one['file']}:{one['line']} ({one['by']}) {one['message']}{one['error'] or ''}"[:240]
