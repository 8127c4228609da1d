"""Public projects read by ``trueline scan``: crashes, share of uses decided, what maps, and the speed.

python tests/eval/scanned_projects.py FOLDER [--write]

FOLDER holds one folder for each project; nothing of them is kept. Each is scanned in a process of its own, as a user
does; speed is measured once more over all files together, in one process that has already started.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from trueline.script.uses.many import list_files, read_many

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from eval.tables import TABLES, write_table


def main() -> int:
    """Scan all projects; 1 where one ends in anything but an answer."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--write", action="store_true", help="docs/tables/scan.json and scan.md")
    asked = parser.parse_args()
    projects = sorted(path for path in asked.folder.iterdir() if path.is_dir())
    rows = [scanned(project) for project in projects]
    crashed = [row["project"] for row in rows if row["exit"] not in (0, 1)]
    content = {"projects": len(rows), "crashed": crashed, "rows": rows, "speed": speed(projects)}
    page = rendered(content)
    print(page)
    if asked.write:
        write_table("scan", ("migrate/scan", "script/uses"), content)
        (TABLES / "scan.md").write_text(page, "utf-8")
    return 1 if crashed else 0


def scanned(project: Path) -> dict[str, Any]:
    """One project, as a user scans it."""
    told = subprocess.run(
        [sys.executable, "-m", "trueline", "scan", str(project), "--json"], capture_output=True, text=True, check=False
    )
    if told.returncode not in (0, 1):
        return {"project": project.name, "exit": told.returncode, "said": told.stderr[-300:]}
    answer = json.loads(told.stdout)
    return {"project": project.name, "exit": told.returncode, **answer["summary"], "skipped": len(answer["skipped"])}


def speed(projects: list[Path]) -> dict[str, float]:
    """Lines a second over all files, after start; CPU time counts all processes."""
    files = [file for project in projects for file in list_files([project])]
    before = _cpu()
    began = time.perf_counter()
    found = list(read_many(files, projects))
    wall = time.perf_counter() - began
    lines = sum(file.lines for file in found)
    return {"lines": lines, "per_wall_second": round(lines / wall), "per_cpu_second": round(lines / (_cpu() - before))}


def _cpu() -> float:
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    )


def rendered(content: dict[str, Any]) -> str:
    """The numbers as a page."""
    rows = [row for row in content["rows"] if "uses" in row]
    totals: Counter[str] = Counter()
    for row in rows:
        totals.update({name: row[name] for name in ("files", "lines", "uses", "decided", "mapped")})
        totals.update({f"verdict {name}": count for name, count in row["verdicts"].items()})
    measured = content["speed"]
    lines = ["# Public projects, scanned", "", "Written by `python tests/eval/scanned_projects.py FOLDER --write`.", ""]
    lines += [
        f"{content['projects']} public PyTorch projects, {len(content['crashed'])} crashes. "
        f"{totals['decided']} of {totals['uses']} uses decided ({totals['decided'] / max(totals['uses'], 1):.1%}). "
        f"{measured['per_wall_second']} lines a second of wall time and {measured['per_cpu_second']} of CPU time, "
        f"over {measured['lines']} lines, after start.",
        "",
        "| what | number |",
        "|---|---|",
        *(f"| {name} | {count} |" for name, count in totals.items()),
        "",
        "| project | files | lines | uses | decided | map |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        numbers = " | ".join(str(row[name]) for name in ("files", "lines", "uses", "decided", "mapped"))
        lines.append(f"| {row['project'].replace('+', '/')} | {numbers} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
