"""Loss scalers, told as they are built, so that one that adapts may begin otherwise."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from trueline.adapters.lines import user_line
from trueline.adapters.nouns import Foreign, Value
from trueline.model.location import Location


@dataclass(frozen=True, slots=True)
class Scaler:
    """Its class, the scale it begins with, and, where it adapts, by which factor and after how many good steps."""

    kind: str
    scale: float
    factor: float | None
    window: int | None
    line: Location | None

    @property
    def dynamic(self) -> bool:
        """Whether it adapts."""
        return self.window is not None


@dataclass(frozen=True, slots=True)
class Beginning:
    """What a scaler that adapts begins with instead."""

    scale: float
    factor: float
    window: int


# What it is to begin with; None for its own.
Begin = Callable[[Scaler], Beginning | None]


@dataclass(frozen=True, slots=True)
class Names:
    """What a scaler's class calls its arguments; one that does not adapt has no factor and no window."""

    scale: str
    factor: str | None = None
    window: str | None = None


def building(
    names: Names, begin: Begin, speaks: Callable[[Mapping[str, Foreign]], bool], package: str
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Around a scaler's constructor."""

    def make(original: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(original)

        def initialise(scaler: Foreign, *args: object, **kwargs: object) -> None:
            given = _given(signature, scaler, args, kwargs)
            if given is None or not speaks(given.arguments):
                original(scaler, *args, **kwargs)
                return
            built = _scaler(type(scaler).__name__, names, given.arguments, user_line(package, frame=sys._getframe(1)))
            wanted = begin(built)
            if wanted is not None and names.factor is not None and names.window is not None:
                given.arguments[names.scale] = wanted.scale
                # Some take whole numbers only.
                given.arguments[names.factor] = type(given.arguments[names.factor])(wanted.factor)
                given.arguments[names.window] = wanted.window
            original(*given.args, **given.kwargs)

        return initialise

    return make


def _given(
    signature: inspect.Signature, scaler: Foreign, args: tuple[Value, ...], kwargs: dict[str, Value]
) -> inspect.BoundArguments | None:
    try:
        given = signature.bind(scaler, *args, **kwargs)
    except TypeError:
        # The constructor itself says what is wrong.
        return None
    given.apply_defaults()
    return given


def _scaler(kind: str, names: Names, given: Mapping[str, Value], line: Location | None) -> Scaler:
    factor = float(given[names.factor]) if names.factor is not None else None
    window = int(given[names.window]) if names.window is not None else None
    return Scaler(kind, float(given[names.scale]), factor, window, line)
