"""Sources of any kind, chunk by chunk: arrays, sequences, pictures, labels, copies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from data.describing.memory_source import MemorySource

from trueline.data.described import Described
from trueline.data.describing import Wanted, describe
from trueline.data.describing.findings import findings_of
from trueline.data.describing.fingerprints import Fingerprints
from trueline.data.describing.sampling import Distinct, Reservoir, hash_numbers
from trueline.data.source import Column, Picture
from trueline.model.finding import Conclusion


def described(labelled: str | None = None, wanted: Wanted | None = None, **columns: Column) -> Described:
    return describe(MemorySource(columns, labelled), wanted or Wanted())


def loud(found: Described) -> list[tuple[str, str, Any]]:
    return [
        (one.code, one.conclusion.value, one.where.sample)
        for one in findings_of(found)
        if one.conclusion in (Conclusion.FOUND, Conclusion.SUSPECT)
    ]


def random_arrays(*shape: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    return np.random.default_rng(0).random(shape, dtype=np.float32)


def test_arrays_are_told_by_their_elements() -> None:
    images = random_arrays(40, 3, 4, 4)
    images[11, 0, 1, 2] = np.nan
    images[25, :, 0, 0] = np.inf
    found = described(x=images)
    (told,) = found.fields
    finite = images[np.isfinite(images)]
    assert (told.kind, told.type, told.shapes) == ("array", "float32", {"3x4x4": 40})
    assert [(one.kind, one.count, list(one.first)) for one in told.missing] == [("nan", 1, [11]), ("+inf", 3, [25])]
    assert (told.low, told.high) == (finite.min(), finite.max())
    assert told.mean == pytest.approx(finite.mean(dtype=np.float64))
    assert told.std == pytest.approx(finite.std(dtype=np.float64))


def test_markers_in_arrays_are_given_or_guessed() -> None:
    values = random_arrays(50, 4) * 40
    values[9, 1] = values[28, 0] = -999
    assert loud(described(x=values)) == [("ds.01", "suspect", 9)]
    assert loud(described(x=values, wanted=Wanted(missing=("-999",)))) == [("ds.01", "found", 9)]


def test_a_dtype_or_shape_that_changes_between_samples() -> None:
    rows: list[Any] = list(random_arrays(40, 3, 4))
    rows[8] = rows[8].astype(np.float64)
    rows[19] = rows[19][:2]
    found = described(x=rows)
    drift = {(one.usual, one.other): (one.count, list(one.first)) for one in found.fields[0].drift}
    assert drift == {("float32", "float64"): (1, [8]), ("3x4", "2x4"): (1, [19])}


def test_values_of_all_kinds_in_one_list() -> None:
    values: list[Any] = [1, 2.5, None, "", "?", "text", True, [1, 2], b"raw", {"a": 1}, *range(30)]
    found = described(x=values)
    (told,) = found.fields
    assert {one.kind: list(one.first) for one in told.missing} == {"null": [2], "empty": [3], "marker": [4]}
    assert {one.other: list(one.first) for one in told.drift} == {
        "text": [5],
        "boolean": [6],
        "sequence": [7],
        "bytes": [8],
        "other": [9],
    }


def test_sequences_of_different_length() -> None:
    rows = [np.arange(1, 2 + row % 5) for row in range(20)]
    (told,) = described(ids=rows).fields
    assert told.kind == "sequence" and told.padding is None and told.drift == []
    assert told.lengths is not None
    assert (told.lengths.least, told.lengths.most, told.lengths.mean) == (1, 5, 3.0)


def padded(side: str, count: int = 60, value: int = 0) -> np.ndarray[Any, Any]:
    draw = np.random.default_rng(1)
    rows = draw.integers(5, 900, (count, 16))
    for row in rows:
        filled = draw.integers(1, 13)
        row[slice(16 - filled, None) if side == "right" else slice(filled)] = value
    return rows


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("value", [0, 1, -1, -100])
def test_padding_on_one_side_is_no_problem_of_the_data_s(side: str, value: int) -> None:
    found = described(ids=padded(side, value=value))
    padding = found.fields[0].padding
    assert padding is not None and (padding.side, padding.value, padding.samples) == (side, value, 60)
    assert padding.share == pytest.approx((padded(side, value=value) == value).mean())
    assert loud(found) == []
    assert ("dp.04", Conclusion.OPEN) in [(one.code, one.conclusion) for one in findings_of(found)]


def test_padding_on_the_other_side_is_found() -> None:
    rows = padded("right")
    rows[[3, 20]] = padded("left")[[3, 20]]
    found = described(ids=rows, mask=(rows != 0).astype(np.int64))
    assert loud(found) == [("dp.04", "found", 3)]
    rows[:25] = padded("left")[:25]
    mixed = described(ids=rows).fields[0].padding
    assert mixed is not None and mixed.side == "mixed"


@pytest.mark.parametrize(
    "rows",
    [
        np.random.default_rng(2).integers(0, 3, (60, 16)),
        np.pad(np.random.default_rng(2).integers(1, 9, (60, 8)), ((0, 0), (4, 4))),
        np.pad(np.random.default_rng(2).integers(1, 9, (60, 8)), ((0, 0), (0, 4))),
        np.tril(np.ones((60, 60), np.int64)),
    ],
)
def test_zeros_that_fill_nothing_up_are_no_padding(rows: np.ndarray[Any, Any]) -> None:
    assert described(ids=rows).fields[0].padding is None


def picture(place: int, mode: str = "RGB", **more: Any) -> Picture:
    pixels = np.full((4, 6, 3), place, np.uint8)
    return Picture(f"{place}.png", 6, 4, mode, pixels, **more)


def test_pictures() -> None:
    pictures = [picture(place) for place in range(30)]
    pictures[4] = picture(4, "L")
    pictures[7] = Picture("7.png", broken="picture_broken")
    pictures[9] = Picture("9.png", 8, 8, "RGB", np.zeros((8, 8, 3), np.uint8))
    found = described("label", image=pictures, label=["a", "b"] * 15)
    told = found.fields[0]
    assert (told.kind, told.low, told.high) == ("picture", 0, 29)
    assert told.pictures is not None
    assert told.pictures.sizes == {"6x4": 28, "8x8": 1}
    assert (told.pictures.modes, list(told.pictures.odd)) == ({"RGB": 28, "L": 1}, [4])
    assert (told.pictures.broken, list(told.pictures.broken_first)) == (1, ["7.png"])
    assert list(told.pictures.odd_sizes) == [9]
    assert loud(found) == [("ds.01", "suspect", 4), ("ds.01", "suspect", 9)]


def test_the_same_picture_with_two_labels() -> None:
    pictures = [picture(place) for place in range(30)]
    pictures[22] = picture(3)
    labels = ["cat", "dog"] * 15
    found = described("label", image=pictures, label=labels)
    assert found.duplicates is not None
    assert list(found.duplicates.conflicting) == [(22, 3, "cat", "dog")]
    assert loud(found) == [("ds.02", "found", 22)]


def test_samples_of_which_nothing_is_there_are_no_copies() -> None:
    values = [*random_arrays(20, 3), None, None]
    found = described("y", x=values, y=np.arange(22) % 2)
    assert found.duplicates is not None and found.duplicates.count == 0


def test_one_hot_rows_and_rows_of_several_labels() -> None:
    one_hot = np.eye(4, dtype=np.float32)[np.arange(80) % 4]
    one_hot[33] = 0
    found = described("y", x=random_arrays(80, 5), y=one_hot)
    assert loud(found) == [("ds.02", "found", 33)]
    several = (random_arrays(80, 4) > 0.5).astype(np.float32)
    assert described("y", x=random_arrays(80, 5), y=several).no_classes == "describe.label_not_one"


def test_names_of_classes_make_a_number_wrong() -> None:
    labels: list[Any] = ["cat", "dog", "bird"] * 10
    labels[11] = 7
    assert loud(described("label", x=random_arrays(30, 5), label=labels)) == [("ds.02", "found", 11)]


@pytest.mark.parametrize("names", [["label"], ["Target"], ["x", "y"], ["a", "Category"]])
def test_the_label_is_guessed_by_its_name(names: list[str]) -> None:
    columns = {name: np.arange(40) % 4 for name in names} | {"data": random_arrays(40)}
    found = describe(MemorySource(columns), Wanted())
    assert found.classes is not None and (found.classes.field, found.classes.guessed) == (names[-1], True)


def test_of_many_samples_all_copies_of_some_contents_are_kept() -> None:
    content = hash_numbers(np.concatenate([np.arange(5000), np.arange(5000)]))
    prints = Fingerprints(1000)
    for start in range(0, 10_000, 100):
        stop = start + 100
        prints.add(content[start:stop], np.zeros(100, np.uint64), np.arange(start, stop))
    found = prints.repeated()
    assert prints.share < 0.11
    assert len(found.samples) / prints.share == pytest.approx(5000, rel=0.15)
    assert (found.samples - found.earlier == 5000).all()


def test_distinct_values_are_counted_and_then_estimated() -> None:
    few, many = Distinct(), Distinct()
    for start in range(0, 200_000, 1000):
        few.add(hash_numbers(np.arange(start, start + 1000) % 700))
        many.add(hash_numbers(np.arange(start, start + 1000)))
    assert (few.count, few.estimated, many.estimated) == (700, False, True)
    assert many.count == pytest.approx(200_000, rel=0.05)


def test_kept_numbers_are_like_all_of_them() -> None:
    reservoir = Reservoir()
    for start in range(0, 2_000_000, 100_000):
        reservoir.add(np.arange(start, start + 100_000))
    assert (reservoir.seen, reservoir.sampled) == (2_000_000, 200_000)
    assert np.quantile(reservoir.values, [0.1, 0.5, 0.9]) == pytest.approx([2e5, 1e6, 1.8e6], rel=0.02)


def test_equal_numbers_have_equal_hashes_whatever_their_type() -> None:
    whole = np.array([0, 1, -5, 2**40])
    assert (hash_numbers(whole) == hash_numbers(whole.astype(np.float64))).all()
    assert hash_numbers(np.array([0.0]))[0] == hash_numbers(np.array([-0.0]))[0]
    large = np.array([2**60, 2**60 + 1])
    assert hash_numbers(large)[0] != hash_numbers(large)[1]
