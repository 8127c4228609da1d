"""A training command of a project, and its runs: plain, recorded and watched, each in a fresh copy of its folder."""

from __future__ import annotations

import hashlib
import json
import os
import resource
import shutil
import signal
import subprocess
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

SECONDS = 600
# More than this of a project's output is a project that was not made small.
MOST_OUTPUT = 20_000_000
RUNS = ("plain", "again", "run", "watch")


@dataclass(frozen=True)
class Project:
    """A command, and what reading the project tells: the steps it makes, whether they are seen and stay finite.

    Where the number of steps depends on chance, `steps_from` is the pattern whose last match in the output tells it.
    """

    name: str
    framework: str
    kind: str
    cwd: Path
    python: str
    argv: tuple[str, ...]
    steps: tuple[int, ...]
    steps_from: str = ""
    subfolder: str = ""
    nan: bool = False
    unseen: bool = False
    varies: bool = False
    env: Mapping[str, str] = field(default_factory=dict)
    note: str = ""


@dataclass(frozen=True)
class Run:
    """What a process left: exit code, output, files it wrote or changed, and TrueLine's answer if there is one."""

    exit: int | None
    out: str
    err: str
    files: Mapping[str, str]
    cpu: float
    answer: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Evidence:
    """All runs of a project."""

    plain: tuple[Run, Run]
    run: Run
    watch: Run
    shown: Mapping[str, Any] | None


def read_list(path: Path) -> list[Project]:
    """The projects of a TOML file; its [env] is added to each project's."""
    told = tomllib.loads(path.read_text("utf-8"))
    found = []
    for row in told["project"]:
        steps = row.get("steps", [])
        found.append(
            Project(
                name=row["name"],
                framework=row["framework"],
                kind=row["kind"],
                cwd=Path(row["cwd"]),
                python=row["python"],
                argv=tuple(row["argv"]),
                steps=tuple(steps if isinstance(steps, list) else [steps]),
                steps_from=row.get("steps_from", ""),
                subfolder=row.get("subfolder", ""),
                nan=row.get("nan", False),
                unseen=row.get("unseen", False),
                varies=row.get("varies", False),
                env={**told.get("env", {}), **row.get("env", {})},
                note=row.get("note", ""),
            )
        )
    return found


def plain(project: Project, place: Path) -> Run:
    """The command as it is."""
    return execute(project, place, [])


def recorded(project: Project, place: Path) -> tuple[Run, Mapping[str, Any] | None]:
    """Under `trueline run`, and what `trueline show` says of the folder."""
    run, answer = place / "recording", place / "run.json"
    shutil.rmtree(run, ignore_errors=True)
    answer.unlink(missing_ok=True)
    done = execute(project, place, ["-m", "trueline", "run", "-o", str(run), "--json", str(answer)], answer)
    shown = subprocess.run(
        [project.python, "-m", "trueline", "show", "--json", str(run)],
        env=environment(project),
        capture_output=True,
        timeout=SECONDS,
    )
    return done, read_answer(shown.stdout)


def watched(project: Project, place: Path) -> Run:
    """Under `trueline watch`."""
    answer = place / "watch.json"
    answer.unlink(missing_ok=True)
    return execute(project, place, ["-m", "trueline", "watch", "--json", str(answer)], answer)


def execute(project: Project, place: Path, before: Sequence[str], answer: Path | None = None) -> Run:
    """One process in a copy of the project's folder that has the same path every time."""
    copy = place / "copy"
    place.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(project.cwd, copy, symlinks=True)
    earlier = contents(copy)
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    out, err = place / "out", place / "err"
    with out.open("wb") as stdout, err.open("wb") as stderr:
        process = subprocess.Popen(
            [project.python, *before, *project.argv],
            cwd=copy / project.subfolder,
            env=environment(project),
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )
        code: int | None
        try:
            code = process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            code = None
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Run(
        exit=code,
        out=text(out),
        err=text(err),
        files={name: mark for name, mark in contents(copy).items() if earlier.get(name) != mark},
        cpu=now.ru_utime + now.ru_stime - spent.ru_utime - spent.ru_stime,
        answer=read_answer(answer.read_bytes()) if answer is not None and answer.exists() else None,
    )


def environment(project: Project) -> dict[str, str]:
    """The caller's environment with the project's; no bytecode, which would be a file that the first run writes."""
    return {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **project.env}


def text(path: Path) -> str:
    """What was printed."""
    with path.open("rb") as stream:
        return stream.read(MOST_OUTPUT).decode("utf-8", "replace")


def contents(folder: Path) -> dict[str, str]:
    """A hash of each file of a folder."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            found[path.relative_to(folder).as_posix()] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def read_answer(content: bytes) -> Mapping[str, Any] | None:
    """A --json answer; None where there is none."""
    try:
        answer = json.loads(content)
    except ValueError:
        return None
    return answer if isinstance(answer, dict) else None


def keep_evidence(place: Path, project: Project, evidence: Evidence, code: str) -> None:
    """What the runs left, under the command and the hash of the code that they ran."""
    place.mkdir(parents=True, exist_ok=True)
    for name, run in zip(RUNS, (*evidence.plain, evidence.run, evidence.watch), strict=True):
        (place / f"{name}.out").write_text(run.out, "utf-8", newline="")
        (place / f"{name}.err").write_text(run.err, "utf-8", newline="")
        (place / f"{name}.json").write_text(json.dumps(asdict(run) | {"out": "", "err": ""}, indent=1), "utf-8")
    (place / "show.json").write_text(json.dumps(evidence.shown, indent=1), "utf-8")
    (place / "command").write_text(command(project), "utf-8")
    (place / "code").write_text(code, "utf-8")


def read_evidence(place: Path, project: Project, code: str) -> Evidence | None:
    """What the runs of the same command and code left."""
    both = read_plain(place, project)
    mark = place / "code"
    if both is None or not mark.exists() or mark.read_text("utf-8") != code:
        return None
    shown = json.loads((place / "show.json").read_text("utf-8"))
    return Evidence(both, read_run(place, "run"), read_run(place, "watch"), shown)


def read_plain(place: Path, project: Project) -> tuple[Run, Run] | None:
    """What the plain runs of the same command left, in which no code of TrueLine's had a part."""
    mark = place / "command"
    if not mark.exists() or mark.read_text("utf-8") != command(project):
        return None
    return read_run(place, "plain"), read_run(place, "again")


def read_run(place: Path, name: str) -> Run:
    """A kept run."""
    told = json.loads((place / f"{name}.json").read_text("utf-8"))
    return Run(**(told | {kind: (place / f"{name}.{kind}").read_bytes().decode() for kind in ("out", "err")}))


def command(project: Project) -> str:
    """What is run where."""
    return json.dumps([str(project.cwd), project.subfolder, project.python, project.argv, dict(project.env)])
