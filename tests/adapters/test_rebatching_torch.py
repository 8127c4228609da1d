"""Loaders of every style built with another batch size: what comes out of them, and what cannot be changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch.utils import data

from trueline.adapters.batchers import Batcher
from trueline.adapters.torch import batching

SAMPLES = 22
DATASET = data.TensorDataset(torch.arange(SAMPLES))


class Stream(data.IterableDataset[Any]):
    """Samples without indexes."""

    def __iter__(self) -> Iterator[Any]:
        return iter(range(SAMPLES))


class Batches(data.Dataset[Any]):
    """A dataset that makes its batches itself."""

    def __len__(self) -> int:
        return 3

    def __getitem__(self, index: int) -> Any:
        return torch.arange(7) + index


class Loader(data.DataLoader[Any]):
    """A user's own."""

    def __init__(self, size: int) -> None:
        super().__init__(DATASET, batch_size=size)


class Pairs:
    """A user's own batch sampler, which asks its size anew for each batch."""

    def __init__(self, batch_size: int) -> None:
        self.batch_size = batch_size

    def __len__(self) -> int:
        return -(-SAMPLES // self.batch_size)

    def __iter__(self) -> Iterator[list[int]]:
        for start in range(0, SAMPLES, self.batch_size):
            yield list(range(start, min(start + self.batch_size, SAMPLES)))


def sampler() -> Any:
    return data.SequentialSampler(DATASET)


# Each with a size of 4; what comes out with 10 is 10, 10 and a rest of 2.
STYLES: dict[str, Callable[[], Any]] = {
    "by name": lambda: data.DataLoader(DATASET, batch_size=4),
    "by position": lambda: data.DataLoader(DATASET, 4, True),
    "shuffled": lambda: data.DataLoader(DATASET, batch_size=4, shuffle=True),
    "stream": lambda: data.DataLoader(Stream(), batch_size=4),
    "batch sampler": lambda: data.DataLoader(DATASET, batch_sampler=data.BatchSampler(sampler(), 4, False)),
    "own batch sampler": lambda: data.DataLoader(DATASET, batch_sampler=Pairs(4)),
    "sampler of batches": lambda: data.DataLoader(
        DATASET, sampler=data.BatchSampler(sampler(), 4, False), batch_size=None
    ),
    "weighted": lambda: data.DataLoader(
        DATASET, batch_size=4, sampler=data.WeightedRandomSampler([1.0] * SAMPLES, SAMPLES)
    ),
    "own class": lambda: Loader(4),
}


def resizing(told: list[Batcher], size: int = 10) -> Any:
    def resize(batcher: Batcher) -> int | None:
        told.append(batcher)
        return size

    return batching.watch(resize)


def sizes_of(loader: Any) -> list[int]:
    return [len(batch[0]) if isinstance(batch, list | tuple) else len(batch) for batch in loader]


@pytest.mark.parametrize("style", STYLES)
def test_batches_of_the_other_size_come_out(style: str) -> None:
    told: list[Batcher] = []
    installed = resizing(told)
    try:
        loader = STYLES[style]()
        assert sizes_of(loader) == [10, 10, 2]
        if style != "stream":
            assert len(loader) == 3
        assert installed.behind(loader) == [told[0].number]
    finally:
        installed.remove()
    assert (len(told), told[0].size, told[0].why) == (1, 4, None)
    assert told[0].line is not None
    assert told[0].line.file == __file__
    assert sizes_of(STYLES[style]()) == [4, 4, 4, 4, 4, 2]


def test_what_is_dropped_at_the_end_and_each_devices_share_stay_the_scripts_affair() -> None:
    installed = resizing([])
    try:
        dropping = data.DataLoader(DATASET, batch_size=4, drop_last=True)
        share = data.distributed.DistributedSampler(DATASET, num_replicas=2, rank=0, shuffle=False)
        dealt = data.DataLoader(DATASET, batch_size=4, sampler=share)
        single = data.DataLoader(DATASET)
        assert (sizes_of(dropping), sizes_of(dealt), sizes_of(single)) == ([10, 10], [10, 1], [10, 10, 2])
    finally:
        installed.remove()


def test_batches_that_others_make_are_left_and_the_reason_is_told() -> None:
    told: list[Batcher] = []
    installed = resizing(told)
    try:
        made = data.DataLoader(Batches(), batch_size=None)
        listed = data.DataLoader(DATASET, batch_sampler=[[0, 1, 2], [3]])
        assert (sizes_of(made), sizes_of(listed)) == ([7, 7, 7], [3, 1])
    finally:
        installed.remove()
    assert [(one.size, one.why) for one in told] == [(None, "dataset"), (None, "sampler")]


def test_a_site_is_all_the_users_lines_that_led_there() -> None:
    told: list[Batcher] = []
    installed = batching.watch(lambda batcher: told.append(batcher))

    def make() -> Any:
        return data.DataLoader(DATASET, batch_size=4)

    try:
        for _ in range(2):
            make()
        make()
    finally:
        installed.remove()
    first, again, other = (one.site for one in told)
    assert first == again
    assert first != other
    assert [one.number for one in told] == [0, 1, 2]


def test_wrong_arguments_raise_as_they_would() -> None:
    installed = resizing([])
    try:
        with pytest.raises(TypeError, match="nonsense"):
            data.DataLoader(DATASET, nonsense=1)  # type: ignore[call-arg]
    finally:
        installed.remove()
