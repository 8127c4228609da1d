"""What is told of tables: types that change, labels, large tables, damaged files."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from data.describing.planted import clean
from data.sources.table_writing import write_table

from trueline.data.described import Described, Told
from trueline.data.describing import Wanted, describe
from trueline.data.describing.findings import findings_of
from trueline.data.sources.tables import open_table
from trueline.model.finding import Conclusion
from trueline.model.trouble import BadFile


def described(path: Path, **wanted: Any) -> Described:
    return describe(open_table(path), Wanted(**wanted))


def field(found: Described, name: str) -> Told:
    return next(one for one in found.fields if one.name == name)


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_texts_among_numbers(tmp_path: Path, ending: str) -> None:
    table = clean()
    table["width"][19], table["width"][44] = "broad", "12,5"
    if ending == "parquet":
        table["width"] = [str(one) for one in table["width"]]
    found = described(write_table(tmp_path / f"t.{ending}", table))
    (drift,) = field(found, "width").drift
    assert (drift.usual, drift.other, drift.count, list(drift.first)) == ("number", "text", 2, [19, 44])
    assert field(found, "width").kind == "number"
    (one,) = [each for each in findings_of(found) if each.conclusion is Conclusion.FOUND]
    assert (one.code, one.extra["field"], one.where.sample) == ("ds.01", "width", 19)


def test_types_of_json_are_told_as_they_are_written(tmp_path: Path) -> None:
    lines = [f'{{"x": {row}, "t": "{row}"}}' for row in range(20)]
    lines[3], lines[5], lines[8] = '{"x": "3", "t": 3}', '{"x": [5], "t": "5"}', '{"x": true, "t": "8"}'
    (tmp_path / "t.jsonl").write_text("\n".join(lines))
    found = described(tmp_path / "t.jsonl")
    assert {one.other: list(one.first) for one in field(found, "x").drift} == {
        "text": [3],
        "sequence": [5],
        "boolean": [8],
    }
    assert [(one.other, list(one.first)) for one in field(found, "t").drift] == [("number", [3])]


def test_a_column_that_changes_its_type_between_files(tmp_path: Path) -> None:
    for place in range(3):
        values: list[Any] = [str(row) for row in range(20)] if place == 2 else list(range(20))
        write_table(tmp_path / f"part-{place}.parquet", {"code": values, "x": [0.5 * row for row in range(20)]})
    found = described(tmp_path)
    (drift,) = [one for one in field(found, "code").drift if one.usual == "BIGINT"]
    assert (drift.other, drift.count, list(drift.first)) == ("VARCHAR", 20, [40])


def test_numbers_are_those_of_numpy(tmp_path: Path) -> None:
    values = np.random.default_rng(0).normal(1e9, 1, 5000)
    table = {"x": values.tolist(), "n": list(range(5000))}
    for ending in ("csv", "parquet"):
        told = field(described(write_table(tmp_path / f"t.{ending}", table)), "x")
        assert (told.low, told.high, told.distinct, told.sampled) == (
            values.min(),
            values.max(),
            len(set(values)),
            None,
        )
        assert told.mean == pytest.approx(values.mean(), rel=1e-12)
        assert told.std == pytest.approx(values.std(), rel=1e-6)
        assert list(told.quantiles.values()) == pytest.approx(np.quantile(values, [0.05, 0.25, 0.5, 0.75, 0.95]))


def test_what_is_not_finite_or_given_as_missing_counts_in_no_number(tmp_path: Path) -> None:
    values = [1.0, 2.0, 3.0, float("nan"), float("inf"), float("-inf"), -7.0]
    for ending in ("csv", "parquet", "jsonl"):
        path = write_table(tmp_path / f"t.{ending}", {"x": values})
        told = field(described(path, missing=("-7",)), "x")
        assert (told.low, told.high, told.mean) == (1, 3, 2.0)
        assert {one.kind: one.count for one in told.missing} == {"nan": 1, "+inf": 1, "-inf": 1, "marker": 1}


def test_labels(tmp_path: Path) -> None:
    names = ["cat", "dog", "bird"] * 40
    names[7], names[11], names[40] = "Dog", "bird ", "brid"
    table = {"x": [row * 1.5 for row in range(120)], "class": names}
    found = described(write_table(tmp_path / "t.parquet", table))
    assert found.classes is not None and found.classes.field == "class"
    assert [(one.label, one.like, one.first) for one in found.classes.strays] == [
        ("Dog", "dog", 7),
        ("bird ", "bird", 11),
        ("brid", "bird", 40),
    ]
    assert [label for label, _ in found.classes.counts] == ["cat", "bird", "dog"]
    assert {one.conclusion for one in findings_of(found) if one.code == "ds.02"} == {Conclusion.SUSPECT}


@pytest.mark.parametrize("values", [[row * 0.37 for row in range(300)], [row * row for row in range(300)]])
def test_a_quantity_is_no_label_of_classes(tmp_path: Path, values: list[float]) -> None:
    found = described(write_table(tmp_path / "t.csv", {"x": list(range(300)), "target": values}))
    assert (found.classes, found.no_classes) == (None, "describe.label_quantity")
    conclusions = {one.code: one.conclusion for one in findings_of(found)}
    assert conclusions["ds.03"] is Conclusion.NA, "there are no classes that could be uneven"
    assert conclusions["ds.02"] is Conclusion.OPEN, "a quantity may still be wrong"


def test_a_class_without_samples_is_as_unbalanced_as_can_be(tmp_path: Path) -> None:
    table = {"x": [row * 0.5 for row in range(60)], "y": [row % 3 for row in range(60)]}
    found = described(write_table(tmp_path / "t.csv", table), classes=4)
    assert found.classes is not None and list(found.classes.counts)[-1] == (3, 0)
    assert {one.code: one.conclusion for one in findings_of(found)}["ds.03"] is Conclusion.FOUND


def test_one_hot_labels(tmp_path: Path) -> None:
    rows = [[float(place == row % 3) for place in range(3)] for row in range(60)]
    rows[8], rows[9] = [1.0, 1.0, 0.0], [0.0, 0.0, 0.0]
    for ending in ("parquet", "jsonl"):
        path = write_table(tmp_path / f"t.{ending}", {"x": [row * 0.5 for row in range(60)], "label": rows})
        found = described(path)
        assert found.classes is not None and found.classes.one_hot
        assert (found.classes.not_one_hot, list(found.classes.not_one_hot_first)) == (2, [8, 9])
        (one,) = [each for each in findings_of(found) if each.conclusion is Conclusion.FOUND]
        assert (one.code, one.where.sample) == ("ds.02", 8)


def test_a_table_of_very_many_columns(tmp_path: Path) -> None:
    table = {f"c{place}": [(row * place) % 97 + 0.5 for row in range(30)] for place in range(150)}
    table["c70"][11] = float("nan")
    found = described(write_table(tmp_path / "t.csv", table))
    assert len(found.fields) == 150
    assert [(one.name, list(one.missing[0].first)) for one in found.fields if one.missing] == [("c70", [11])]


def test_labels_that_are_others_for_every_sample_are_no_classes(tmp_path: Path) -> None:
    table = {"x": list(range(300)), "label": [f"user {row}" for row in range(300)]}
    assert described(write_table(tmp_path / "t.csv", table)).no_classes == "describe.label_unique"


def test_padding(tmp_path: Path) -> None:
    draw = random.Random(0)
    rows = []
    for _ in range(50):
        length = draw.randrange(3, 12)
        rows.append([draw.randrange(1, 500) for _ in range(length)] + [0] * (12 - length))
    for odd in (5, 31):
        rows[odd] = [0] * 4 + [draw.randrange(1, 500) for _ in range(8)]
    for ending in ("parquet", "jsonl"):
        found = described(write_table(tmp_path / f"t.{ending}", {"ids": rows, "label": [row % 2 for row in range(50)]}))
        padding = field(found, "ids").padding
        assert padding is not None
        assert (padding.side, padding.value, list(padding.other_side), padding.other_count) == ("right", 0, [5, 31], 2)
        assert padding.share == pytest.approx(sum(row.count(0) for row in rows) / 600)
        (one,) = [each for each in findings_of(found) if each.conclusion is Conclusion.FOUND]
        assert (one.code, one.extra["field"], one.where.sample) == ("dp.04", "ids", 5)


def test_samples_that_repeat_by_chance_are_no_fault(tmp_path: Path) -> None:
    draw = random.Random(1)
    table = {"a": [draw.randrange(3) for _ in range(300)], "b": [draw.randrange(4) for _ in range(300)]}
    table["label"] = [draw.randrange(2) for _ in range(300)]
    found = described(write_table(tmp_path / "t.csv", table))
    assert found.duplicates is not None and found.duplicates.count == 288
    assert [one.conclusion for one in findings_of(found) if one.code == "ds.02"] == [Conclusion.SUSPECT]


def test_a_number_of_each_sample_does_not_hide_copies(tmp_path: Path) -> None:
    table = {"id": list(range(120)), **clean()}
    for name in ("width", "height", "age", "text", "label"):
        table[name][70] = table[name][20]
    found = described(write_table(tmp_path / "t.csv", table))
    assert found.duplicates is not None
    assert (found.duplicates.left_out, list(found.duplicates.first)) == (["id"], [(70, 20)])


def test_a_damaged_page_costs_its_file_only(tmp_path: Path) -> None:
    for place in range(3):
        values = np.random.default_rng(place).random(5000)
        pq.write_table(pa.table({"x": values}), tmp_path / f"part-{place}.parquet", compression="zstd")
    damaged = bytearray((tmp_path / "part-1.parquet").read_bytes())
    damaged[4:100] = bytes(96)
    (tmp_path / "part-1.parquet").write_bytes(damaged)
    found = described(tmp_path)
    assert (found.samples, found.skipped.places) == (10_000, {"describe.damaged_parquet": ["part-1.parquet"]})
    (tmp_path / "only.parquet").write_bytes(damaged)
    with pytest.raises(BadFile):
        described(tmp_path / "only.parquet")


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, np.ndarray[Any, Any]]]:
    """More rows than are all held, with faults."""
    count = 1_050_000
    draw = np.random.default_rng(0)
    columns: dict[str, Any] = {
        "x": draw.normal(5, 2, count),
        "f": draw.random(count, dtype=np.float32),
        "n": draw.integers(0, 1000, count),
        "label": draw.integers(0, 5, count),
    }
    columns["x"][[17, 900_000]] = np.nan
    columns["f"][1_049_000] = np.inf
    copies = np.arange(500_000, 520_000)
    for name in ("x", "f", "n", "label"):
        columns[name][copies] = columns[name][copies - 400_000]
    table = pa.table({**columns, "text": pa.array(["word" if row % 2 else "other" for row in range(count)])})
    nulls = np.zeros(count, bool)
    nulls[[3, 1_000_000]] = True
    table = table.set_column(2, "n", pa.array(columns["n"], mask=nulls))
    path = tmp_path_factory.mktemp("large") / "large.parquet"
    pq.write_table(table, path, row_group_size=100_000)
    return path, columns


def test_a_large_table_is_counted_whole_and_estimated_where_it_says_so(
    large: tuple[Path, dict[str, np.ndarray[Any, Any]]],
) -> None:
    path, columns = large
    found = described(path)
    x, n = field(found, "x"), field(found, "n")
    finite = columns["x"][np.isfinite(columns["x"])]
    assert [(one.kind, one.count, list(one.first)) for one in x.missing] == [("nan", 2, [17, 900_000])]
    assert [(one.kind, list(one.first)) for one in field(found, "f").missing] == [("+inf", [1_049_000])]
    assert [(one.kind, one.count, list(one.first)) for one in n.missing] == [("null", 2, [3, 1_000_000])]
    assert (x.low, x.high) == (finite.min(), finite.max())
    assert (x.mean, x.std) == (pytest.approx(finite.mean()), pytest.approx(finite.std()))
    assert x.sampled is not None and x.sampled < 100_000
    assert x.quantiles["0.5"] == pytest.approx(5, abs=0.1)
    assert n.distinct == pytest.approx(1000, rel=0.05)
    assert found.classes is not None and sum(count for _, count in found.classes.counts) == 1_050_000
    assert found.duplicates is not None and found.duplicates.share < 1
    assert found.duplicates.count / found.duplicates.share == pytest.approx(20_000, rel=0.1)
    assert all(sample - earlier == 400_000 for sample, earlier in found.duplicates.first)


def test_exact_looks_at_all(large: tuple[Path, dict[str, np.ndarray[Any, Any]]]) -> None:
    path, columns = large
    found = described(path, exact=True)
    x = field(found, "x")
    finite = columns["x"][np.isfinite(columns["x"])]
    assert (x.sampled, x.quantiles["0.25"]) == (None, pytest.approx(np.quantile(finite, 0.25)))
    assert field(found, "n").distinct == 1000
    assert found.duplicates is not None
    assert (found.duplicates.share, found.duplicates.count) == (1.0, 20_000)
    assert next(iter(found.duplicates.first)) == (500_000, 100_000)
