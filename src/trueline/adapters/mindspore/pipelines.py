"""Datasets taken apart: operators, samples by index, order, batches, workers."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

import numpy as np
from mindspore.dataset import GeneratorDataset, SubsetSampler

from trueline.adapters.mindspore import data
from trueline.adapters.mindspore.build import package
from trueline.adapters.mindspore.internals import datasets
from trueline.adapters.mindspore.pipeline_batches import BATCHES, batched
from trueline.adapters.mindspore.pipeline_nodes import Nodes, has_indexes, source_of
from trueline.adapters.nouns import Foreign, Function, Loader, Value
from trueline.adapters.pipeline import BuiltAt, Meter, PipelineFacts, Row, ZippedFacts
from trueline.adapters.steps import objects_in
from trueline.adapters.user_code import line_of_users_function
from trueline.model.location import Location

_CLASSES: Final = ("num_classes", "n_classes", "classes", "class_names", "class_to_idx")
_SHUFFLED: Final = ("RandomSampler", "SubsetRandomSampler", "WeightedRandomSampler", "PKSampler")
# Bounds a sampler that does not end.
_MAX_INDEXES: Final = 200_000
_CHANGING: Final = (
    datasets.FilterDataset,
    datasets.ConcatDataset,
    datasets.ZipDataset,
    datasets.SkipDataset,
    datasets.TakeDataset,
)


def is_pipeline(value: object) -> bool:
    """Whether this is a MindSpore dataset."""
    return isinstance(value, datasets.Dataset)


is_own = is_pipeline


def stir() -> None:
    """Nothing: no dataset operator draws from MindSpore's own generator."""


def fix() -> None:
    """Nothing: a seed would make datasets repeat the same order."""


def chance() -> bytes:
    """Empty: pipelines do not draw from MindSpore's generator."""
    return b""


def opened(value: Loader, built: BuiltAt) -> Opened:
    """Take a pipeline apart; ``built`` gives the user's line that constructed an object."""
    return Opened(value, built)


class Opened:
    """A dataset of the user's: samples below the first batch node, batches above it."""

    def __init__(self, given: Loader, built: BuiltAt) -> None:
        self.given, self._built = given, built
        chain = list(data.operations(given))
        place = max((at for at, operation in enumerate(chain) if isinstance(operation, BATCHES)), default=-1)
        self._above = list(reversed(chain[: place + 1]))
        self._below = chain[place + 1]
        self._chain = chain[place + 1 :]
        self._leaf = chain[-1]
        self._nodes: Nodes | None = None
        self._orders: list[list[int]] | None = None

    @property
    def kind(self) -> str:
        """The name of its class."""
        return type(self.given).__name__

    @property
    def indexed(self) -> bool:
        """Whether samples are accessible by index: an indexed leaf, and no node that changes the number of samples."""
        return has_indexes(self._leaf) and not any(isinstance(operation, _CHANGING) for operation in self._chain)

    @property
    def batches(self) -> bool:
        """Whether it batches."""
        return bool(self._above)

    def facts(self) -> PipelineFacts:
        """What is known before any sample is drawn."""
        known = data.facts(self.given)
        source = source_of(self._leaf)
        shuffles = any(isinstance(operation, datasets.ShuffleDataset) for operation in data.operations(self.given))
        sampler = type(getattr(self._leaf, "sampler", None)).__name__ if has_indexes(self._leaf) else None
        return {
            "kind": self.kind,
            "dataset": known["dataset"],
            "indexed": self.indexed,
            "batches": self.batches,
            "length": self._length(),
            "loader_length": None,
            "batch_size": self._batch_size(),
            "drop_last": known["drop_last"],
            "sampler": "shuffle" if shuffles else sampler,
            "shuffles": shuffles or sampler in _SHUFFLED,
            "workers": self._workers(),
            "own_collate": any(getattr(operation, "per_batch_map", None) is not None for operation in self._above),
            "classes": _classes(source),
            "columns": list(getattr(self._leaf, "column_names", None) or ()),
            "line": _json(self._built(self._leaf) or self._built(self.given)),
            "asked_to_shuffle": bool(self._asked("shuffle"))
            and source is not None
            and not has_indexes(self._leaf)
            and not shuffles,
            "batch_line": _json(self._built(self._above[0])) if self._above else None,
            "zipped": self._zipped(),
        }

    def _zipped(self) -> ZippedFacts | None:
        """Zipped datasets of different lengths: the excess of the longer ones is dropped."""
        for node in data.operations(self.given):
            if isinstance(node, datasets.ZipDataset):
                lengths = [data.length_of(child) for child in node.children]
                known = [length for length in lengths if length is not None]
                if len(known) == len(lengths) and len(set(known)) > 1:
                    return {"lengths": known, "line": _json(self._built(node))}
        return None

    def _asked(self, name: str) -> Foreign:
        arguments = getattr(self._built, "__self__", None)
        return arguments.argument(self._leaf, name) if arguments is not None else None

    def _length(self) -> int | None:
        if self.indexed:
            return len(self._leaf.source)
        if any(isinstance(operation, datasets.RepeatDataset) for operation in self._chain):
            # Each sample is looked at once.
            return None
        return data.length_of(self._below)

    def _batch_size(self) -> int | None:
        size = getattr(self._above[0], "batch_size", None) if self._above else None
        return size if isinstance(size, int) else None

    def _workers(self) -> int:
        """The number of processes that run the user's code; threads share their random state."""
        asked = [operation for operation in self._chain if getattr(operation, "python_multiprocessing", False)]
        return max(
            (int(operation.num_parallel_workers or 1) for operation in asked if self._own_code(operation)), default=0
        )

    def _own_code(self, node: Foreign) -> bool:
        return isinstance(node, datasets.MapDataset | GeneratorDataset) and (node.num_parallel_workers or 1) > 1

    def instrument(self, meter: Meter) -> None:
        """Register all operators with the meter."""
        self._nodes = Nodes(meter, self._built)
        self._nodes.register(self.given)

    def restore(self) -> None:
        """Nothing was changed."""

    @property
    def nodes(self) -> Nodes:
        """The operators, once registered."""
        assert self._nodes is not None
        return self._nodes

    def rows(self, _: Meter, wanted: Sequence[int]) -> Iterator[Row]:
        """The samples of these indexes, or as many of a stream."""
        yield from self.nodes.rows(self._below, wanted if self.indexed else None, len(wanted))

    def batch(self, _: Meter, samples: Sequence[Value]) -> Value:
        """Samples through the first batch node and all nodes after it."""
        if not all(isinstance(sample, Mapping) for sample in samples):
            return list(samples)
        if not self._above:
            return batched(None, samples)
        if isinstance(self._above[0], datasets.BucketBatchByLengthDataset):
            return list(samples)
        row: Value = self.nodes.batch(self._above[0], samples)
        for node in self._above[1:]:
            if row is not None and not isinstance(node, BATCHES):
                row = self.nodes.after(node, row)
        return row

    def order(self, epoch: int) -> list[int] | None:
        """The indexes of one epoch, in order; None where they are not determined."""
        if not self.indexed:
            return None
        if self._orders is None:
            self._orders = self._ordered(2)
        return self._orders[min(epoch, len(self._orders) - 1)]

    def _ordered(self, epochs: int) -> list[list[int]]:
        """The order that the same sampler and shuffles produce on bare indexes."""
        leaf = self._leaf
        made = GeneratorDataset(_Numbers(len(leaf.source)), ["index"], sampler=leaf.sampler)
        for node in reversed(list(data.operations(self.given))):
            if isinstance(node, datasets.ShuffleDataset):
                again = bool(getattr(node, "reshuffle_each_epoch", True))
                made = made.shuffle(int(node.buffer_size))
                made.reshuffle_each_epoch = again
        iterator = made.create_tuple_iterator(num_epochs=epochs, output_numpy=True)
        return [[int(row[0]) for row in islice(iterator, _MAX_INDEXES)] for _ in range(epochs)]

    def order_after_set_epoch(self, _: int) -> list[int] | None:
        """None: no MindSpore sampler has ``set_epoch``."""
        return None

    def by_workers(self, indexes: Sequence[int], count: int) -> list[list[list[Value]]]:
        """For each of two epochs, the results of each of ``count`` workers on the same samples."""
        nodes = list(reversed(self._chain))
        plain = all(
            isinstance(node, (GeneratorDataset, datasets.MapDataset, datasets.ShuffleDataset)) for node in nodes
        )
        if not plain or not has_indexes(self._leaf):
            return []
        leaf = self._leaf
        in_processes = {"python_multiprocessing": True, "num_parallel_workers": count}
        settings = in_processes if self._own_code(leaf) and leaf.python_multiprocessing else {"num_parallel_workers": 1}
        source = _Again(leaf.source, indexes, count)
        made: Loader = GeneratorDataset(source, leaf.column_names, shuffle=False, **settings)
        for node in nodes[1:]:
            if isinstance(node, datasets.MapDataset):
                in_processes = {"python_multiprocessing": True, "num_parallel_workers": count}
                own = (
                    in_processes
                    if self._own_code(node) and node.python_multiprocessing
                    else {"num_parallel_workers": 1}
                )
                made = made.map(node.operations, node.input_columns, node.output_columns, **own)
        iterator = made.create_tuple_iterator(num_epochs=2, output_numpy=True)
        epochs = [list(iterator) for _ in range(2)]
        return [[rows[worker::count] for worker in range(count)] for rows in epochs]

    def counted(self, _: int) -> int | None:
        """None: MindSpore's workers split the samples of a source."""
        return None

    def run(self, most: int) -> Iterator[Value]:
        """Its own batches, with its own configuration."""
        yield from islice(self.given.create_tuple_iterator(num_epochs=1, output_numpy=True), most)

    def objects(self) -> Iterator[Foreign]:
        """The source, the operators and the sampler."""
        yield from objects_in(source_of(self._leaf))
        for node in self._chain:
            yield from objects_in(getattr(node, "operations", None))
        yield from objects_in(getattr(self._leaf, "sampler", None))

    def deciding(self) -> tuple[Foreign, Location | None]:
        """The method that determines the order, and the line that configured it."""
        source, line = source_of(self._leaf), self._built(self._leaf)
        if not has_indexes(self._leaf):
            return source if hasattr(source, "__code__") else getattr(type(source), "__iter__", None), line
        sampler = getattr(self._leaf, "sampler", None)
        function = getattr(type(sampler), "__iter__", None)
        if line_of_users_function(function, package()) is not None:
            return function, self._built(sampler) or line
        return None, self._built(sampler) or line

    def length_method(self) -> Function | None:
        """The ``__len__`` of the source."""
        return getattr(type(source_of(self._leaf)), "__len__", None)

    def call(self, place: int) -> Function | None:
        """The operator at a place."""
        return self.nodes.call(place)

    def starting(self) -> Function | None:
        """None: MindSpore has no worker initialisation function."""
        return None

    def alone(self, index: int) -> Value:
        """One sample through the engine itself."""
        below = copy.deepcopy(self._below)
        below.parent = []
        leaf = list(data.operations(below))[-1]
        leaf.sampler = SubsetSampler([index])
        return next(iter(below.create_tuple_iterator(num_epochs=1, output_numpy=True)))

    def stored(self) -> dict[str, Value]:
        """The arrays held by the source, by name."""
        source = source_of(self._leaf)
        arrays: dict[str, Value] = {}
        for name, value in getattr(source, "__dict__", {}).items():
            first = value[0] if isinstance(value, list) and value else value
            if isinstance(first, np.ndarray):
                arrays[f"{type(source).__name__}.{name}"] = value
        return arrays


class _Numbers:
    """A source that returns its own indexes."""

    def __init__(self, count: int) -> None:
        self._count = count

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> tuple[np.int64]:
        return (np.int64(index),)


class _Again:
    """Each of some samples once per worker."""

    def __init__(self, source: Foreign, indexes: Sequence[int], workers: int) -> None:
        self._source, self._indexes, self._workers = source, list(indexes), workers

    def __len__(self) -> int:
        return len(self._indexes) * self._workers

    def __getitem__(self, index: int) -> Value:
        return self._source[self._indexes[int(index) // self._workers]]


def _classes(source: Foreign) -> int | None:
    for name in _CLASSES:
        classes = getattr(source, name, None)
        if isinstance(classes, int) and not isinstance(classes, bool):
            return classes
        if isinstance(classes, list | tuple | Mapping) and classes:
            return len(classes)
    return None


def _json(line: Location | None) -> Mapping[str, object] | None:
    return line.line_json() if line is not None else None
