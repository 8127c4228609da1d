"""Loss scales in a script: where they are made, whether anything uses them, and what they begin with."""

from __future__ import annotations

import math
from typing import Final

from trueline.apitable.functions import classes_of
from trueline.apitable.traits import Trait
from trueline.model.location import Location
from trueline.script.trace import UNCALLED, Event, Trace
from trueline.script.values import Const, Value, constant, options

SCALING: Final = classes_of(Trait.LOSS_SCALER)
HIGHEST: Final = 2.0**32
# A scale below the lowest of those in use gives the gradients of float16 next to no room.
LOWEST: Final = 8.0
_USUAL: Final = 128.0
# A scale that grows gets to the usual ones in so many updates without harm.
_SOON: Final = 200


def is_used(built: Event, trace: Trace) -> bool:
    """Whether a loss is given to it, or it is given to a trainer."""
    if built.name.rpartition(".")[2].startswith("TrainOneStep"):
        return True
    for event in trace.events:
        if event.method == "scale" and any(value is built.result for value in options(event.receiver)):
            return True
        if any(part is built.result for value in (*event.args, *event.kwargs.values()) for part in options(value)):
            return True
    return False


def absurd(trace: Trace) -> tuple[float, Location] | None:
    """A scale to begin with that no gradient survives."""
    for event in trace.events:
        if event.name.rpartition(".")[2] not in SCALING or any(scope.kind == UNCALLED for scope in event.scopes):
            continue
        given = _first_scale(event)
        scale = constant(given, 1.0)
        if isinstance(scale, int | float) and isinstance(given, Const) and not 1 <= scale <= HIGHEST:
            return float(scale), given.origin or event.place
    return None


def too_low(trace: Trace) -> tuple[float, Location] | None:
    """A scale that is close to none, and does not grow soon."""
    for event in trace.events:
        kind = event.name.rpartition(".")[2]
        if kind not in SCALING or any(scope.kind == UNCALLED for scope in event.scopes) or not is_used(event, trace):
            continue
        given = _first_scale(event)
        scale = constant(given)
        if isinstance(scale, int | float) and 1 < scale < LOWEST and not _grows_soon(event, kind, scale):
            return float(scale), (given.origin if isinstance(given, Const) else None) or event.place
    return None


def _grows_soon(event: Event, kind: str, scale: float) -> bool:
    if kind.startswith(("Static", "Fixed")):
        return False
    window = constant(event.arg(2 if kind != "GradScaler" else None, "growth_interval", "scale_window"), 2000)
    factor = constant(event.arg(1 if kind != "GradScaler" else None, "growth_factor", "scale_factor"), 2.0)
    if not isinstance(window, int | float) or not isinstance(factor, int | float) or factor <= 1:
        # Nothing is known of how it grows.
        return not isinstance(factor, int | float) or not isinstance(window, int | float)
    return window * math.log(_USUAL / scale, factor) < _SOON


def _first_scale(event: Event) -> Value | None:
    if event.name.endswith("GradScaler"):
        return event.arg(1, "init_scale")
    return event.arg(0, "init_scale", "scale_value", "init_loss_scale", "loss_scale", "loss_scale_value")
