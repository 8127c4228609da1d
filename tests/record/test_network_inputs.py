"""What is told of numbers that enter a network: samples that are not finite, features, and what fills sequences up."""

from __future__ import annotations

import numpy as np

from trueline.model.sample import Batch
from trueline.record.batches import Laid, describe_batch
from trueline.record.padding import ends_of


def test_samples_that_are_not_finite_are_named_by_kind_and_come_back_from_a_file() -> None:
    x = np.ones((5, 3), np.float32)
    x[1, 2], x[3, 0], x[4, 1] = np.nan, np.inf, -np.inf
    batch = describe_batch(Laid(5, [("x", x), ("y", np.arange(5))], []), None)
    again = Batch.from_json(batch.to_json())
    assert dict(again.fields[0].nonfinite) == {"nan": [1], "+inf": [3], "-inf": [4]}
    assert dict(again.fields[1].nonfinite) == {}
    assert "nonfinite" not in batch.to_json()["fields"][1]


def test_large_numbers_of_half_precision_are_finite() -> None:
    x = np.full((4, 100), 60000, np.float16)
    assert dict(describe_batch(Laid(4, [("x", x)], []), None).fields[0].nonfinite) == {}


def test_the_ends_of_sequences_tell_what_fills_them_up() -> None:
    words = np.array([[3, 4, 5, 0, 0], [6, 7, 0, 0, 0], [8, 9, 2, 1, 4]])
    ends = ends_of(words)
    assert ends is not None
    assert (ends.value, ends.left, ends.right, ends.inside) == (0, [0, 0, 0], [2, 3, 0], 0)
    assert ends_of(words[:, ::-1]).left == [2, 3, 0]  # type: ignore[union-attr]
    batch = describe_batch(Laid(3, [("words", words)], []), None, closely=True)
    assert Batch.from_json(batch.to_json()).fields[0].ends == ends


def test_numbers_that_are_no_sequences_have_no_ends() -> None:
    assert ends_of(np.zeros((4, 6), np.float32)) is None
    assert ends_of(np.arange(12)) is None
    assert ends_of(np.array([[1, 2, 3], [4, 5, 6]])) is None
