"""The one seam between a recording and the user's training: what goes wrong on this side never reaches the other."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from trueline.model.recursion import ROOM

P = ParamSpec("P")


class Guarded(Protocol):
    """A recording that can be turned off."""

    @property
    def on(self) -> bool: ...

    @property
    def lock(self) -> AbstractContextManager[object]:
        """Data may come from another thread than the one that trains."""
        ...

    def turn_off(self, error: Exception) -> None: ...


G = TypeVar("G", bound=Guarded)


def guarded(method: Callable[Concatenate[G, P], None]) -> Callable[Concatenate[G, P], None]:
    """A method that does nothing when the recording is off, and turns it off when it fails."""

    @functools.wraps(method)
    def call(self: G, /, *args: P.args, **kwargs: P.kwargs) -> None:
        if not self.on:
            return
        try:
            with self.lock, ROOM:
                method(self, *args, **kwargs)
        except Exception as error:  # noqa: BLE001 - whatever it is, training goes on
            turn_off(self, error)

    return call


def guard(recording: Guarded, function: Callable[P, None], off: Callable[[Exception], None]) -> Callable[P, None]:
    """The same of a function that is no method of the recording; ``off`` turns off all that goes with it."""

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> None:
        if not recording.on:
            return
        try:
            with recording.lock, ROOM:
                function(*args, **kwargs)
        except Exception as error:  # noqa: BLE001 - whatever it is, training goes on
            with contextlib.suppress(Exception):
                off(error)

    return call


def turn_off(recording: Guarded, error: Exception) -> None:
    """Turn a recording off; what goes wrong in doing so does not reach the training either."""
    with contextlib.suppress(Exception):
        recording.turn_off(error)
