"""Items that a dataset decides, and those that two datasets decide."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from trueline.checks.engine.listing import all_checks
from trueline.checks.engine.placing import placed
from trueline.checks.engine.roots import with_roots
from trueline.checks.engine.running import ask_all
from trueline.checks.engine.sources import Sources
from trueline.data.described import Described
from trueline.data.describing import Wanted, describe
from trueline.data.sources.opening import open_source
from trueline.model.finding import Conclusion, Finding, roots

ITEMS = ("ds.01", "ds.02", "ds.03", "ds.04", "dp.04")


def described(path: Path) -> Described:
    return describe(open_source(str(path)), Wanted())


def asked(data: Described, bench: Described | None = None) -> list[Finding]:
    checks = [one for one in all_checks() if one.code in ITEMS]
    found = with_roots(placed(ask_all(checks, {"data": data, "bench_data": bench}), Sources()))
    assert not [one.error for one in found if one.error]
    return found


def table(path: Path, rows: list[list[Any]]) -> Path:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["height", "weight", "label"], *rows])
    return path


def people(count: int = 60) -> list[list[Any]]:
    draw = np.random.default_rng(0)
    return [
        [round(draw.normal(170, 9), 2), round(draw.normal(70, 9), 2), ["a", "b", "c"][place % 3]]
        for place in range(count)
    ]


def empty_cells(rows: list[list[Any]]) -> None:
    rows[7][1] = rows[20][1] = ""


def copied_with_another_label(rows: list[list[Any]]) -> None:
    rows += [[*row[:2], "c" if row[2] == "a" else "a"] for row in rows[:6]]


def a_rare_class(rows: list[list[Any]]) -> None:
    for place, row in enumerate(rows):
        row[2] = "c" if place < 2 else "a" if place % 2 else "b"


@pytest.mark.parametrize(
    ("change", "code"), [(empty_cells, "ds.01"), (copied_with_another_label, "ds.02"), (a_rare_class, "ds.03")]
)
def test_a_fault_of_a_table_is_found_under_its_item(
    tmp_path: Path, change: Callable[[list[list[Any]]], None], code: str
) -> None:
    rows = people()
    change(rows)
    found = asked(described(table(tmp_path / "people.csv", rows)))
    assert {one.code for one in roots(found)} == {code}


def test_a_clean_table_has_no_problem_and_says_what_was_looked_at(tmp_path: Path) -> None:
    found = asked(described(table(tmp_path / "people.csv", people())))
    conclusions = {one.code: one.conclusion for one in found}
    assert {code for code, one in conclusions.items() if one is Conclusion.NONE} == {"ds.01", "ds.03"}
    assert conclusions["ds.02"] is Conclusion.OPEN, "labels of known classes may still be wrong"
    assert all(one.evidence for one in found if one.conclusion is Conclusion.NONE)
    assert conclusions["dp.04"] is Conclusion.NA


def sequences(path: Path, side: str, value: int) -> Path:
    draw = np.random.default_rng(0)
    words = draw.integers(5, 90, (60, 12))
    filled = np.arange(12) >= draw.integers(4, 13, 60)[:, None]
    words[filled if side == "right" else filled[:, ::-1]] = value
    np.savez(path, words=words, label=draw.integers(0, 2, 60))
    return path


def test_another_way_to_pad_than_the_benchmark_s_is_found(tmp_path: Path) -> None:
    own = described(sequences(tmp_path / "own.npz", "left", 0))
    bench = described(sequences(tmp_path / "bench.npz", "right", 0))
    assert {one.code for one in roots(asked(own, own))} == set()
    found = roots(asked(own, bench))
    assert ("dp.04", ["left", 0.0], ["right", 0.0]) in [(one.code, one.measured, one.limit) for one in found]


def test_a_set_that_is_cut_off_is_not_the_benchmark_s(tmp_path: Path) -> None:
    bench = described(table(tmp_path / "bench.csv", people()))
    own = described(table(tmp_path / "own.csv", people(51)))
    found = [one for one in roots(asked(own, bench)) if one.code == "ds.04"]
    assert (51, 60) in [(one.measured, one.limit) for one in found]
    assert {one.code for one in roots(asked(bench, bench))} == set()


def test_one_number_changed_in_a_copy_is_named_with_its_file(tmp_path: Path) -> None:
    rows = people()
    bench = described(table(tmp_path / "bench.csv", rows))
    rows[30][0] += 1
    own = described(table(tmp_path / "own.csv", rows))
    found = roots(asked(own, bench))
    assert [one.code for one in found] == ["ds.04"]
    assert "bench.csv" in str(found[0].evidence)
