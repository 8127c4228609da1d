"""Samples are drawn without replacement, some of every label, evenly, by the seed alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trueline.data.sheet.sampling import Drawn, draw
from trueline.data.source import Chunk, Skipped


class Labels:
    """A source of nothing but labels, in chunks of a size."""

    name, kind = "labels", "npy"
    fields = ("label",)
    label = "label"

    def __init__(self, labels: Any, chunk: int = 1000, known: bool = True) -> None:
        self._labels = labels
        self._chunk = chunk
        self.length = len(labels) if known else None
        self.skipped = Skipped()

    def chunks(self, fields: Sequence[str] | None = None) -> Iterator[Chunk]:
        for start in range(0, len(self._labels), self._chunk):
            part = self._labels[start : start + self._chunk]
            yield Chunk(start, len(part), {"label": part})

    def take(self, indexes: Sequence[int]) -> list[Mapping[str, Any]]:
        return [{"label": self._labels[one]} for one in indexes]


def drawn(labels: Any, *, count: int = 50, most: int = 20, seed: int = 0, chunk: int = 1000) -> Drawn:
    return draw(Labels(labels, chunk), "label", count, most, seed)


def test_every_label_has_its_share() -> None:
    found = drawn(np.arange(1000) % 10)
    assert [group.label for group in found.groups] == list(range(10))
    assert [len(group.indexes) for group in found.groups] == [5] * 10
    assert [group.total for group in found.groups] == [100] * 10
    assert all(index % 10 == group.label for group in found.groups for index in group.indexes)
    assert found.labels == 10


def test_a_rare_label_is_there_and_others_take_what_it_leaves() -> None:
    labels = np.zeros(1000, np.int64)
    labels[[3, 700]] = 1
    labels[40:90] = 2
    found = drawn(labels)
    assert {group.label: len(group.indexes) for group in found.groups} == {0: 24, 1: 2, 2: 24}
    assert found.groups[1].indexes == [3, 700]


def test_of_many_labels_some_are_chosen_by_chance() -> None:
    found = drawn(np.arange(3000) % 300)
    assert found.labels == 300
    assert len(found.groups) == 20
    assert sum(len(group.indexes) for group in found.groups) == 50
    other = drawn(np.arange(3000) % 300, seed=1)
    assert {group.label for group in found.groups} != {group.label for group in other.groups}
    assert all(group.total == 10 for group in found.groups)


def test_at_least_one_of_every_label_comes_before_the_count() -> None:
    assert len(drawn(np.arange(100) % 15, count=5).indexes) == 15


@pytest.mark.parametrize("chunk", [1, 7, 64, 10_000])
def test_chunks_do_not_matter(chunk: int) -> None:
    labels = np.random.default_rng(0).integers(0, 40, 500)
    assert drawn(labels, chunk=chunk) == drawn(labels)
    as_list = [int(one) for one in labels]
    assert drawn(as_list, chunk=chunk) == drawn(labels)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from(["a", "b", None, 1, 2, "猫"]), max_size=60), st.integers(1, 30), st.integers(0, 5))
def test_laws_of_drawing(labels: list[Any], count: int, seed: int) -> None:
    found = drawn(labels, count=count, seed=seed, chunk=5)
    indexes = found.indexes
    assert len(set(indexes)) == len(indexes)
    assert found.samples == len(labels)
    if labels:
        assert len(indexes) == min(len(labels), max(count, len(set(labels))))
        assert {group.label for group in found.groups} == set(labels)
        totals = Counter(labels)
        for group in found.groups:
            assert group.total == totals[group.label]
            assert all(labels[index] == group.label for index in group.indexes)
    assert drawn(labels, count=count, seed=seed, chunk=3) == found


def test_every_sample_is_as_likely_as_every_other() -> None:
    times = np.zeros(200)
    for seed in range(400):
        times[drawn(np.zeros(200, np.int64), count=20, seed=seed).indexes] += 1
    # 40 expected of each, with a standard deviation of 6.
    assert times.sum() == 400 * 20
    assert times.min() > 10
    assert times.max() < 70


def test_seeds_draw_other_samples() -> None:
    assert drawn(np.zeros(10_000, np.int64)).indexes != drawn(np.zeros(10_000, np.int64), seed=1).indexes


def test_fractions_are_no_classes() -> None:
    found = drawn(np.random.default_rng(0).random(300))
    assert found.continuous
    assert found.labels is None
    assert len(found.indexes) == 50


def test_whole_numbers_as_fractions_and_one_hot_vectors_are_classes() -> None:
    assert [group.label for group in drawn(np.array([0.0, 1.0, 1.0])).groups] == [0, 1]
    assert [group.label for group in drawn(np.eye(3)[[2, 0, 2]]).groups] == [0, 2]
    assert [group.label for group in drawn([[1, 1, 0], [0, 1, 1]]).groups] == ["[0 1 1]", "[1 1 0]"]
    assert [group.label for group in drawn([np.nan, 1.0, None]).groups] == [1, None]


def test_without_labels_all_samples_are_one_group() -> None:
    for known in (True, False):
        found = draw(Labels(np.zeros(500), known=known), None, 30, 20, 0)
        assert (found.labels, found.samples, len(found.indexes)) == (None, 500, 30)
    assert found.indexes == draw(Labels(np.zeros(500)), None, 30, 20, 0).indexes
    assert draw(Labels([]), None, 30, 20, 0).groups == []
