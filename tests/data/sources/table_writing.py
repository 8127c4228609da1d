"""Tables written as people write them: by csv, json and pyarrow."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

Columns = Mapping[str, Sequence[Any]]
ENDINGS = ("csv", "tsv", "jsonl", "parquet")


def write_table(path: Path, columns: Columns) -> Path:
    """In the form that the path's ending says; None is an empty cell where there is no null."""
    rows = list(zip(*columns.values(), strict=True))
    if path.suffix in (".csv", ".tsv"):
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, delimiter="\t" if path.suffix == ".tsv" else ",", lineterminator="\n")
            writer.writerow(columns)
            writer.writerows(rows)
    elif path.suffix == ".jsonl":
        lines = [json.dumps(dict(zip(columns, row, strict=True))) for row in rows]
        path.write_text("\n".join(lines) + "\n", "utf-8")
    else:
        pq.write_table(pa.table({name: pa.array(list(values)) for name, values in columns.items()}), path)
    return path
