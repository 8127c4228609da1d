"""The table of what reading costs: for each format the worst files of a megabyte, read by the verb that reads them.

python tests/eval/worst_files.py [--only TEXT]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parent)]

from tables import TABLES, write_table
from worst import cases
from worst.case import SIZE, Case
from worst.measuring import MIB, Measuring

# The rooms whose code the table speaks of.
MEASURED = ("formats", "data/sources", "model")


def main() -> int:
    """Write the files, read them, hold them against their budget; a part of them writes no table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="", help="files with this in format or name")
    asked = parser.parse_args()
    rows = []
    with Measuring() as measuring:
        for case in cases():
            if asked.only in case.id:
                rows.append(examine(case, measuring))
                print(*(f"{key}={value}" for key, value in rows[-1].items()), flush=True)
    beyond = [one for one in rows if not one["within"]]
    print(f"{len(rows)} files, {len(beyond)} beyond their budget")
    if not asked.only:
        print(write_table("worst_files", MEASURED, {"files": len(rows), "beyond": len(beyond), "rows": rows}))
        (TABLES / "worst_files.md").write_text(page(rows), "utf-8")
    return 1 if beyond else 0


def examine(case: Case, measuring: Measuring) -> dict[str, Any]:
    """One file."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        arguments = case.make(folder, SIZE)
        size = sum(one.stat().st_size for one in folder.rglob("*") if one.is_file() and not one.is_symlink())
        found = measuring.run(arguments, folder)
    memory, seconds = case.budget(size)
    row = {"format": case.format, "file": case.name, "verb": verb_of(arguments), "bytes": size}
    row |= {"memory_mib": found.memory // MIB, "budget_mib": memory // MIB}
    row |= {"cpu_seconds": round(found.seconds, 2), "budget_seconds": round(seconds, 1), "ended": found.ended}
    sound = found.exit in (0, 1, 2)
    return {**row, "within": sound and found.memory <= memory and found.seconds <= seconds}


def verb_of(arguments: Sequence[str | Path]) -> str:
    """The verb that was asked."""
    return " ".join(str(one) for one in arguments[: 2 if arguments[0] == "data" else 1])


def page(rows: Sequence[dict[str, Any]]) -> str:
    """The table for people."""
    formats = sorted({one["format"] for one in rows})
    lines = ["# The worst files", ""]
    lines += ["Written by `make eval`: `python tests/eval/worst_files.py`. For each format files of about a megabyte"]
    lines += ["(some are far smaller, because nothing more is needed) that were made to take as much memory or work as"]
    lines += [
        "can be thought of, each read by the verb that reads it, in a process of its own. Memory is the peak above"
    ]
    lines += [
        "the process's start, CPU the processor time above it; the budget is that of SECURITY.md for the files' size,"
    ]
    lines += ["a unit of work taken as a microsecond; tables (CSV, TSV, JSON lines, Parquet) have 128 MiB more, for"]
    lines += ["DuckDB, and scripts for their syntax tree. Refused means one line and exit code 2.", ""]
    lines += ["| format | files | most memory | most CPU | beyond the budget |", "|---|---|---|---|---|"]
    for format in formats:
        some = [one for one in rows if one["format"] == format]
        memory, cpu = max(one["memory_mib"] for one in some), max(one["cpu_seconds"] for one in some)
        beyond = sum(not one["within"] for one in some)
        lines += [f"| {format} | {len(some)} | {memory} MiB | {cpu} s | {beyond} |"]
    lines += ["", "| format | file | verb | bytes | memory | budget | CPU | budget | ended |"]
    lines += ["|---|---|---|---|---|---|---|---|---|"]
    for one in rows:
        mark = "" if one["within"] else " (beyond)"
        lines += [
            f"| {one['format']} | {one['file']} | {one['verb']} | {one['bytes']} | {one['memory_mib']} MiB"
            f" | {one['budget_mib']} MiB | {one['cpu_seconds']} s | {one['budget_seconds']} s | {one['ended']}{mark} |"
        ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
