"""Pipelines of every style built with another batch size: what comes out of them, and what cannot be changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mindspore.dataset as msd
import numpy as np
import pytest
from mindspore.dataset.dataloader import DataLoader

from trueline.adapters.batchers import Batcher
from trueline.adapters.mindspore import batching

SAMPLES = 22
ROWS = np.arange(SAMPLES, dtype=np.float32)


class Rows:
    """A source by index."""

    def __len__(self) -> int:
        return SAMPLES

    def __getitem__(self, index: int) -> Any:
        return ROWS[index]


def sliced() -> Any:
    return msd.NumpySlicesDataset({"x": ROWS}, shuffle=False)


def generated() -> Any:
    return msd.GeneratorDataset(Rows(), ["x"], shuffle=False)


def drawn_together(columns: list[Any], _info: Any) -> tuple[list[Any]]:
    return (columns,)


# Each with a size of 4; what comes out with 10 is 10, 10 and a rest of 2.
STYLES: dict[str, Callable[[], Any]] = {
    "slices": lambda: sliced().batch(4),
    "generator": lambda: generated().batch(batch_size=4),
    "shuffled": lambda: generated().shuffle(8).batch(4),
    "mapped after": lambda: sliced().batch(4).map(lambda x: x + 1, ["x"]),
    "mapped together": lambda: generated().batch(4, per_batch_map=drawn_together, input_columns=["x"]),
    "padded": lambda: generated().padded_batch(4, pad_info={}),
    "renamed": lambda: sliced().batch(4).rename("x", "y"),
    "loader": lambda: DataLoader(Rows(), batch_size=4),
}


def resizing(told: list[Batcher], size: int = 10) -> Any:
    def resize(batcher: Batcher) -> int | None:
        told.append(batcher)
        return size

    return batching.watch(resize)


def sizes_of(pipeline: Any) -> list[int]:
    if isinstance(pipeline, DataLoader):
        return [len(batch) for batch in pipeline]
    return [len(next(iter(row.values()))) for row in pipeline.create_dict_iterator(num_epochs=1, output_numpy=True)]


@pytest.mark.parametrize("style", STYLES)
def test_batches_of_the_other_size_come_out(style: str) -> None:
    told: list[Batcher] = []
    installed = resizing(told)
    try:
        pipeline = STYLES[style]()
        assert sizes_of(pipeline) == [10, 10, 2]
        assert installed.behind(pipeline) == [told[0].number]
    finally:
        installed.remove()
    assert [(one.size, one.why) for one in told] == [(4, None)]
    assert told[0].line is not None
    assert told[0].line.file == __file__
    assert sizes_of(STYLES[style]()) == [4, 4, 4, 4, 4, 2]


def test_what_is_dropped_repeated_and_zipped_stays_the_scripts_affair() -> None:
    told: list[Batcher] = []
    installed = resizing(told)
    try:
        assert sizes_of(sliced().batch(4, drop_remainder=True)) == [10, 10]
        assert sizes_of(sliced().batch(4).repeat(2)) == [10, 10, 2, 10, 10, 2]
        zipped = msd.zip((sliced().batch(4), sliced().rename("x", "y").batch(4)))
        assert sizes_of(zipped) == [10, 10, 2]
        assert sorted(installed.behind(zipped)) == [2, 3]
        assert sliced().batch(4).get_dataset_size() == 3
    finally:
        installed.remove()


def test_sizes_that_are_no_number_are_left_and_the_reason_is_told() -> None:
    told: list[Batcher] = []
    installed = resizing(told)
    try:
        growing = generated().batch(lambda info: info.get_batch_num() + 1)
        assert sizes_of(growing)[:3] == [1, 2, 3]
        bucketed = generated().bucket_batch_by_length(["x"], [11], [4, 2], element_length_function=lambda _: 1)
        assert set(sizes_of(bucketed)) == {4, 2}
    finally:
        installed.remove()
    assert [(one.size, one.why) for one in told] == [(None, "function"), (None, "length")]
