"""Tables as sources: CSV, TSV, Parquet, JSON lines and folders of them, with what cannot be read stepped over."""

from __future__ import annotations

import datetime
import gzip
import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from data.sources.table_writing import ENDINGS, write_table

from trueline.data.sources import duck
from trueline.data.sources.tables import TableSource, is_table, open_table
from trueline.model.trouble import BadFile, BadUsage


def all_of(source: TableSource, name: str) -> list[Any]:
    """A column as a list, chunk by chunk."""
    found: list[Any] = []
    for chunk in source.chunks([name]):
        found += list(chunk.columns[name])
    return found


def samples_of(source: TableSource) -> list[int]:
    return [index for chunk in source.chunks() for index in range(chunk.start, chunk.start + chunk.size)]


def skipped(source: TableSource) -> dict[str, list[str]]:
    return {reason.removeprefix("describe."): places for reason, places in source.skipped.places.items()}


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_table_is_read_as_it_was_written(tmp_path: Path, ending: str) -> None:
    columns = {"x": [1.5, -2.0, 3.25], "n": [1, 2, 3], "name": ["a", "b, c", 'd "e"'], "label": [0, 1, 0]}
    source = open_table(write_table(tmp_path / f"t.{ending}", columns), label="label")
    assert (list(source.fields), source.length, source.label) == (list(columns), 3, "label")
    assert source.kind == {"tsv": "csv"}.get(ending, ending)
    for name, values in columns.items():
        assert all_of(source, name) == values
    assert source.take([2, 0]) == [{name: values[at] for name, values in columns.items()} for at in (2, 0)]
    assert source.skipped.total == 0


def test_numbers_come_as_arrays_and_what_is_missing_as_none(tmp_path: Path) -> None:
    source = open_table(write_table(tmp_path / "t.parquet", {"x": [1.5, None], "n": [1, 2]}))
    chunk = next(iter(source.chunks()))
    assert isinstance(chunk.columns["n"], np.ndarray) and chunk.columns["n"].dtype == np.int64
    assert chunk.columns["x"] == [1.5, None]


def test_types_of_parquet(tmp_path: Path) -> None:
    day = datetime.datetime(2024, 5, 1, 12)
    table = pa.table(
        {
            "list": pa.array([[1, 2], [], None]),
            "when": pa.array([day, None, day]),
            "raw": pa.array([b"ab", b"", None]),
            "flag": pa.array([True, False, None]),
            "place": pa.array([{"a": 1}, None, {"a": 2}]),
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    source = open_table(tmp_path / "t.parquet")
    assert [None if one is None else list(one) for one in all_of(source, "list")] == [[1, 2], [], None]
    assert all_of(source, "flag") == [True, False, None]
    assert all_of(source, "raw") == [b"ab", b"", None]
    assert all_of(source, "when")[1] is None and "2024-05-01" in str(all_of(source, "when")[0])


def test_rows_that_do_not_fit_are_named_by_line_and_keep_their_number(tmp_path: Path) -> None:
    lines = [f"{row},{row / 2},text{row}" for row in range(30)]
    lines[4] = "4,2.0"
    lines[9] = "9,4.5,text9,more"
    data = ("x,y,t\n" + "\n".join(lines) + "\n").encode().replace(b"text20", b"text\xff20")
    (tmp_path / "t.csv").write_bytes(data)
    source = open_table(tmp_path / "t.csv")
    assert skipped(source) == {"short_row": ["t.csv:6"], "long_row": ["t.csv:11"], "bad_encoding": ["t.csv:22"]}
    assert samples_of(source) == [row for row in range(30) if row not in (4, 9, 20)]
    assert [row["x"] for row in source.take([3, 4, 5, 10, 29])] == [3, None, 5, 10, 29]


def test_lines_are_counted_as_an_editor_counts_them(tmp_path: Path) -> None:
    text = 'a,b\n1,2\n"x\ny",3\n\n4,5\nshort\n6,7\n'
    (tmp_path / "t.csv").write_bytes(text.encode())
    (tmp_path / "crlf.csv").write_bytes(text.replace("\n", "\r\n").encode())
    for name in ("t.csv", "crlf.csv"):
        source = open_table(tmp_path / name)
        assert skipped(source) == {"short_row": [f"{name}:7"]}
        assert samples_of(source) == [0, 1, 2, 4]


def test_a_quote_that_does_not_end_takes_only_what_it_must(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('a,b\n1,2\n3,"q"x\n5,6\n7,"open\n')
    source = open_table(tmp_path / "t.csv")
    assert skipped(source) == {"open_quote": ["t.csv:3", "t.csv:5"]}
    assert all_of(source, "a") == [1, 5]


@pytest.mark.parametrize(
    ("content", "fields", "rows"),
    [
        ("﻿a,b\n1,é\n".encode(), ["a", "b"], [{"a": 1, "b": "é"}]),
        ("a,b\n1,é\n".encode("utf-16"), ["a", "b"], [{"a": 1, "b": "é"}]),
        (b"a;b\n1;2,5\n", ["a", "b"], [{"a": 1, "b": "2,5"}]),
        (b"a,b\n1,2\r\n3,4\n", ["a", "b"], [{"a": 1, "b": 2}, {"a": 3, "b": 4}]),
        (b"5.1,3.5,setosa\n4.9,3.0,setosa\n", ["column0", "column1", "column2"], None),
        (b"a,a,\n1,2,3\n", ["a", "a_1", "column2"], [{"a": 1, "a_1": 2, "column2": 3}]),
        (b'a,"b\nc"\n1,2\n', ["a", "b\nc"], [{"a": 1, "b\nc": 2}]),
        (b"a,b\n1,2", ["a", "b"], [{"a": 1, "b": 2}]),
        (b"A,a\n1,2\n", ["A", "a"], [{"A": 1, "a": 2}]),
        (b"a,b\n0,1,2\n1,3,4\n", ["column0", "a", "b"], [{"column0": 0, "a": 1, "b": 2}]),
    ],
)
def test_forms_of_csv(tmp_path: Path, content: bytes, fields: list[str], rows: list[dict[str, Any]] | None) -> None:
    (tmp_path / "t.csv").write_bytes(content)
    source = open_table(tmp_path / "t.csv")
    assert list(source.fields) == fields
    if rows is not None:
        assert source.take(range(len(rows))) == rows


def test_compressed_text(tmp_path: Path) -> None:
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(b"a,b\n1,2\n3\n4,5\n"))
    (tmp_path / "t.jsonl.gz").write_bytes(gzip.compress(b'{"a": 1}\n{"a": 2}\n'))
    source = open_table(tmp_path / "t.csv.gz")
    assert (all_of(source, "a"), skipped(source)) == ([1, 4], {"short_row": ["t.csv.gz:3"]})
    assert all_of(open_table(tmp_path / "t.jsonl.gz"), "a") == [1, 2]


def test_json_lines(tmp_path: Path) -> None:
    lines = [
        b'{"a": 1, "b": "x"}',
        b'{"a": NaN, "b": null}',
        b'{"a": -Infinity, "b": ""}',
        b"{bad",
        b"",
        b"[1, 2]",
        b'{"a": "t", "b": [1, 2], "c": {"d": 1}}',
        b'{"a": 2, "b": "\xff"}',
        b'{"A": 1, "q\\"t": 3, "x.y/z~": 4}',
    ]
    (tmp_path / "t.jsonl").write_bytes(b"\n".join(lines))
    source = open_table(tmp_path / "t.jsonl")
    assert list(source.fields) == ["a", "b", "c", "A", 'q"t', "x.y/z~"]
    places = {"bad_json": ["t.jsonl:4"], "no_object": ["t.jsonl:6"], "bad_encoding": ["t.jsonl:8"]}
    assert skipped(source) == places
    # Empty lines are no rows; those that cannot be read are.
    assert samples_of(source) == [0, 1, 2, 5, 7]
    values = all_of(source, "a")
    assert values[0] == 1 and math.isnan(values[1]) and values[2:] == [-math.inf, "t", None]
    assert source.take([5, 7]) == [
        {"a": "t", "b": [1, 2], "c": {"d": 1}, "A": None, 'q"t': None, "x.y/z~": None},
        {"a": None, "b": None, "c": None, "A": 1, 'q"t': 3, "x.y/z~": 4},
    ]


def test_a_folder_is_one_table_in_the_order_of_names(tmp_path: Path) -> None:
    write_table(tmp_path / "part-1.parquet", {"x": [2.0, 3.0], "y": [1, 2]})
    write_table(tmp_path / "part-0.parquet", {"x": [0.0, 1.0], "y": [3, 4]})
    (tmp_path / "part-2.parquet").write_bytes((tmp_path / "part-1.parquet").read_bytes()[:-20])
    (tmp_path / "part-3.parquet").write_bytes(b"")
    write_table(tmp_path / "part-4.parquet", {"x": [4.0], "z": ["new"]})
    (tmp_path / "_SUCCESS").touch()
    source = open_table(tmp_path)
    assert skipped(source) == {"bad_footer": ["part-2.parquet"], "empty_file": ["part-3.parquet"]}
    assert all_of(source, "x") == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert all_of(source, "z") == [None, None, None, None, "new"]
    assert source.take([3])[0]["x"] == 3.0


def test_links_that_lead_nowhere_or_in_a_circle_are_told(tmp_path: Path) -> None:
    write_table(tmp_path / "a.csv", {"x": [1]})
    (tmp_path / "sub").mkdir()
    write_table(tmp_path / "sub" / "b.csv", {"x": [2]})
    (tmp_path / "sub" / "again").symlink_to("..")
    (tmp_path / "gone.csv").symlink_to("nowhere")
    (tmp_path / "notes.md").touch()
    source = open_table(tmp_path)
    assert all_of(source, "x") == [1, 2]
    assert skipped(source) == {"dead_link": ["gone.csv"], "link_loop": ["sub/again"], "other_kind": ["notes.md"]}


def test_a_folder_of_csv_whose_columns_differ(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y\n1,2\nshort\n3,4\n")
    (tmp_path / "b.csv").write_text("z,x\n5,6\n7,8,9\n10,11\n")
    (tmp_path / "c.csv").write_text("")
    source = open_table(tmp_path)
    assert skipped(source) == {"short_row": ["a.csv:3"], "long_row": ["b.csv:3"], "empty_file": ["c.csv"]}
    assert (samples_of(source), all_of(source, "x")) == ([0, 2, 3, 5], [1, 3, 6, 11])
    assert source.take([3]) == [{"x": 6, "y": None, "z": 5}]


@pytest.mark.parametrize("more", [1, 40])
def test_a_later_file_of_a_folder_may_have_more_columns(tmp_path: Path, more: int) -> None:
    (tmp_path / "a.csv").write_text("x,y\n1,2\n3,4\n")
    (tmp_path / "b.csv").write_text(
        ",".join(["y", *(f"z{at}" for at in range(more))]) + "\n" + ",".join(["5", *["6"] * more])
    )
    source = open_table(tmp_path)
    last = f"z{more - 1}"
    assert [source.take([at])[0][last] for at in range(3)] == [None, None, 6]
    assert (all_of(source, "x"), all_of(source, "y")) == ([1, 3, None], [2, 4, 5])


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", b""),
        ("t.csv", b"a,b\n"),
        ("t.csv", b"a,b\nshort\n"),
        ("t.parquet", b"PAR1 and nothing"),
        ("t.jsonl", b"\n\n"),
        ("t.jsonl", b"no json\n"),
        ("t.csv.gz", b"no gzip"),
    ],
)
def test_nothing_that_can_be_read_is_one_trouble(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BadFile) as caught:
        open_table(tmp_path / name)
    assert name in str(caught.value) and "\n" not in str(caught.value)


def test_a_field_that_is_not_there_is_named_with_those_that_are(tmp_path: Path) -> None:
    path = write_table(tmp_path / "t.csv", {"x": [1], "y": [2]})
    with pytest.raises(BadUsage, match=r"no field z.*x, y"):
        open_table(path, label="z")


def test_what_is_a_table(tmp_path: Path) -> None:
    for name in ("a.csv", "a.TSV", "a.parquet", "a.jsonl", "a.csv.gz"):
        assert is_table(tmp_path / name)
    for name in ("a.png", "a.npy", "a.parquet.gz", "a.json", "a.gz"):
        assert not is_table(tmp_path / name)
    for name in ("1.png", "2.png", "labels.csv"):
        (tmp_path / name).touch()
    assert not is_table(tmp_path)


def test_a_table_larger_than_a_chunk_has_its_rows_in_order(tmp_path: Path) -> None:
    count = 150_000
    bad = {70_000, 149_999}
    lines = ["short" if row in bad else f"{row},{row % 7}" for row in range(count)]
    (tmp_path / "t.csv").write_text("x,label\n" + "\n".join(lines) + "\n")
    source = open_table(tmp_path / "t.csv")
    starts = [(chunk.start, chunk.size) for chunk in source.chunks(["x"])]
    assert starts == [(0, 65536), (65536, 4464), (70001, 61072), (131073, 18926)]
    assert all_of(source, "x") == [row for row in range(count) if row not in bad]


def test_a_column_that_hides_where_rows_come_from_is_one_trouble(tmp_path: Path) -> None:
    path = write_table(tmp_path / "t.parquet", {"File_Row_Number": [1.0], "x": [2]})
    with pytest.raises(BadFile, match="file_row_number"):
        open_table(path)


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_needs_more_memory_than_is_kept_to_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    monkeypatch.setattr(duck, "_MEMORY", 1 << 20)
    monkeypatch.setattr(duck, "_MEMORY_OF_THREAD", 0)
    texts = [f"{place} is the text of this row" for place in range(20_000)]
    path = write_table(tmp_path / f"t.{ending}", {"text": texts, "n": list(range(20_000))})
    if ending != "parquet":
        path.write_text(path.read_text() + "not, a, row\n")
    source = open_table(path)
    assert all_of(source, "text") == texts
    assert source.skipped.total == (ending != "parquet")


def test_a_parquet_file_of_damaged_pages_is_stepped_over(tmp_path: Path) -> None:
    for place in range(3):
        write_table(tmp_path / f"part-{place}.parquet", {"x": [1.5] * 500, "name": [f"text {at}" for at in range(500)]})
    content = bytearray((tmp_path / "part-1.parquet").read_bytes())
    content[4:2000] = bytes(1996)
    (tmp_path / "part-1.parquet").write_bytes(content)
    source = open_table(tmp_path)
    assert samples_of(source) == [*range(500), *range(1000, 1500)]
    assert samples_of(source) == [*range(500), *range(1000, 1500)]
    assert skipped(source) == {"damaged_parquet": ["part-1.parquet"]}
    assert source.take([700, 1200]) == [{"x": None, "name": None}, {"x": 1.5, "name": "text 200"}]
