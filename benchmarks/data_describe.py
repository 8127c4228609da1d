"""Describing a Parquet table beside a DuckDB scan that counts nulls; memory with ten times the data."""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from children import peak_anonymous, run
from cli import children_seconds
from measure import interleave

SCAN = Path(__file__).resolve().parent / "describe_loops" / "count_nulls.py"
LARGE, SMALL, GROUP = 8_000_000, 800_000, 200_000
SCAN_LIMIT, MEMORY_LIMIT = 2.0, 1.25
missed: list[str] = []


def make(path: Path, rows: int, *, faults: bool = False) -> Path:
    """Numbers of four types, text and a label; with faults, a few values of each column are missing."""
    draw = np.random.default_rng(0)
    words = np.array([f"word{place}" for place in range(5000)])
    writer = None
    for start in range(0, rows, GROUP):
        count = min(GROUP, rows - start)
        columns: dict[str, np.ndarray] = {}
        for place in range(8):
            columns[f"f{place}"] = draw.standard_normal(count, dtype=np.float32)
        for place in range(4):
            columns[f"d{place}"] = draw.standard_normal(count)
            columns[f"i{place}"] = draw.integers(0, 1_000_000, count)
        columns["name"] = np.char.add(words[draw.integers(0, 5000, count)], draw.integers(0, 10**6, count).astype(str))
        columns["label"] = draw.integers(0, 10, count)
        if faults:
            columns["f0"][::1000] = np.nan
            columns["d0"][7] = np.inf
            columns["name"][::5000] = ""
        arrays = {name: pa.array(values) for name, values in columns.items()}
        if faults:
            arrays["i0"] = pa.array(columns["i0"], mask=np.arange(count) % 500 == 3)
        table = pa.table(arrays)
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    assert writer is not None
    writer.close()
    return path


def describe(path: Path, *more: str) -> list[str]:
    """The command line to measure."""
    return ["-m", "trueline", "data", "describe", str(path), "--json", *more]


def main(folder: Path) -> None:
    """All of it."""
    clean = make(folder / "clean.parquet", LARGE)
    faulty = make(folder / "faulty.parquet", LARGE, faults=True)
    small = make(folder / "small.parquet", SMALL)
    measured = interleave(
        {
            "scan that counts nulls": lambda: run([str(SCAN), str(clean)]),
            "data describe": lambda: run(describe(clean)),
            "scan of a faulty table": lambda: run([str(SCAN), str(faulty)]),
            "data describe of it": lambda: run(describe(faulty)),
            "data describe --exact": lambda: run(describe(clean, "--exact")),
        },
        repeat=5,
        clock=children_seconds,
    )
    size = clean.stat().st_size / 1e9
    print(f"Parquet of {size:.2f} GB, {LARGE:,} rows of 18 columns, whole processes, CPU seconds")
    scans = {"data describe": "scan that counts nulls", "data describe of it": "scan of a faulty table"}
    for name, sample in measured.items():
        scan = measured[scans.get(name, "scan that counts nulls")].median
        spread = f"({sample.low:.2f} - {sample.high:.2f})"
        print(f"  {name:<24} {sample.median:6.2f}  {spread:<16}  x scan {sample.median / scan:.2f}")
    for name, scan in scans.items():
        check(f"{name} / {scan}", measured[name].median / measured[scan].median, SCAN_LIMIT)
    print("\nanonymous memory of the whole process, MB")
    peaks = [[peak_anonymous(describe(path)) for path in (small, clean)] for _ in range(5)]
    memory = dict(zip((small.name, clean.name), map(statistics.median, zip(*peaks, strict=True)), strict=True))
    for name, most in memory.items():
        print(f"  {name:<24} {most:6.0f}")
    check("ten times the data / once", memory[clean.name] / memory[small.name], MEMORY_LIMIT)


def check(what: str, measured: float, limit: float) -> None:
    """Print a row against its limit."""
    print(f"  {what}: {measured:.2f} (limit {limit:g})")
    if measured > limit:
        missed.append(what)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="trueline-bench-") as folder:
        main(Path(folder))
    for one in missed:
        print(f"missed: {one}")
    sys.exit(1 if missed else 0)
