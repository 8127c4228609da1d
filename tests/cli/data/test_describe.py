"""`trueline data describe`: what people and programs are told, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli.calling import call
from data.describing.planted import clean, copied, put
from data.sources.table_writing import write_table
from docs.json_schema import faults
from PIL import Image

SCHEMA = Path(__file__).resolve().parent.parent.parent.parent / "docs" / "schema" / "trueline-1.schema.json"


def answered(*arguments: str | Path, exit_code: int) -> dict[str, Any]:
    """The answer for programs, held against the schema."""
    ended = call("data", "describe", *arguments, "--json")
    assert (ended.exit_code, ended.stderr) == (exit_code, ""), ended.output
    found: dict[str, Any] = json.loads(ended.stdout)
    schema = json.loads(SCHEMA.read_text("utf-8"))
    assert list(faults(found, schema, schema)) == []
    assert (found["verb"], found["exit"]) == ("data describe", exit_code)
    return found


def test_a_clean_table_ends_with_0_and_evidence(tmp_path: Path) -> None:
    path = write_table(tmp_path / "t.csv", clean())
    found = answered(path, exit_code=0)
    assert {one["code"]: one["conclusion"] for one in found["findings"]} == {
        "ds.01": "none",
        "ds.02": "open",
        "ds.03": "none",
    }
    assert all(one["evidence"] for one in found["findings"])
    said = call("data", "describe", path)
    assert said.exit_code == 0
    assert "no problem found" in said.stdout and "No problem: ds.01, ds.03" in said.stdout
    assert "Not decided  ds.02" in said.stdout and "trueline data sheet SOURCE" in said.stdout
    assert "was taken for the label because of its name" in said.stdout
    assert "4 classes have fewer than 5000 samples" in said.stdout


def test_what_is_wrong_ends_with_1_and_is_named(tmp_path: Path) -> None:
    table = copied(50, 10, 3)(put("width", (4, float("nan")), (9, -1.0))(clean()))
    path = write_table(tmp_path / "t.parquet", table)
    found = answered(path, exit_code=1)
    told = {(one["code"], one["conclusion"], one["where"]["sample"]) for one in found["findings"]}
    assert {("ds.01", "found", 4), ("ds.01", "suspect", 9), ("ds.02", "found", 50)} <= told
    assert found["fields"][0]["missing"][1] == {
        "kind": "marker",
        "count": 1,
        "first": [9],
        "marker": -1,
        "guessed": True,
    }
    conflict = {"sample": 50, "earlier": 10, "label": 3, "earlier_label": 2}
    assert found["duplicates"]["conflicting"] == [conflict]
    said = call("data", "describe", path).stdout
    assert "width: 1 of 120 values (0.833 %) are NaN." in " ".join(said.split())
    assert "(a guess)" in said


def test_options(tmp_path: Path) -> None:
    table = {**put("height", (3, -1.0))(clean()), "kind": ["a", "b", "c"] * 40}
    path = write_table(tmp_path / "t.csv", table)
    found = answered(path, "--label", "kind", "--missing", "-1", "--missing", "none", exit_code=1)
    assert (found["classes"]["field"], found["classes"]["guessed"]) == ("kind", False)
    assert [(one["code"], one["field"], one["kind"]) for one in found["findings"] if one["conclusion"] == "found"] == [
        ("ds.01", "height", "marker")
    ]
    found = answered(path, "--classes", "3", exit_code=1)
    assert [(one["label"], one["count"], one["certain"]) for one in found["classes"]["strays"]] == [(3, 30, True)]


def test_bad_rows_are_counted_named_and_stepped_over(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"x,label\n1.5,0\nshort\n2.5,1\n\xff,1\n3.5,0\n")
    found = answered(tmp_path / "t.csv", exit_code=1)
    assert found["skipped"] == [
        {"reason": "short_row", "count": 1, "places": ["t.csv:3"]},
        {"reason": "bad_encoding", "count": 1, "places": ["t.csv:5"]},
    ]
    said = call("data", "describe", tmp_path / "t.csv").stdout
    assert "a row with too few cells" in said and "t.csv:5" in said


def test_a_folder_of_images(tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    for name, count in (("cat", 24), ("dog", 2)):
        (tmp_path / name).mkdir()
        for place in range(count):
            pixels = draw.integers(0, 255, (8, 8, 3), dtype=np.uint8)
            Image.fromarray(pixels).save(tmp_path / name / f"{place:02}.png")
    (tmp_path / "cat" / "03.png").write_bytes(b"")
    found = answered(tmp_path, exit_code=1)
    assert found["classes"]["counts"] == [{"label": "cat", "count": 24}, {"label": "dog", "count": 2}]
    assert {one["code"] for one in found["findings"] if one["conclusion"] == "found"} == {"ds.01", "ds.03"}
    assert found["fields"][0]["pictures"]["sizes"] == {"8x8": 25}


def test_a_page(tmp_path: Path) -> None:
    path = write_table(tmp_path / "t.csv", put("text", (7, ""))(clean()))
    ended = call("data", "describe", path, "-o", tmp_path / "page.html")
    assert ended.exit_code == 1
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "<rect" in page and "4 classes of label" in page and "text: 1 of 120 values" in page
    again = call("data", "describe", path, "-o", tmp_path / "page.html")
    assert again.exit_code == 2


def test_chinese(tmp_path: Path) -> None:
    path = write_table(tmp_path / "t.csv", put("text", (7, ""))(clean()))
    said = call("data", "describe", path, "--lang", "zh").stdout
    assert "发现问题" in said and "空字符串" in said


@pytest.mark.parametrize("name", ["nothing.csv", "empty.csv", "broken.parquet", "folder", "no.jsonl"])
def test_what_cannot_be_read_at_all_is_one_line(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty.csv").touch()
    (tmp_path / "broken.parquet").write_bytes(b"PAR1")
    (tmp_path / "folder").mkdir()
    (tmp_path / "no.jsonl").write_text("nothing\n")
    ended = call("data", "describe", tmp_path / name)
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert ended.stderr.startswith("trueline: ") and ended.stderr.count("\n") == 1 and name in ended.stderr


def test_a_label_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    ended = call("data", "describe", write_table(tmp_path / "t.csv", clean()), "--label", "kind")
    assert ended.exit_code == 2 and "width, height, age, text, label" in ended.stderr
