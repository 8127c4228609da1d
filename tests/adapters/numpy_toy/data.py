"""Loaders, watched."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from adapters.numpy_toy import framework

from trueline.adapters.observer import Observer
from trueline.adapters.patching import Patches, Switch


def watch(observer: Observer, switch: Switch, patches: Patches) -> None:
    """Tell every iteration of every loader."""

    def make(original: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
        def iterate(loader: framework.Loader) -> Iterator[Any]:
            observer.loader_began(loader, facts(loader))
            chosen = loader.chosen()
            batches = original(loader)
            while switch.on:
                observer.fetch_began(loader)
                handed = observer.instead(loader)
                if handed is not None:
                    yield handed.batch
                    continue
                batch = next(batches, None)
                if batch is None:
                    observer.loader_ended(loader)
                    return
                observer.fetched(loader, batch, next(chosen))
                yield batch
            yield from batches

        return iterate

    patches.wrap(framework.Loader, "__iter__", make)


def facts(loader: framework.Loader) -> dict[str, Any]:
    """What is worth knowing of a loader."""
    return {
        "kind": type(loader).__name__,
        "dataset": "arrays",
        "length": len(loader),
        "batch_size": loader.batch_size,
        "sampler": type(loader.sampler).__name__,
        "workers": loader.workers,
    }
