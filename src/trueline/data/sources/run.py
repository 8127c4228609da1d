"""A recorded run as a dataset: the samples that really entered the network, in the order in which they were fed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from trueline.data.source import Chunk, Column, Sample, Skipped, Source
from trueline.data.sources.fed import Fed, known_batches, whole_batches
from trueline.data.sources.labels import choose_label
from trueline.formats.run_folder.reader import open_run
from trueline.model.message import message
from trueline.model.trouble import BadFile

# The parts that a run can be asked for, as if they were folders in it.
PARTS: Final = ("train", "eval", "train-statistics", "eval-statistics")
_CHUNK_SAMPLES: Final = 4096
_CHUNK_BYTES: Final = 16 << 20


def is_run(path: Path) -> bool:
    """Whether a folder is a recorded run."""
    return (path / "run.json").is_file() or (path / "rank-00000").is_dir()


def is_part(path: Path) -> bool:
    """Whether a path names a part of a recorded run."""
    return path.name in PARTS and is_run(path.parent)


def open_fed(path: Path, name: str, label: str | None = None, part: str | None = None) -> Source:
    """Training's batches, whole where some were kept; ``part`` asks for others."""
    run = open_run(path)
    phase, _, statistics = (part or PARTS[0]).partition("-")
    ways = [known_batches] if statistics else [whole_batches, known_batches]
    for way in ways:

        def begin(skipped: Skipped, way: Callable[..., Iterator[Fed]] = way) -> Iterator[Fed]:
            return way(run, phase, skipped)

        source = FedSource(name, begin, len(run.ranks) > 1)
        if source.length:
            source.label = choose_label(name, source.fields, label) or source.last_whole_number
            return source
    raise BadFile(path, message("sources.nothing_fed", phase=phase).text())


class FedSource:
    """The Source of a run; gone through once when it is opened, for its fields and its length."""

    kind = "run"

    def __init__(self, name: str, begin: Callable[[Skipped], Iterator[Fed]], several_ranks: bool) -> None:
        self.name = name
        self.skipped = Skipped()
        self.length = 0
        self.label: str | None = None
        self.last_whole_number: str | None = None
        self._begin = begin
        rank_field = {"rank": None} if several_ranks else {}
        fields: dict[str, None] = {}
        for fed in begin(self.skipped):
            if not self.length:
                self.last_whole_number = next(reversed(fed.whole_numbers), None)
            self.length += fed.size
            fields |= dict.fromkeys(fed.columns)
        self.fields = [*fields, "step", *rank_field]

    def chunks(self, fields: Sequence[str] | None = None) -> Iterator[Chunk]:
        """A few batches at a time."""
        names = list(self.fields if fields is None else fields)
        start = size = held = 0
        waiting: list[Fed] = []
        for fed in self._begin(Skipped()):
            waiting.append(fed)
            size, held = size + fed.size, held + _bytes(fed)
            if size >= _CHUNK_SAMPLES or held >= _CHUNK_BYTES:
                yield Chunk(start, size, {name: _joined(name, waiting) for name in names})
                start, size, held, waiting = start + size, 0, 0, []
        if size:
            yield Chunk(start, size, {name: _joined(name, waiting) for name in names})

    def take(self, indexes: Sequence[int]) -> list[Mapping[str, object]]:
        """Found on the way through the batches."""
        wanted, at = set(indexes), 0
        found: dict[int, Sample] = {}
        for fed in self._begin(Skipped()):
            for index in wanted.intersection(range(at, at + fed.size)):
                found[index] = {name: _column(name, fed)[index - at] for name in self.fields}
            at += fed.size
        return [found[index] for index in indexes]


def _bytes(fed: Fed) -> int:
    return sum(array.nbytes for array in fed.columns.values() if isinstance(array, np.ndarray))


def _column(name: str, fed: Fed) -> Column:
    if name in fed.columns:
        return fed.columns[name]
    if name in ("step", "rank"):
        return np.full(fed.size, fed.step if name == "step" else fed.rank)
    return [None] * fed.size


def _joined(name: str, waiting: Sequence[Fed]) -> Column:
    """One column of several batches; an array where all of them have rows of one shape and type."""
    columns = [_column(name, fed) for fed in waiting]
    arrays = [column for column in columns if isinstance(column, np.ndarray)]
    if len(arrays) == len(columns) and len({(array.shape[1:], array.dtype) for array in arrays}) == 1:
        return np.concatenate(arrays)
    return [value for column in columns for value in column]
