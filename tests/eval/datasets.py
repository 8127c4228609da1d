"""The table of small datasets with planted faults, and of clean ones, each described by ``trueline data describe``.

python tests/eval/datasets.py [--only TEXT]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent / "datasets")]

from describing_sets import described, wrong
from make_sets import build
from tables import TABLES, write_table

# The room whose code the table speaks of.
MEASURED = ("data",)


def main() -> int:
    """Write the sets, describe, judge; a part of the sets writes no table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="", help="sets with this in their name")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        rows = [examine(one, root) for one in build(root) if asked.only in one["name"]]
    for row in rows:
        print("right" if not row["wrong"] else "WRONG", row["set"], *row["wrong"])
    print(f"{len(rows)} sets, {sum(not one['wrong'] for one in rows)} right")
    if not asked.only:
        print(write_table("datasets", MEASURED, {"rates": rates(rows), "rows": rows}))
        (TABLES / "datasets.md").write_text(page(rows), "utf-8")
    return 1 if any(one["wrong"] for one in rows) else 0


def examine(one: dict[str, Any], root: Path) -> dict[str, Any]:
    """One set."""
    kinds = [fault["kind"] for fault in one["faults"]]
    return {"set": one["name"], "source": one["source"], "faults": kinds, "wrong": wrong(one, described(one, root))}


def rates(rows: Sequence[dict[str, Any]]) -> dict[str, dict[str, int]]:
    """How many are right, faulty and clean ones apart."""
    parts = {"faulty": [one for one in rows if one["faults"]], "clean": [one for one in rows if not one["faults"]]}
    return {name: {"right": sum(not one["wrong"] for one in some), "of": len(some)} for name, some in parts.items()}


def page(rows: Sequence[dict[str, Any]]) -> str:
    """The table for people."""
    lines = ["# Datasets with planted faults", ""]
    lines += ["Written by `make eval`: `python tests/eval/datasets.py`. All sets were designed before `data describe`"]
    lines += [
        "existed, from the facts about the guide's items alone. Right means: every planted fault is told with its"
    ]
    lines += ["field and the indexes (or files and lines) of its samples; a clean set is right without a word.", ""]
    lines += ["| | right | of |", "|---|---|---|"]
    lines += [f"| {name} | {one['right']} | {one['of']} |" for name, one in rates(rows).items()]
    lines += ["", "| set | source | planted | wrong |", "|---|---|---|---|"]
    lines += [
        f"| {one['set']} | {one['source']} | {', '.join(one['faults']) or 'clean'} | {'; '.join(one['wrong'])} |"
        for one in rows
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
