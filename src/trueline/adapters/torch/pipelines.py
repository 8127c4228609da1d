"""Datasets and loaders taken apart: transforms, samples by index, order, batches, workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, default_collate

from trueline.adapters.nouns import Foreign, Function, Loader, LoaderFacts, Value
from trueline.adapters.pipeline import BuiltAt, Meter, Operator, PipelineFacts, Row
from trueline.adapters.steps import defined, name_of, objects_in, settings_of
from trueline.adapters.torch import data
from trueline.adapters.torch.build import package
from trueline.adapters.torch.internals import default_convert
from trueline.adapters.torch.pipeline_steps import Steps
from trueline.adapters.user_code import line_of_users_function
from trueline.model.location import Location

_CONTAINERS: Final = (Mapping, str, bytes, np.ndarray, torch.Tensor, set, frozenset)
# Bounds a sampler that does not end.
_MAX_INDEXES: Final = 200_000
_CLASSES: Final = ("num_classes", "n_classes", "nb_classes", "classes", "class_names", "class_to_idx")

_NO_LOADER: Final[LoaderFacts] = {
    "kind": "",
    "dataset": "",
    "length": None,
    "samples": None,
    "batch_size": None,
    "sampler": None,
    "shuffle": None,
    "drop_last": False,
    "workers": 0,
}


def is_pipeline(value: object) -> bool:
    """Whether samples can be drawn from this: a loader, a dataset, or something like one."""
    if is_own(value):
        return True
    if isinstance(value, (*_CONTAINERS, type)) or callable(value):
        return False
    return _indexed(value) or hasattr(value, "__iter__")


def is_own(value: object) -> bool:
    """Whether this is a torch loader or dataset."""
    return isinstance(value, DataLoader | Dataset)


def stir() -> None:
    """Advance torch's random generator."""
    torch.rand(())


def fix() -> None:
    """Reset torch's random generator."""
    torch.manual_seed(0)


def chance() -> bytes:
    """The state of torch's random generator."""
    state: bytes = torch.random.get_rng_state().numpy().tobytes()
    return state


def opened(value: Loader, built: BuiltAt) -> Opened:
    """Take a pipeline apart; ``built`` gives the user's line that constructed an object."""
    return Opened(value, built)


def _indexed(dataset: Loader) -> bool:
    return (
        hasattr(type(dataset), "__getitem__")
        and hasattr(type(dataset), "__len__")
        and not isinstance(dataset, IterableDataset)
    )


class Opened:
    """A loader or a dataset of the user's."""

    def __init__(self, given: Loader, built: BuiltAt) -> None:
        self.given = given
        self.loader: Loader = given if isinstance(given, DataLoader) else None
        self.dataset: Loader = given.dataset if isinstance(given, DataLoader) else given
        self._built = built
        self._steps: Steps | None = None
        self._outer = self._collate = -1

    @property
    def kind(self) -> str:
        """The name of its class."""
        return type(self.given).__name__

    @property
    def indexed(self) -> bool:
        """Whether samples are accessible by index."""
        return _indexed(self.dataset)

    @property
    def batches(self) -> bool:
        """Whether it batches."""
        return self.loader is not None and not (self.loader.batch_size is None and self.loader.batch_sampler is None)

    def facts(self) -> PipelineFacts:
        """What is known before any sample is drawn."""
        known = data.facts(self.loader) if self.loader is not None else _NO_LOADER
        own = self.loader is not None and self.loader.collate_fn not in (default_collate, default_convert)
        return {
            "kind": self.kind,
            "dataset": type(self.dataset).__name__,
            "indexed": self.indexed,
            "batches": self.batches,
            "length": _length(self.dataset),
            "loader_length": _length(self.loader) if self.loader is not None and self.indexed else None,
            "batch_size": known["batch_size"],
            "drop_last": known["drop_last"],
            "sampler": known["sampler"],
            "shuffles": known["shuffle"],
            "workers": known["workers"],
            "own_collate": own,
            "classes": _classes(self.dataset),
            "columns": None,
            "line": _json(self._line()),
            "asked_to_shuffle": False,
            "batch_line": _json(self._built(self.loader)) if self.loader is not None else None,
            "zipped": None,
        }

    def _line(self) -> Location | None:
        line = self._built(self.given) or self._built(self.dataset)
        return line if line is not None else defined(self.dataset, package())

    def instrument(self, meter: Meter) -> None:
        """From now on route every transform, nested dataset and the collate function through the meter."""
        self._steps = Steps(meter, self._built)
        self._steps.inside(self.dataset)
        method = "__getitem__" if self.indexed else "__iter__"
        self._outer = meter.operator(self._steps.dataset_operator(self.dataset, method))
        if self.batches:
            collate = self.loader.collate_fn
            line = defined(collate, package()) or self._built(collate) or self._built(self.loader)
            name, settings = name_of(collate), settings_of(collate)
            self._collate = meter.operator(Operator(name, "collate", settings, line))

    def restore(self) -> None:
        """Restore all objects."""
        if self._steps is not None:
            self._steps.remove()

    def rows(self, meter: Meter, wanted: Sequence[int]) -> Iterator[Row]:
        """The samples of these indexes, or as many of a stream."""
        if not self.indexed:
            yield from self._stream(meter, len(wanted))
            return
        for index in wanted:
            meter.sample(index)
            yield self._one(meter, index)

    def _one(self, meter: Meter, index: int) -> Row:
        return _row(index, lambda: meter.run(self._outer, lambda: self.dataset[index], None))

    def _stream(self, meter: Meter, count: int) -> Iterator[Row]:
        meter.sample(0)
        first = _row(0, lambda: iter(self.dataset))
        if first.error is not None:
            yield first
            return
        iterator = first.value
        for index in range(count):
            meter.sample(index)
            try:
                row = _row(index, lambda: meter.run(self._outer, lambda: next(iterator), None))
            except StopIteration:
                return
            yield row
            if row.error is not None:
                # A generator that has raised is at its end.
                return

    def batch(self, meter: Meter, samples: Sequence[Value]) -> Value:
        """Samples collated as the loader does."""
        if not self.batches:
            return default_collate(list(samples))
        return meter.run(self._collate, lambda: self.loader.collate_fn(list(samples)), None)

    def order(self, _: int) -> list[int] | None:
        """The indexes of one epoch, in order; None where they are not determined."""
        if self.loader is None or not self.indexed:
            return None
        chosen = self.loader.batch_sampler if self.loader.batch_sampler is not None else self.loader.sampler
        indexes: list[int] = []
        for drawn in chosen:
            indexes += list(drawn) if isinstance(drawn, list | tuple) else [drawn]
            if len(indexes) >= _MAX_INDEXES:
                break
        return [int(index) for index in indexes]

    def order_after_set_epoch(self, epoch: int) -> list[int] | None:
        """The same after ``set_epoch`` of the sampler; None where it has none."""
        samplers = (self.loader.sampler, getattr(self.loader.batch_sampler, "sampler", None), self.loader.batch_sampler)
        samplers_by_epoch = [sampler for sampler in samplers if sampler is not None and hasattr(sampler, "set_epoch")]
        for sampler in samplers_by_epoch:
            sampler.set_epoch(epoch)
        return self.order(epoch) if samplers_by_epoch else None

    def by_workers(self, indexes: Sequence[int], count: int) -> list[list[list[Value]]]:
        """For each of two epochs, the results of each of ``count`` workers on the same samples."""
        settings: dict[str, Foreign] = {"num_workers": count, "collate_fn": _as_it_is}
        if self.loader is not None:
            loader = self.loader
            settings |= {"worker_init_fn": loader.worker_init_fn, "generator": loader.generator}
            settings |= {"multiprocessing_context": loader.multiprocessing_context}
            settings |= {"persistent_workers": loader.persistent_workers}
        if self.indexed:
            made = DataLoader(self.dataset, batch_sampler=[list(indexes)] * count, **settings)
            return [list(made) for _ in range(2)]
        made = DataLoader(self.dataset, batch_size=1, **settings)
        epochs: list[list[list[Value]]] = []
        for _ in range(2):
            rows = list(islice(made, len(indexes) * count))
            epochs.append([[value for row in rows[place::count] for value in row] for place in range(count)])
        return epochs

    def counted(self, most: int) -> int | None:
        """The number of samples from the loader in one epoch with its workers; None where they are not counted."""
        if self.loader is None or self.indexed or not self.loader.num_workers:
            return None
        made = DataLoader(self.dataset, batch_size=None, num_workers=self.loader.num_workers, collate_fn=_as_it_is)
        return sum(1 for _ in islice(made, most))

    def run(self, most: int) -> Iterator[Value]:
        """Its own batches, with its own configuration."""
        if self.loader is not None:
            yield from islice(self.loader, most)

    def objects(self) -> Iterator[Foreign]:
        """The datasets, all that they hold, and the sampler."""
        for dataset in Steps.datasets(self.dataset):
            yield from objects_in(dataset)
        if self.loader is not None:
            yield from objects_in(self.loader.sampler)
            yield from objects_in(self.loader.batch_sampler)

    def deciding(self) -> tuple[Foreign, Location | None]:
        """The method that determines the order, and the line that configured it."""
        if not self.indexed:
            return getattr(type(self.dataset), "__iter__", None), self._line()
        if self.loader is None:
            return None, self._line()
        inner = getattr(self.loader.batch_sampler, "sampler", None)
        own = [sampler for sampler in (inner, self.loader.sampler, self.loader.batch_sampler) if sampler is not None]
        for sampler in own:
            function = getattr(type(sampler), "__iter__", None)
            if line_of_users_function(function, package()) is not None:
                return function, self._built(sampler)
        return None, next((line for sampler in own if (line := self._built(sampler)) is not None), self._line())

    def length_method(self) -> Function | None:
        """The ``__len__`` of the dataset."""
        return getattr(type(self.dataset), "__len__", None)

    def call(self, place: int) -> Function | None:
        """The transform at a place."""
        return self._steps.calls.get(place) if self._steps is not None else None

    def starting(self) -> Function | None:
        """The user's worker_init_fn."""
        return self.loader.worker_init_fn if self.loader is not None else None

    def alone(self, index: int) -> Value:
        """One sample in a worker of its own."""
        made = DataLoader(
            self.dataset,
            batch_sampler=[[index]],
            num_workers=self.loader.num_workers,
            multiprocessing_context=self.loader.multiprocessing_context,
            worker_init_fn=self.loader.worker_init_fn,
            collate_fn=_as_it_is,
        )
        return next(iter(made))

    def stored(self) -> dict[str, Value]:
        """The arrays and tensors held by the datasets, by name."""
        arrays: dict[str, Value] = {}
        for dataset in Steps.datasets(self.dataset):
            for name, value in getattr(dataset, "__dict__", {}).items():
                first = value[0] if isinstance(value, list) and value else value
                if isinstance(first, np.ndarray | torch.Tensor):
                    arrays[f"{type(dataset).__name__}.{name}"] = value
        return arrays


def _row(index: int, call: Callable[[], Value]) -> Row:
    """A sample, or the exception raised instead; StopIteration is passed on."""
    try:
        return Row(index, call())
    except (KeyboardInterrupt, StopIteration):
        raise
    except BaseException as error:  # noqa: BLE001 - the user's code may raise anything, which is an answer too
        return Row(index, error=error)


def _as_it_is(value: Value) -> Value:
    return value


def _length(sized: Loader) -> int | None:
    try:
        return len(sized)
    except (TypeError, NotImplementedError, AttributeError):
        return None


def _classes(dataset: Loader) -> int | None:
    """The number of classes that the dataset declares."""
    for part in Steps.datasets(dataset):
        for name in _CLASSES:
            classes = getattr(part, name, None)
            if isinstance(classes, int) and not isinstance(classes, bool):
                return classes
            if isinstance(classes, list | tuple | Mapping) and classes:
                return len(classes)
    return None


def _json(line: Location | None) -> Mapping[str, object] | None:
    return line.line_json() if line is not None else None
