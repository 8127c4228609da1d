"""Healthy projects, the faults that mutations plant in them, and what the checklist says of each."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import threading
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
# By itself, and with the healthy project as its benchmark.
MODES = ("alone", "against")


@dataclass(frozen=True)
class Variant:
    """A project, with a planted fault or as it is."""

    project: Project
    mutation: Mutation | None = None
    planted: Planted | None = None

    @property
    def name(self) -> str:
        """``torch/flat_blobs healthy`` or ``torch/flat_blobs dp.03/shuffle-false``."""
        fault = f"{self.mutation.code}/{self.mutation.name}" if self.mutation is not None else "healthy"
        return f"{self.project.framework}/{self.project.name} {fault}"


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


class Benchmarks:
    """The healthy projects as benchmarks: each copied and recorded once, when first asked for."""

    def __init__(self, room: Path, *, record: bool) -> None:
        self._room, self._record = room, record
        self._lock = threading.Lock()
        self._there: dict[str, tuple[threading.Lock, Path]] = {}

    def of(self, project: Project) -> Path:
        """The folder of the healthy project, with its run beside it."""
        name = f"{project.framework}/{project.name}"
        with self._lock:
            lock, folder = self._there.setdefault(name, (threading.Lock(), self._room / name / project.name))
        with lock:
            if not folder.is_dir():
                _copied(project, folder)
                trouble = _recorded(project, folder) if self._record else None
                if trouble is not None:
                    raise RuntimeError(f"{name} does not run: {trouble}")
        return folder


def examine(variant: Variant, benchmarks: Benchmarks | None, *, record: bool = True) -> dict[str, Any]:
    """A row: what was found by the project itself, what with the healthy one as its benchmark, and what of it is wrong.

    Without benchmarks the second is left out.
    """
    row: dict[str, Any] = {
        "project": variant.project.name,
        "framework": variant.project.framework,
        "code": variant.mutation.code if variant.mutation else None,
        "mutation": variant.mutation.name if variant.mutation else None,
    }
    bench = benchmarks.of(variant.project) if benchmarks is not None else None
    with tempfile.TemporaryDirectory(prefix="checked-") as room:
        if variant.planted is None and bench is not None:
            folder = bench
        else:
            folder = Path(room) / variant.project.name
            _copied(variant.project, folder)
            for name, text in (variant.planted.files if variant.planted else {}).items():
                (folder / name).write_text(text, encoding="utf-8")
            if record and (trouble := _recorded(variant.project, folder)) is not None:
                # A script that fails is still read.
                row["did_not_run"], record = trouble, False
        for mode, against in zip(MODES, (None, bench), strict=True):
            if mode == "alone" or against is not None:
                row[mode] = judged(variant, _asked(variant.project, folder, against, record))
    return row


def _copied(project: Project, folder: Path) -> None:
    source = PROJECTS / project.framework / project.name
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("__pycache__"))


def _recorded(project: Project, folder: Path) -> str | None:
    import warm

    entry = [project.entry] if isinstance(project.entry, str) else list(project.entry)
    env = {**os.environ, "OMP_NUM_THREADS": "1", "ONEDNN_MAX_CPU_ISA": "AVX2", "PYTHONDONTWRITEBYTECODE": "1"}
    line = ["-m", "trueline", "run", "--quiet", "-o", "../run", *entry]
    done = warm.python(project.framework, folder, *line, env=env)
    return None if done.returncode == 0 else (done.stderr.strip().splitlines() or [str(done.returncode)])[-1][:200]


def _asked(project: Project, folder: Path, bench: Path | None, record: bool) -> list[dict[str, Any]]:
    """All that is found, roots and what follows from them, as JSON, with file names within the project."""
    from trueline.checks.engine.checklist import fill_in
    from trueline.checks.engine.listing import all_checks
    from trueline.formats.run_folder.reader import open_run
    from trueline.model.finding import Conclusion
    from trueline.script.script import read_script

    entry = project.entry if isinstance(project.entry, str) else None
    evidence: dict[str, Any] = {}
    for side, place in (("", folder), ("bench_", bench)):
        if place is not None:
            evidence[f"{side}script"] = read_script([place / entry if entry else place])
            if record:
                evidence[f"{side}run"] = open_run(place.parent / "run")
    checklist = fill_in(all_checks(), evidence)
    found = []
    for one in checklist.findings:
        if one.conclusion is not Conclusion.FOUND and one.error is None:
            continue
        shape = one.to_json("en")
        if bench is not None:
            shape["message"] = shape["message"].replace(f"{bench.parent}/", "bench/")
        file = one.where.file
        if file is not None and (Path(file).is_absolute() or not (folder / file).is_file()):
            shape["where"]["file"] = str(Path(file).resolve()).removeprefix(f"{folder.resolve()}/")
        found.append(shape)
    return found


def judged(variant: Variant, found: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Whether the planted fault was named, and placed; and what else was said to be a root."""
    told = [
        {
            "code": one["code"],
            "by": one.get("by", ""),
            "because": one["because"],
            "file": one["where"]["file"],
            "line": one["where"]["line"],
            "sample": one["where"]["sample"],
            "message": one["message"],
            "error": one["error"],
        }
        for one in found
    ]
    roots = [one for one in told if one["because"] is None]
    planted = variant.planted
    if planted is None:
        return {"found": roots, "wrong": [_said(one) for one in roots], "named": None, "placed": None}
    # One fault may break two items, a layer that is never called cg.03 and tr.13: then one is the root, at the
    # planted place, and the other follows from it.
    twins = {one["code"] for one in roots if _is_placed(one, planted)}
    own = [one for one in told if one["code"] == planted.code and one["error"] is None]
    own = [one for one in own if one["because"] is None or one["because"] in twins]
    followed = {one["because"] for one in own}
    others = [one for one in roots if one["code"] not in (planted.code, *planted.because, *followed)]
    placed = any(_is_placed(one, planted) for one in own) or bool(followed & twins)
    wrong = [f"also {_said(one)}" for one in others]
    if not own:
        wrong.insert(0, "not found")
    elif not placed:
        wrong.insert(0, "elsewhere: " + "; ".join(_said(one) for one in own) + f" not {list(planted.places)}")
    return {"found": roots, "wrong": wrong, "named": bool(own), "placed": placed, "clean": not others}


def _is_placed(one: dict[str, Any], planted: Planted) -> bool:
    if (one["file"], one["line"]) in planted.places:
        return True
    if one["code"].startswith("ds."):
        # A fault of the data: the field and the sample are its place.
        return not planted.samples or one["sample"] in planted.samples or one["sample"] is None
    return False


def _said(one: dict[str, Any]) -> str:
    return f"{one['code']} at {one['file']}:{one['line']} ({one['by']}) {one['message']}{one['error'] or ''}"[:240]
