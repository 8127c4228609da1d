"""The numbers of rounds, as the tables of the documentation have them."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from fuzz.worker import Tally

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "eval"))

ROOMS: Final = ("formats", "data", "script", "checks", "watch/dump.py", "adapters/guest", "compare/align")
# Executions a second, about: so many shares of all executions a format gets, so that all take the same time.
WEIGHTS: Final = {
    "wire": 1500,
    "opened_list": 1500,
    "npy": 1500,
    "manifest_json": 1100,
    "log_csv": 850,
    "safetensors_shards": 760,
    "ms_dump": 750,
    "manifest_text": 660,
    "safetensors": 560,
    "ckpt": 520,
    "ms_summary": 520,
    "msprobe": 500,
    "pth_legacy": 470,
    "array_folder": 410,
    "log_text": 340,
    "cifar_pickle": 340,
    "log_json": 310,
    "run_folder": 120,
    "arrays": 290,
    "npz": 250,
    "map_file": 250,
    "huggingface": 200,
    "images": 200,
    "mindrecord": 190,
    "pth_shards": 190,
    "pth": 180,
    "cifar": 150,
    "idx": 150,
    "settings": 90,
    "tensorboard": 80,
    "script": 25,
    "config": 15,
    "csv_gz": 20,
    "parquet": 15,
    "json_lines": 10,
    "csv": 7,
    "tsv": 4,
}


def shares(names: Sequence[str], total: int) -> dict[str, int]:
    """So many executions over all formats; fewer of those that are dear."""
    weights = {name: WEIGHTS.get(name, 100) for name in names}
    return {name: max(1, round(total * one / sum(weights.values()))) for name, one in weights.items()}


def write_tables(tallies: Sequence[Tally], seed: int) -> None:
    """docs/tables/fuzz.json and .md: rounds are added up; where one has found something, its format begins anew."""
    from tables import TABLES, write_table

    folders = [one for one in ROOMS if not one.endswith(".py")]
    path = TABLES / "fuzz.json"
    before = json.loads(path.read_text("utf-8"))["rows"] if path.exists() else []
    rows: dict[str, dict[str, Any]] = {one["format"]: one for one in before}
    for one in tallies:
        row = rows.get(one.format, {})
        if not row or one.found or row["findings"]:
            row = {"format": one.format, **dict.fromkeys(_COUNTED, 0), "peak_mib": 0, "slowest_s": 0.0, "seeds": []}
        for name, value in zip(_COUNTED, (one.executions, one.accepted, one.refused, one.found), strict=True):
            row[name] += value
        row["peak_mib"] = max(row["peak_mib"], one.peak_memory >> 20)
        row["slowest_s"] = round(max(row["slowest_s"], one.slowest), 2)
        row["seeds"] = sorted({*row["seeds"], seed})
        rows[one.format] = row
    ordered = sorted(rows.values(), key=lambda row: row["format"])
    total = {name: sum(row[name] for row in ordered) for name in _COUNTED}
    write_table("fuzz", folders, {"total": total, "rows": ordered})
    _page(TABLES / "fuzz.md", total, ordered)


_COUNTED: Final = ("executions", "accepted", "refused", "findings")


def _page(path: Path, total: dict[str, int], rows: Sequence[dict[str, Any]]) -> None:
    lines = [
        "# Damaged files of every format",
        "",
        "Written by `make fuzz`: `python tests/fuzz/run.py --all --table`. A case is a good file, made by this project's own",
        "writer or by the library that owns the format, damaged by its structure (opcodes, fields, members, chunks, tokens, the",
        "syntax tree) or byte by byte, with lengths and checksums made right again. Each is read as the verbs read it, under an audit",
        "hook (no code, no import by name, no process, no socket, no file outside of the case), a limit of memory and one of CPU",
        "time, both in proportion to the file. Refused means the product's own one line (exit code 2); anything else is a finding.",
        "Executions are those since the last finding in a format was put right; what the very first round found is in",
        "[first_look.md](first_look.md). Peak is what a case held above what the process had before it, slowest the CPU time of the slowest case.",
        "",
        "| format | executions | accepted | refused | findings | peak (MiB) | slowest (s) |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        cells = [row["format"], *(f"{row[name]:,}" for name in ("executions", "accepted", "refused", "findings"))]
        lines.append(f"| {' | '.join([*cells, str(row['peak_mib']), str(row['slowest_s'])])} |")
    cells = [f"{total[name]:,}" for name in ("executions", "accepted", "refused", "findings")]
    lines.append(f"| **all {len(rows)}** | {' | '.join(cells)} | | |")
    path.write_text("\n".join(lines) + "\n", "utf-8")
