"""Reports of DataLoader workers about the random streams they draw from."""

from __future__ import annotations

from collections.abc import Callable

import torch

from trueline.adapters.nouns import Foreign, Function, Loader, Value
from trueline.adapters.observer import Observer
from trueline.adapters.patching import Patches, Switch
from trueline.adapters.torch import internals
from trueline.adapters.worker_streams import WorkerPipe, harmless


def watch(observer: Observer, switch: Switch, patches: Patches) -> Callable[[], None]:
    """Make workers report their random streams; returns a function that forwards the reports received so far."""
    pipe = WorkerPipe({torch.Generator: _state}, {"torch": lambda: torch.get_rng_state().numpy().tobytes()})

    def make_iter(original: Function) -> Function:
        def init(iterator: Loader, loader: Loader) -> None:
            if switch.on and not pipe.is_open:
                pipe.open()
                patches.on_remove(pipe.close)
            original(iterator, loader)

        return init

    def make_loop(original: Function) -> Function:
        def loop(kind: object, dataset: Loader, *args: Foreign) -> object:
            # Arguments by place, as torch hands them over: base_seed, init_fn, worker_id are the 7th to 9th of these.
            if pipe.is_open and len(args) > 8:
                seed, own, number = args[6], args[7], args[8]
                args = (*args[:7], _reporting(dataset, own, pipe, seed, number), *args[8:])
            return original(kind, dataset, *args)

        return loop

    def pass_on() -> None:
        for line in pipe.read():
            observer.aside("workers", **line)

    patches.wrap(internals.WorkersIterator, "__init__", make_iter)
    patches.wrap(*internals.WORKER_LOOP, make_loop)
    return pass_on


def _reporting(
    dataset: Loader, own: Callable[[int], None] | None, pipe: WorkerPipe, seed: object, number: int
) -> Callable[[int], None]:
    """In a worker: the user's worker_init_fn, then a report of its generators before and after the first fetch."""

    def begin(worker: int) -> None:
        if own is not None:
            own(worker)
        before: dict[str, str] = {}
        with harmless():
            before = pipe.streams(dataset)
        for kind in internals.FETCHERS:
            kind.fetch = _once(kind, kind.fetch, lambda: pipe.report(str(seed), int(number), before, dataset))

    return begin


def _once(kind: Foreign, original: Function, report: Callable[[], None]) -> Function:
    def fetch(*args: object, **kwargs: object) -> Value:
        result = original(*args, **kwargs)
        kind.fetch = original
        report()
        return result

    return fetch


def _state(generator: torch.Generator) -> bytes:
    return bytes(generator.get_state().numpy())
