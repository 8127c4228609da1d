"""The table of programs that go non-finite, and of healthy ones, each watched by ``trueline watch``.

python tests/eval/watch.py [--only TEXT] [--jobs N]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent / "watch")]

from programs import Program, programs, watched, wrong
from tables import TABLES, write_table

# The rooms whose code the table speaks of.
MEASURED = ("record", "watch", "adapters", "apitable")


def main() -> int:
    """Run, judge, write; a run of part of the programs writes nothing."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="", help="programs with this in their name")
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    chosen = [one for one in programs() if asked.only in one.name]
    with ThreadPoolExecutor(asked.jobs) as pool:
        rows = []
        for row in pool.map(examine, chosen):
            rows.append(row)
            print("right" if not row["wrong"] else "WRONG", row["program"], *row["wrong"], flush=True)
    print(f"{len(rows)} programs, {sum(not one['wrong'] for one in rows)} right")
    if not asked.only:
        print(write_table("watch", MEASURED, {"rates": rates(rows), "rows": rows}))
        (TABLES / "watch.md").write_text(page(rows), "utf-8")
    return 1 if any(one["wrong"] for one in rows) else 0


def examine(program: Program) -> dict[str, Any]:
    """One program."""
    row = {"program": program.name, "framework": program.told["framework"], "healthy": program.healthy}
    with tempfile.TemporaryDirectory() as place:
        try:
            answer = watched(program, Path(place) / "answer.json")
        except (RuntimeError, AssertionError) as error:
            return {**row, "way": None, "wrong": [str(error)[-300:]]}
    first = answer["first"] or {}
    return {**row, "cause": first.get("cause"), "way": first.get("way"), "wrong": wrong(program, answer)}


def rates(rows: Sequence[dict[str, Any]]) -> dict[str, dict[str, int]]:
    """How many are right, by framework."""
    found: dict[str, dict[str, int]] = {}
    for kind in ("faulty", "healthy"):
        for framework in ("torch", "mindspore"):
            some = [one for one in rows if (one["healthy"], one["framework"]) == (kind == "healthy", framework)]
            found[f"{kind} {framework}"] = {"right": sum(not one["wrong"] for one in some), "of": len(some)}
    return found


def page(rows: Sequence[dict[str, Any]]) -> str:
    """The table for people."""
    lines = [
        "# Programs that go non-finite",
        "",
        "Written by `make eval`: `python tests/eval/watch.py`. All were written",
    ]
    lines += ["before the watcher existed, by someone who knew only what the frameworks do. Right means: step, phase,"]
    lines += ["operator, line, cause and, for data, the sample; a healthy program is right without an alarm.", ""]
    lines += ["| | right | of |", "|---|---|---|"]
    lines += [f"| {name} | {one['right']} | {one['of']} |" for name, one in rates(rows).items()]
    lines += ["", "| program | framework | cause | found | wrong |", "|---|---|---|---|---|"]
    for one in rows:
        cause = "healthy" if one["healthy"] else one.get("cause") or ""
        lines.append(
            f"| {one['program']} | {one['framework']} | {cause} | {one['way'] or ''} | {'; '.join(one['wrong'])} |"
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
