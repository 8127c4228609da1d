"""``trueline data describe`` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli.broken_files import is_one_line
from cli.calling import call
from docs.json_schema import faults

SCHEMA = json.loads(
    (Path(__file__).resolve().parents[3] / "docs" / "schema" / "trueline-1.schema.json").read_text("utf-8")
)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables and arrays with a few faults, and a clean one."""
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(0)
    rows = [[f"{value:.3f}", str(place % 2)] for place, value in enumerate(draw.normal(20, 3, 60))]
    write_rows("clean.csv", rows)
    rows[7][0] = ""
    rows[9][0] = "-999"
    write_rows("gaps.csv", rows)
    numbers = draw.normal(size=80)
    numbers[[3, 40]] = np.nan, np.inf
    pq.write_table(pa.table({"x": numbers, "y": draw.integers(0, 3, 80)}), "numbers.parquet")
    np.savez("arrays.npz", x=draw.random((50, 4, 4), dtype=np.float32), y=np.array([0] * 46 + [1] * 4))
    Path("notes.md").write_text("no data\n")
    Path("empty").mkdir()


def write_rows(name: str, rows: list[list[str]]) -> None:
    Path(name).write_text("\n".join(["width,label", *(",".join(row) for row in rows)]) + "\n")


def answered(*arguments: str) -> dict[str, Any]:
    ended = call("data", "describe", *arguments, "--json")
    answer: dict[str, Any] = json.loads(ended.stdout)
    assert list(faults(answer, SCHEMA, SCHEMA)) == []
    assert ended.exit_code == answer["exit"], ended.stderr
    return answer


def found(answer: dict[str, Any]) -> list[tuple[str, Any]]:
    return [(one["code"], one["where"]["sample"]) for one in answer["findings"] if one["conclusion"] == "found"]


def test_a_clean_table_has_no_problem_and_says_what_was_looked_at() -> None:
    answer = answered("clean.csv")
    assert answer["exit"] == 0
    assert {(one["code"], one["conclusion"]) for one in answer["findings"]} == {
        ("ds.01", "none"),
        ("ds.02", "open"),
        ("ds.03", "none"),
    }
    assert answer["classes"]["guessed"]
    assert [one["count"] for one in answer["classes"]["counts"]] == [30, 30]


def test_a_guessed_mark_is_a_suspect_and_a_given_one_is_found() -> None:
    guessed = answered("gaps.csv", "--label", "label")
    assert found(guessed) == [("ds.01", 7)]
    assert [one["where"]["sample"] for one in guessed["findings"] if one["conclusion"] == "suspect"] == [9]
    assert found(answered("gaps.csv", "--missing", "-999")) == [("ds.01", 7), ("ds.01", 9)]


def test_what_is_not_finite_is_told_with_its_samples() -> None:
    answer = answered("numbers.parquet", "--label", "y")
    missing = {one["kind"]: one["first"] for one in answer["fields"][0]["missing"]}
    assert missing == {"nan": [3], "+inf": [40]}
    assert found(answer) == [("ds.01", 3), ("ds.01", 40)]


def test_classes_out_of_balance_and_out_of_range() -> None:
    answer = answered("arrays.npz", "--classes", "1")
    codes = [code for code, _ in found(answer)]
    assert "ds.02" in codes
    assert found(answered("arrays.npz")) == [("ds.03", None)]


def test_people_read_the_same_on_the_terminal_and_on_a_page() -> None:
    ended = call("data", "describe", "gaps.csv", "-o", "page.html")
    assert ended.exit_code == 1
    assert "ds.01" in ended.stdout
    assert "width" in ended.stdout
    assert "ds.01" in Path("page.html").read_text("utf-8")
    assert "发现问题" in call("--lang", "zh", "data", "describe", "gaps.csv").stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("nowhere.csv",),
        ("empty",),
        ("notes.md",),
        ("clean.csv", "--label", "nothing"),
        ("clean.csv", "-o", "page.txt"),
        ("clean.csv", "--classes", "0"),
        ("no_such_module:make",),
        (),
    ],
)
def test_bad_input_is_one_line(arguments: tuple[str, ...]) -> None:
    is_one_line(call("data", "describe", *arguments))
