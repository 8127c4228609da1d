"""What data workers draw their random numbers from: told by the workers themselves, through a pipe."""

from __future__ import annotations

import hashlib
import json
import os
import random
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from typing import Any, Final

import numpy as np
import torch
from torch.utils.data import _utils

from trueline.adapters.observer import Observer
from trueline.adapters.patching import Patches, Switch

_DEPTH: Final = 3
_MOST_STREAMS: Final = 16
_MOST_TOLD: Final = 64
_PIPE_SAFE: Final = 4096
_GENERATORS: Final = (np.random.Generator, np.random.RandomState, random.Random, torch.Generator)


def watch(observer: Observer, switch: Switch, patches: Patches) -> Callable[[], None]:
    """Have workers say where they begin; what is returned passes on what they have said so far."""
    ends: list[int] = []
    told = 0

    def make_iter(original: Callable[..., Any]) -> Callable[..., Any]:
        def init(iterator: Any, loader: Any) -> None:
            if switch.on and not ends:
                ends.extend(os.pipe())
                os.set_blocking(ends[0], False)
                patches.on_remove(close)
            original(iterator, loader)

        return init

    def make_loop(original: Callable[..., Any]) -> Callable[..., Any]:
        def loop(kind: Any, dataset: Any, *args: Any) -> Any:
            # Arguments by place, as torch hands them over: base_seed, init_fn, worker_id are the 7th to 9th of these.
            if ends and len(args) > 8:
                seed, own, number = args[6], args[7], args[8]
                args = (*args[:7], _telling(dataset, own, ends[1], seed, number), *args[8:])
            return original(kind, dataset, *args)

        return loop

    def pass_on() -> None:
        nonlocal told
        if not ends or told >= _MOST_TOLD:
            return
        for line in _read(ends[0]):
            told += 1
            observer.aside("workers", **line)

    def close() -> None:
        for one in ends:
            os.close(one)
        ends.clear()

    patches.wrap(torch.utils.data.dataloader._MultiProcessingDataLoaderIter, "__init__", make_iter)
    patches.wrap(_utils.worker, "_worker_loop", make_loop)
    return pass_on


def _read(end: int) -> Iterator[dict[str, Any]]:
    try:
        said = os.read(end, 1 << 16)
    except BlockingIOError:
        return
    for line in said.decode("utf-8", "replace").splitlines():
        try:
            yield json.loads(line)
        except ValueError:
            continue


def _telling(dataset: Any, own: Any, end: int, seed: Any, number: int) -> Callable[[int], None]:
    """In a worker: its own beginning, then word of its generators before and after the first fetch."""

    def begin(worker: int) -> None:
        if own is not None:
            own(worker)
        before: dict[str, str] = {}
        with _harmless():
            before = _streams(dataset)
        for kind in (_utils.fetch._MapDatasetFetcher, _utils.fetch._IterableDatasetFetcher):
            kind.fetch = _once(kind, kind.fetch, lambda: _tell(end, seed, number, before, dataset))

    return begin


def _once(kind: Any, original: Callable[..., Any], tell: Callable[[], None]) -> Callable[..., Any]:
    def fetch(*args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        kind.fetch = original
        tell()
        return result

    return fetch


def _tell(end: int, seed: Any, number: int, before: dict[str, str], dataset: Any) -> None:
    with _harmless():
        after = _streams(dataset)
        streams = {name: [mark, after.get(name, "")] for name, mark in before.items()}
        line = json.dumps({"round": str(seed), "worker": int(number), "streams": streams}) + "\n"
        if len(line) < _PIPE_SAFE:
            os.write(end, line.encode())


def _harmless() -> AbstractContextManager[None]:
    """Whatever goes wrong in the block, the worker goes on: a dataset may answer anything, and nobody would hear."""
    return suppress(Exception)


def _streams(dataset: Any) -> dict[str, str]:
    """A mark of the state of each generator that a worker may draw from, by name."""
    found = {"random": _mark(random.getstate()), "numpy": _mark(_words(np.random.get_state()))}
    found["torch"] = _mark(torch.get_rng_state().numpy().tobytes())
    for path, generator in _held(dataset, "dataset", _DEPTH):
        if len(found) >= _MOST_STREAMS:
            break
        found[path] = _mark(_state(generator))
    return found


def _held(thing: Any, path: str, depth: int) -> Iterator[tuple[str, Any]]:
    if isinstance(thing, _GENERATORS):
        yield path, thing
        return
    if depth == 0:
        return
    inside = list(vars(thing).items()) if hasattr(thing, "__dict__") else []
    if isinstance(thing, list | tuple) and len(thing) <= _MOST_STREAMS:
        inside = [(str(place), one) for place, one in enumerate(thing)]
    for name, one in inside:
        if not isinstance(one, torch.Tensor | np.ndarray | str | bytes | type):
            yield from _held(one, f"{path}.{name}", depth - 1)


def _state(generator: Any) -> Any:
    if isinstance(generator, np.random.Generator):
        return str(generator.bit_generator.state)
    if isinstance(generator, np.random.RandomState):
        return _words(generator.get_state())
    if isinstance(generator, torch.Generator):
        return generator.get_state().numpy().tobytes()
    return generator.getstate()


def _words(state: Any) -> Any:
    """Of NumPy's older generator the words and the place in them."""
    return state[1:3]


def _mark(state: Any) -> str:
    whole = state if isinstance(state, bytes) else b"".join(_bytes(one) for one in _flat(state))
    return hashlib.blake2b(whole, digest_size=8).hexdigest()


def _flat(state: Any) -> list[Any]:
    return list(state) if isinstance(state, tuple) else [state]


def _bytes(one: Any) -> bytes:
    return one.tobytes() if isinstance(one, np.ndarray) else repr(one).encode()
