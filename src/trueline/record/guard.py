"""The one seam between a recording and the user's training: what goes wrong on this side never reaches the other."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Protocol


class Guarded(Protocol):
    """A recording that can be turned off."""

    @property
    def on(self) -> bool: ...

    def turn_off(self, error: Exception) -> None: ...


def guarded(method: Callable[..., None]) -> Callable[..., None]:
    """A method that does nothing when the recording is off, and turns it off when it fails."""

    @functools.wraps(method)
    def call(self: Guarded, *args: Any, **kwargs: Any) -> None:
        if not self.on:
            return
        try:
            method(self, *args, **kwargs)
        except Exception as error:  # noqa: BLE001 - whatever it is, training goes on
            self.turn_off(error)

    return call
