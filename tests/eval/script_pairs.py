"""The table of pairs of scripts: a benchmark and its port, read by ``trueline check PORT --bench BENCH``.

python tests/eval/script_pairs.py [FOLDER] [--only TEXT] [--write]

Each case is a folder with bench.py, port.py and truth.toml: the differences that a careful reviewer would report, with
item and lines, and those that he would tolerate. A difference is found by a finding on one of its lines (two lines
around them count), and named by one that has its item too. Whatever else is called found is a false alarm.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import sys
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parent)]

from tables import write_table

CASES = Path(__file__).parent / "script_pairs"
MEASURED = ("checks", "script", "apitable")
NEAR_LINES = 2


def main() -> int:
    """Read all pairs, judge each, print what is wrong and the rates."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=CASES)
    parser.add_argument("--only", default="")
    parser.add_argument("--write", action="store_true", help="docs/tables/script_pairs.json")
    asked = parser.parse_args()
    folders = [path.parent for path in sorted(asked.folder.glob("*/truth.toml")) if asked.only in path.parent.name]
    rows = [judge(folder) for folder in folders]
    for row in rows:
        for line in row["wrong"]:
            print(f"{row['case']}: {line}")
    counts = Counter[str]()
    for row in rows:
        counts.update(row["counts"])
    equal = [row for row in rows if row["equal"]]
    clean = sum(not row["counts"]["false_alarms"] for row in equal)
    print(
        f"differences found {counts['found']} of {counts['differences']}, suspected {counts['suspected']}, "
        f"named with their item {counts['named']}; false alarms {counts['false_alarms']}; "
        f"equal ports without an alarm {clean} of {len(equal)}"
    )
    if asked.write:
        summary = {**dict(counts), "equal": len(equal), "equal_clean": clean, "cases": len(rows)}
        print(write_table("script_pairs", MEASURED, {"summary": summary, "rows": rows}))
    return 0


def judge(folder: Path) -> dict[str, Any]:
    """One case: which differences were found, and what was said besides."""
    truth = tomllib.loads((folder / "truth.toml").read_text("utf-8"))
    said = findings(folder)
    problems = [finding for finding in said if finding["conclusion"] == "found"]
    suspects = [finding for finding in said if finding["conclusion"] == "suspect"]
    wrong: list[str] = []
    counts = Counter[str](false_alarms=0)
    explained: list[int] = []
    for difference in truth.get("difference", ()):
        counts["differences"] += 1
        hits = [finding for finding in problems if speaks_of(finding, difference)]
        maybe = [finding for finding in suspects if speaks_of(finding, difference)]
        explained += [id(finding) for finding in (*hits, *maybe)]
        items = {difference["item"], *difference.get("also_items", ())}
        if hits:
            counts["found"] += 1
            named = any(finding["code"] in items or finding["code"].partition(".")[0] in items for finding in hits)
            counts["named"] += named
        elif maybe:
            counts["suspected"] += 1
        else:
            wrong.append(f"missed {difference['item']} at line {difference.get('port_line')}: {difference['why']}")
    tolerated = truth.get("tolerated", ())
    for finding in problems:
        if id(finding) in explained or any(is_tolerated(finding, entry) for entry in tolerated):
            continue
        if finding["because"] is None:
            counts["false_alarms"] += 1
            where = finding["where"]
            wrong.append(f"alarm {finding['code']} at {where['file']}:{where['line']}: {finding['message']}")
    return {"case": folder.name, "equal": truth["verdict"] == "equal", "counts": dict(counts), "wrong": wrong}


def findings(folder: Path) -> list[dict[str, Any]]:
    """What ``check`` says of the port beside its benchmark."""
    from trueline.cli.check import command

    os.environ["TRUELINE_LANG"] = "en"
    printed = io.StringIO()
    line = [str(folder / "port.py"), "--bench", str(folder / "bench.py"), "--json"]
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
        command.main(line, "trueline check", standalone_mode=False)
    answer: dict[str, Any] = json.loads(printed.getvalue())
    return list(answer["findings"])


def speaks_of(finding: Mapping[str, Any], difference: Mapping[str, Any]) -> bool:
    """Whether a finding stands on a line of a difference, in the port or, for what is missing there, the benchmark."""
    where = finding["where"]
    name = Path(where["file"] or "").name
    if name == "bench.py":
        return near(where["line"], [difference.get("bench_line"), *difference.get("also_bench_lines", ())])
    lines = [difference.get("port_line"), *difference.get("also_port_lines", ())]
    if name == "port.py" and near(where["line"], lines):
        return True
    # A finding may stand where the port builds what the difference is in, and quote the benchmark's line.
    return bool(difference.get("bench_text")) and str(difference["bench_text"]) in json.dumps(finding["evidence"])


def near(line: int | None, lines: Sequence[int | None]) -> bool:
    """Whether a line is one of these, or close to it."""
    return line is not None and any(known is not None and abs(line - known) <= NEAR_LINES for known in lines)


def is_tolerated(finding: Mapping[str, Any], entry: Mapping[str, Any]) -> bool:
    """A difference that is there and does no harm: of its item, and on its line where one is given."""
    if finding["code"] != entry.get("item"):
        return False
    return entry.get("port_line") is None or near(finding["where"]["line"], [entry["port_line"]])


if __name__ == "__main__":
    sys.exit(main())
