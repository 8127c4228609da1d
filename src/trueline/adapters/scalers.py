"""Loss scalers, reported at construction, so that a dynamic one can start from other settings."""

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
    """A loss scaler: its class, initial scale, and if dynamic its factor and growth interval."""

    kind: str
    scale: float
    factor: float | None
    window: int | None
    line: Location | None

    @property
    def dynamic(self) -> bool:
        """Whether the scale is dynamic."""
        return self.window is not None


@dataclass(frozen=True, slots=True)
class Beginning:
    """Other initial settings for a dynamic scaler."""

    scale: float
    factor: float
    window: int


# What it is to begin with; None for its own.
Begin = Callable[[Scaler], Beginning | None]


@dataclass(frozen=True, slots=True)
class Names:
    """The parameter names of a scaler class; a static one has no factor and no window."""

    scale: str
    factor: str | None = None
    window: str | None = None


def building(
    names: Names, begin: Begin, is_reporting: Callable[[Mapping[str, Foreign]], bool], package: str
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Wraps a scaler's constructor."""

    def make(original: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(original)

        def initialise(scaler: Foreign, *args: object, **kwargs: object) -> None:
            given = _given(signature, scaler, args, kwargs)
            if given is None or not is_reporting(given.arguments):
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
