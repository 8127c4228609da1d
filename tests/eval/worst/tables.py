"""Tables, logs and texts that ask for more than they are worth."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .case import Case, Make


def file(name: str, content: Callable[[int], bytes], *verb: str) -> Make:
    """One file of this content."""

    def make(folder: Path, size: int) -> list[str | Path]:
        path = folder / name
        path.write_bytes(content(size))
        return [*(verb or ("data", "describe")), path] if verb[:1] != ("compare",) else ["compare", path, path]

    return make


def lines(line: bytes, head: bytes = b"") -> Callable[[int], bytes]:
    """The same line over and over."""
    return lambda size: head + line * max(1, size // len(line))


def _packed(content: Callable[[int], bytes], ratio: int) -> Callable[[int], bytes]:
    return lambda size: gzip.compress(content(size * ratio), 9)


def parquet(values: Callable[[Any], Any], **options: Any) -> Make:
    """A column of values that take no room in the file; they are made of pyarrow's types."""

    def make(folder: Path, size: int) -> list[str | Path]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        path = folder / "x.parquet"
        pq.write_table(pa.table({"a": values(pa)}), path, compression="zstd", **options)
        return ["data", "describe", path]

    return make


def _repeated(value: str | bytes, times: int) -> Callable[[Any], Any]:
    return lambda pa: pa.DictionaryArray.from_arrays(pa.array(np.zeros(times, np.int32)), pa.array([value]))


def _lists(each: int, count: int) -> Callable[[Any], Any]:
    return lambda pa: pa.ListArray.from_arrays(
        pa.array(np.arange(0, each * count + 1, each), pa.int32()), pa.array(np.zeros(each * count, np.int8))
    )


_LARGE = {"dictionary_pagesize_limit": 1 << 30, "write_statistics": False}


_TABLES = {
    ("csv", "two cells a line"): file("x.csv", lines(b"1,2\n", b"a,b\n")),
    ("csv", "one cell"): file("x.csv", lambda size: b"a\n" + b"x" * size),
    ("csv", "one line of cells"): file("x.csv", lambda size: b"a," * (size // 2) + b"\n"),
    ("csv", "an open quote"): file("x.csv", lambda size: b'a,b\n"' + b"x,\n" * (size // 3)),
    ("csv.gz", "packed lines"): file("x.csv.gz", _packed(lines(b"1,2\n", b"a,b\n"), 60)),
    ("csv.gz", "a packed cell"): file("x.csv.gz", _packed(lambda size: b"a\n" + b"x" * size, 200)),
    ("tsv", "two cells a line"): file("x.tsv", lines(b"1\t2\n", b"a\tb\n")),
    ("json lines", "small objects"): file("x.jsonl", lines(b'{"a":1}\n')),
    ("json lines", "keys without end"): file(
        "x.jsonl", lambda size: b"".join(b'{"%d":1}\n' % place for place in range(size // 14))
    ),
    ("json lines", "lists in lists"): file("x.jsonl", lines(b'{"a":' + b"[" * 500 + b"]" * 500 + b"}\n")),
    ("json lines", "empty lists"): file("x.jsonl", lambda size: b'{"a":[' + b"[]," * (size // 3) + b"0]}\n"),
    ("parquet", "one text many times"): parquet(_repeated("a" * 1000, 200_000), row_group_size=50_000),
    ("parquet", "one long text many times"): parquet(_repeated("a" * 1_000_000, 100_000), **_LARGE),
    ("parquet", "bytes of ten kilobytes many times"): parquet(_repeated(b"a" * 10_000, 100_000), **_LARGE),
    ("parquet", "one number many times"): parquet(lambda pa: pa.array(np.zeros(15_000_000, np.int8))),
    ("parquet", "one number more often"): parquet(lambda pa: pa.array(np.zeros(50_000_000, np.int8))),
    ("parquet", "short lists"): parquet(_lists(100, 100_000)),
    ("parquet", "long lists"): parquet(_lists(10_000_000, 2)),
    ("text log", "spaces"): file("x.log", lambda size: b"loss" + b" " * size + b"1\n", "compare"),
    ("text log", "short lines"): file("x.log", lines(b"loss: 1\n"), "compare"),
    ("text log", "numbers in a line"): file("x.log", lambda size: b"loss 1 " * (size // 7), "compare"),
}

CASES = [Case(format, name, make) for (format, name), make in _TABLES.items()]
