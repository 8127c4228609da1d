"""The random streams of data workers, reported by the workers themselves through a pipe."""

from __future__ import annotations

import hashlib
import json
import os
import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from typing import Final

import numpy as np

from trueline.adapters.nouns import Foreign, Loader
from trueline.model.descriptor import DescriptorLost, OwnDescriptor

# How far below a dataset its generators are looked for: its attributes, theirs, and once more.
_MAX_DEPTH: Final = 3
_MAX_STREAMS: Final = 16
# Of how many workers word is passed on: enough to compare them, in a run of any length.
_MAX_REPORTS: Final = 64
# What is written at once up to this size is not mixed with what others write (POSIX: PIPE_BUF).
_ATOMIC_BYTES: Final = 4096
_OWN: Final = (np.random.Generator, np.random.RandomState, random.Random)
_NOT_LOOKED_INTO: Final = (np.ndarray, str, bytes, type)


class WorkerPipe:
    """A pipe from forked workers, opened before they start and read by the training process."""

    def __init__(
        self, marks: Mapping[type, Callable[[Foreign], bytes]], whole: Mapping[str, Callable[[], bytes]]
    ) -> None:
        """``marks`` maps a framework's generator classes to their states, ``whole`` are its process-wide states."""
        self._marks, self._whole = marks, whole
        self._ends: list[OwnDescriptor] = []
        self._told = 0

    @property
    def is_open(self) -> bool:
        """Whether workers can report."""
        return bool(self._ends)

    def open(self) -> None:
        """Called before the first worker starts."""
        self._ends.extend(map(OwnDescriptor, os.pipe()))
        os.set_blocking(self._ends[0].proven(), False)

    def close(self) -> None:
        """Called after the last worker has ended."""
        for end in self._ends:
            end.close()
        self._ends.clear()

    def read(self) -> Iterator[dict[str, Foreign]]:
        """Reports received since the last call, up to a total limit."""
        if not self._ends or self._told >= _MAX_REPORTS:
            return
        try:
            said = os.read(self._ends[0].proven(), 1 << 16)
        except (BlockingIOError, DescriptorLost):
            return
        for line in said.decode("utf-8", "replace").splitlines():
            try:
                report = json.loads(line)
            except ValueError:
                continue
            self._told += 1
            yield report

    def report(self, began: str, worker: int, before: Mapping[str, str], dataset: Loader) -> None:
        """In a worker: report each generator's state before the first sample, and now."""
        with harmless():
            after = self.streams(dataset)
            streams = {name: [mark, after.get(name, "")] for name, mark in before.items()}
            line = json.dumps({"round": began, "worker": worker, "streams": streams}) + "\n"
            if len(line) < _ATOMIC_BYTES:
                self._ends[1].write_all(line.encode())

    def streams(self, dataset: Loader) -> dict[str, str]:
        """A digest of each generator's state that a worker may draw from, by name."""
        marks = {"random": _mark(random.getstate()), "numpy": _mark(_words(np.random.get_state()))}
        marks.update({name: _mark(state()) for name, state in self._whole.items()})
        for path, generator in self._held(dataset, "dataset", _MAX_DEPTH):
            if len(marks) >= _MAX_STREAMS:
                break
            marks[path] = _mark(self._state(generator))
        return marks

    def _held(self, holder: object, path: str, depth: int) -> Iterator[tuple[str, Foreign]]:
        if isinstance(holder, (*_OWN, *self._marks)):
            yield path, holder
            return
        if depth == 0:
            return
        inside = list(vars(holder).items()) if hasattr(holder, "__dict__") else []
        if isinstance(holder, list | tuple) and len(holder) <= _MAX_STREAMS:
            inside = [(str(place), part) for place, part in enumerate(holder)]
        for name, part in inside:
            if not isinstance(part, _NOT_LOOKED_INTO):
                yield from self._held(part, f"{path}.{name}", depth - 1)

    def _state(self, generator: Foreign) -> Foreign:
        for kind, state in self._marks.items():
            if isinstance(generator, kind):
                return state(generator)
        if isinstance(generator, np.random.Generator):
            return str(generator.bit_generator.state)
        if isinstance(generator, np.random.RandomState):
            return _words(generator.get_state())
        return generator.getstate()


def harmless() -> AbstractContextManager[None]:
    """Exceptions in this block are ignored: a user's dataset may raise anything, and the worker must go on."""
    return suppress(Exception)


def _words(state: Foreign) -> Foreign:
    """The key and position of NumPy's legacy generator state."""
    return state[1:3]


def _mark(state: Foreign) -> str:
    whole = state if isinstance(state, bytes) else b"".join(_bytes(part) for part in _flat(state))
    return hashlib.blake2b(whole, digest_size=8).hexdigest()


def _flat(state: object) -> list[object]:
    return list(state) if isinstance(state, tuple) else [state]


def _bytes(part: object) -> bytes:
    return part.tobytes() if isinstance(part, np.ndarray) else repr(part).encode()
