"""The table of pipelines with a fault, and of healthy ones, each looked at by ``trueline data debug``.

python tests/eval/pipelines.py [--only TEXT] [--jobs N]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent / "pipelines")]

from cases import FRAMEWORKS, Case, cases, debugged, wrong
from tables import TABLES, write_table

# The rooms whose code the table speaks of.
MEASURED = ("data/pipeline", "adapters")
# Before any of them was read by the one who wrote the code: fault, operator, sample and line; the fault alone; healthy.
FIRST_LOOK = {
    "torch": {"right": 6, "fault": 36, "of": 43, "healthy_right": 14, "healthy_of": 14},
    "mindspore": {"right": 16, "fault": 41, "of": 52, "healthy_right": 11, "healthy_of": 13},
}


def main() -> int:
    """Run, judge, write; a run of part of the pipelines writes nothing."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="", help="pipelines with this in their name")
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    chosen = [one for one in cases() if asked.only in f"{one.framework}/{one.name}"]
    with ThreadPoolExecutor(asked.jobs) as pool:
        rows = []
        for row in pool.map(examine, chosen):
            rows.append(row)
            name = f"{row['framework']}/{row['pipeline']}"
            print("right" if not row["wrong"] else "WRONG", name, *row["wrong"], flush=True)
    print(f"{len(rows)} pipelines, {sum(not one['wrong'] for one in rows)} right")
    if not asked.only:
        table = {"rates": rates(rows), "first_look": FIRST_LOOK, "rows": rows}
        print(write_table("pipelines", MEASURED, table))
        (TABLES / "pipelines.md").write_text(page(rows), "utf-8")
    return 1 if any(one["wrong"] for one in rows) else 0


def examine(case: Case) -> dict[str, Any]:
    """One pipeline."""
    row = {"pipeline": case.name, "framework": case.framework, "fault": case.told["fault"]}
    try:
        answer = debugged(case)
    except (RuntimeError, ValueError) as error:
        return {**row, "said": None, "wrong": [str(error)[-300:]]}
    said = next((one["message"] for one in answer["findings"] if one["conclusion"] != "none"), None)
    return {**row, "said": said if not case.healthy else None, "wrong": wrong(case, answer)}


def rates(rows: Sequence[dict[str, Any]]) -> dict[str, dict[str, int]]:
    """How many are right, by framework."""
    found: dict[str, dict[str, int]] = {}
    for healthy in (False, True):
        for framework in FRAMEWORKS:
            some = [one for one in rows if ((one["fault"] is None), one["framework"]) == (healthy, framework)]
            name = f"{'healthy' if healthy else 'faulty'} {framework}"
            found[name] = {"right": sum(not one["wrong"] for one in some), "of": len(some)}
    return found


def page(rows: Sequence[dict[str, Any]]) -> str:
    """The table for people."""
    lines = [
        "# Pipelines with a fault",
        "",
        "Written by `make eval`: `python tests/eval/pipelines.py`. All were written before the code that looks at",
        "them, by someone who knew only what the frameworks do. Right means: the fault, the operator, the sample and",
        "the line; a healthy pipeline is right where nothing is found.",
        "",
        "| | right | of |",
        "|---|---|---|",
    ]
    lines += [f"| {name} | {one['right']} | {one['of']} |" for name, one in rates(rows).items()]
    lines += ["", "At the first look, before any was read:", ""]
    lines += ["| | right | the fault alone | of | healthy left alone | of |", "|---|---|---|---|---|---|"]
    for name, one in FIRST_LOOK.items():
        lines.append(f"| {name} | {' | '.join(str(number) for number in one.values())} |")
    lines += ["", "| pipeline | framework | fault | said | wrong |", "|---|---|---|---|---|"]
    for one in rows:
        said = (one["said"] or "").replace("|", "\\|")
        fault = one["fault"] or "healthy"
        lines.append(f"| {one['pipeline']} | {one['framework']} | {fault} | {said} | {'; '.join(one['wrong'])} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
