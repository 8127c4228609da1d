"""The table of projects as people write them, each run plainly twice, recorded and watched.

python tests/eval/projects.py LIST.toml... [--only TEXT] [--keep FOLDER] [--write]

With --keep, what a project's runs left is kept and not run again as long as command and code are the same, plain runs
as long as the command is.

LIST has one [[project]] for each: name, framework, kind, cwd, python, argv, and the steps that it makes (a number, or
those that are plausible), known from reading it. `subfolder` is where in cwd it is started, `steps_from` a pattern
in its output that tells the steps, `nan = true` where options or data make it go non-finite, `unseen = true` where it
trains in processes of its own, `varies = true` where equal numbers of two runs are chance. Projects and lists stay
outside of the repository.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent / "projects")]

from judgement import comparable, made, steps, wrong
from project import (
    Evidence,
    Project,
    Run,
    keep_evidence,
    plain,
    read_evidence,
    read_list,
    read_plain,
    recorded,
    watched,
)
from tables import TABLES, code_hash, write_table

# The rooms whose code the table speaks of.
MEASURED = ("record", "watch", "adapters")
# Folders of this machine, which are no part of a table.
PLACE = re.compile(r"/[^\s'\"]*/(?:copy|site-packages)/")

ABOUT = """\
Written by `python tests/eval/projects.py LIST.toml --write`. The projects are public ones, unchanged but for
the name of a device in some, on small made-up data; nothing of them is kept here.
Each is run plainly twice, under `trueline run` and under `trueline watch`. Right
means: the same exit code, the same printed numbers and the same written files wherever two plain runs agree, no line of
output added or lost but TrueLine's own, every step that the project makes recorded and watched, and no false alarm or
all-clear. Non-finite projects were made so by options or data alone: right means that `watch` hits, or
says that nothing is known where the script ends with an error of its own before its loss is there."""


def main() -> int:
    """Run and judge; the table is written on demand, and only of the whole list."""
    parser = argparse.ArgumentParser()
    parser.add_argument("lists", type=Path, nargs="+")
    parser.add_argument("--only", default="", help="projects with this in their name")
    parser.add_argument("--keep", type=Path, help="where output and answers of each project are left")
    parser.add_argument("--write", action="store_true", help="write the tables")
    asked = parser.parse_args()
    rows = []
    for project in [one for path in asked.lists for one in read_list(path)]:
        if asked.only not in project.name:
            continue
        row = examine(project, asked.keep)
        rows.append(row)
        print("right" if not row["wrong"] else "WRONG", project.name, *row["wrong"], sep=" | ", flush=True)
    print(f"{len(rows)} projects, {sum(not one['wrong'] for one in rows)} right in all respects")
    if asked.write and not asked.only:
        print(write_table("projects", MEASURED, {"rates": rates(rows), "rows": rows}))
        (TABLES / "projects.md").write_text(page(rows), "utf-8")
    return 1 if any(one["wrong"] for one in rows) else 0


def examine(project: Project, keep: Path | None) -> dict[str, Any]:
    """All runs of a project, or what they left before."""
    if keep is None:
        with tempfile.TemporaryDirectory() as place:
            return row(project, observe(project, Path(place), None))
    kept, code = keep / project.name, code_hash(MEASURED)
    evidence = read_evidence(kept, project, code)
    if evidence is None:
        # Always the same folder: what a script prints of its place is then the same too.
        evidence = observe(project, keep / "work", read_plain(kept, project))
        keep_evidence(kept, project, evidence, code)
    return row(project, evidence)


def observe(project: Project, place: Path, earlier: tuple[Run, Run] | None) -> Evidence:
    """Plain runs, unless there are some, a recorded and a watched one."""
    both = earlier or (plain(project, place), plain(project, place))
    run, shown = recorded(project, place)
    return Evidence(both, run, watched(project, place), shown)


def row(project: Project, evidence: Evidence) -> dict[str, Any]:
    """A project's line of the table."""
    first, second = evidence.plain
    under = {"run": evidence.run, "watch": evidence.watch}
    return {
        "project": project.name,
        "framework": project.framework,
        "kind": project.kind,
        "nan": project.nan,
        "exit": {"plain": first.exit, **{name: one.exit for name, one in under.items()}},
        "compared": comparable(evidence, project.varies),
        "files": sum(second.files.get(name) == mark for name, mark in first.files.items()),
        "steps": {
            "plain": list(made(project, first)),
            "run": steps(evidence.run.answer),
            "show": steps(evidence.shown),
            "watch": steps(evidence.watch.answer),
        },
        "watch": (evidence.watch.answer or {}).get("conclusion"),
        "cpu": {
            "plain": round((first.cpu + second.cpu) / 2, 1),
            **{name: round(one.cpu, 1) for name, one in under.items()},
        },
        "wrong": [PLACE.sub("", one) for one in wrong(project, evidence)],
        "note": project.note,
    }


def rates(rows: Sequence[dict[str, Any]]) -> dict[str, dict[str, int]]:
    """How many are right, by framework, healthy projects and those made non-finite apart."""
    found: dict[str, dict[str, int]] = {}
    for kind in ("healthy", "non-finite"):
        for framework in ("torch", "mindspore"):
            some = [one for one in rows if (one["nan"], one["framework"]) == (kind == "non-finite", framework)]
            found[f"{kind} {framework}"] = {"right": sum(not one["wrong"] for one in some), "of": len(some)}
    return found


def page(rows: Sequence[dict[str, Any]]) -> str:
    """The table for people."""
    lines = ["# Public projects, recorded and watched", "", ABOUT, ""]
    lines += ["| | right | of |", "|---|---|---|"]
    lines += [f"| {name} | {one['right']} | {one['of']} |" for name, one in rates(rows).items()]
    lines += ["", "| project | framework | kind | exit: plain, run, watch | output compared | files compared |"]
    lines[-1] += " steps: plain, run, watch | CPU seconds: plain, run, watch | wrong | note |"
    lines += ["|---|---|---|---|---|---|---|---|---|---|"]
    for one in rows:
        made = "/".join(map(str, one["steps"]["plain"])) or "?"
        cells = [one["project"], one["framework"], one["kind"] + (", non-finite" if one["nan"] else "")]
        cells += [", ".join(str(code) for code in one["exit"].values()), one["compared"], str(one["files"])]
        cells += [f"{made}, {one['steps']['run']}, {one['steps']['watch']}"]
        cells += [", ".join(str(number) for number in one["cpu"].values())]
        cells += ["; ".join(one["wrong"]), one["note"]]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
