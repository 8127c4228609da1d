"""Batch sizes of pipelines and loaders, reported at construction and replaced on request."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence

from trueline.adapters.batchers import Batchers, Resize, building, held
from trueline.adapters.mindspore.build import PACKAGE
from trueline.adapters.mindspore.internals import DataLoader, datasets
from trueline.adapters.nouns import Loader
from trueline.adapters.patching import Placed

_OPERATORS = (datasets.BatchDataset, datasets.PaddedBatchDataset)
_UNEQUAL = (datasets.BucketBatchByLengthDataset,)


class _Watching(Placed):
    def __init__(self, resize: Resize) -> None:
        super().__init__()
        self._batchers = Batchers(resize, PACKAGE)
        for kind in _OPERATORS:
            self.patches.wrap(kind, "__init__", self._operator)
        for kind in _UNEQUAL:
            self.patches.wrap(kind, "__init__", self._unequal)
        if DataLoader is not None:
            loader = building(self._batchers, lambda: self.switch.on)
            self.patches.wrap(DataLoader, "__init__", loader)

    def behind(self, loader: Loader) -> Sequence[int]:
        """The numbers of the batchers behind a loader's batches."""
        chain = _whole(loader) if isinstance(loader, datasets.Dataset) else iter((loader,))
        return [number for operation in chain if (number := self._batchers.number(operation)) is not None]

    def _operator(self, original: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(original)

        def begin(pipeline: Loader, *args: object, **kwargs: object) -> None:
            if self.switch.on:
                given = signature.bind(pipeline, *args, **kwargs)
                wanted = self._batchers.ask(pipeline, type(pipeline).__name__, *held(given.arguments))
                if wanted is not None:
                    given.arguments["batch_size"] = wanted
                args, kwargs = given.args[1:], given.kwargs
            original(pipeline, *args, **kwargs)

        return begin

    def _unequal(self, original: Callable[..., None]) -> Callable[..., None]:
        """Batches of several sizes, one per sample length."""

        def begin(pipeline: Loader, *args: object, **kwargs: object) -> None:
            if self.switch.on:
                self._batchers.ask(pipeline, type(pipeline).__name__, None, "length")
            original(pipeline, *args, **kwargs)

        return begin


def watch(resize: Resize) -> _Watching:
    """Ask ``resize`` for the size of every batcher constructed from now on."""
    return _Watching(resize)


def _whole(pipeline: Loader) -> Iterator[Loader]:
    """All operations of a pipeline, last first."""
    waiting = [pipeline]
    while waiting:
        operation = waiting.pop()
        yield operation
        waiting.extend(operation.children)
