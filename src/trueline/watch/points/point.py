"""The watchpoints there are: what each looks at, and the limits it has."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final


class Need(StrEnum):
    """What a watchpoint has to be shown."""

    INITIAL = "initial"
    WEIGHTS = "weights"
    GRADIENTS = "gradients"
    OUTPUTS = "outputs"
    ACTIVATIONS = "activations"
    NORMS = "norms"


class Unit(StrEnum):
    """What a limit is counted in."""

    VALUE = "value"
    SHARE = "share"
    SIZE = "size"
    COUNT = "count"
    RANGE = "range"


@dataclass(frozen=True, slots=True)
class Limit:
    """One limit of a watchpoint; without a default it does not count until it is set."""

    name: str
    default: float | None = None
    unit: Unit = Unit.VALUE


@dataclass(frozen=True, slots=True)
class Spec:
    """One watchpoint: its name in MindSpore's debugger, what it needs, its limits in their places.

    Of the limits in ``one_of`` at least one has to be set.
    """

    id: str
    name: str
    needs: frozenset[Need]
    limits: tuple[Limit, ...] = ()
    one_of: tuple[str, ...] = ()

    def limit(self, name: str) -> Limit | None:
        """The limit of that name."""
        return next((limit for limit in self.limits if limit.name == name), None)


_SIZES: Final = tuple(Limit(name) for name in ("absmean", "max", "min", "mean"))
_ANY_SIZE: Final = tuple(one.name for one in _SIZES)
_WEIGHTS: Final = frozenset((Need.WEIGHTS,))
_FROM_THE_START: Final = frozenset((Need.INITIAL, Need.WEIGHTS))
_GRADIENTS: Final = frozenset((Need.GRADIENTS,))
_OUTPUTS: Final = frozenset((Need.OUTPUTS,))

_ALL: Final = (
    Spec(
        "WI",
        "weight_initialization",
        frozenset((Need.INITIAL,)),
        (Limit("zeros", 1.0, Unit.SHARE), Limit("max"), Limit("min"), Limit("dims", 2, Unit.COUNT)),
    ),
    Spec("WO", "weight_overflow", _FROM_THE_START),
    Spec("WL", "weight_too_large", _WEIGHTS, _SIZES, _ANY_SIZE),
    Spec("WS", "weight_too_small", _WEIGHTS, _SIZES, _ANY_SIZE),
    Spec(
        "WNC",
        "weight_not_changed",
        _FROM_THE_START,
        (Limit("rtol", 1e-5, Unit.SIZE), Limit("atol", 1e-8, Unit.SIZE), Limit("steps", 3, Unit.COUNT)),
    ),
    Spec(
        "WCL",
        "weight_change_too_large",
        _FROM_THE_START,
        (Limit("ratio", 0.1, Unit.SIZE), Limit("settle", 10, Unit.COUNT)),
    ),
    Spec("WCS", "weight_change_too_small", _FROM_THE_START, (Limit("ratio", 1e-4, Unit.SIZE),)),
    Spec(
        "GV",
        "gradient_vanishing",
        _GRADIENTS,
        (Limit("absmean", 1e-9, Unit.SIZE), Limit("steps", 1, Unit.COUNT)),
    ),
    Spec("GL", "gradient_too_large", _GRADIENTS, _SIZES, _ANY_SIZE),
    Spec("GE", "gradient_exploding", _GRADIENTS),
    Spec("TO", "tensor_overflow", _OUTPUTS),
    Spec("TZ", "tensor_all_zero", _OUTPUTS, (Limit("zeros", 1.0, Unit.SHARE),)),
    Spec("TL", "tensor_too_large", _OUTPUTS, _SIZES, _ANY_SIZE),
    Spec("TS", "tensor_too_small", _OUTPUTS, _SIZES, _ANY_SIZE),
    Spec(
        "TR",
        "tensor_range",
        _OUTPUTS,
        (Limit("range", unit=Unit.RANGE), Limit("below", unit=Unit.SHARE), Limit("above", unit=Unit.SHARE)),
        ("below", "above"),
    ),
    Spec(
        "AR",
        "activation_range",
        frozenset((Need.ACTIVATIONS,)),
        (
            Limit("inside", 0.001, Unit.SHARE),
            Limit("zeros", 0.999, Unit.SHARE),
            Limit("tanh", 8.8, Unit.SIZE),
            Limit("sigmoid", 16.2, Unit.SIZE),
        ),
    ),
    Spec("TU", "turbulence", frozenset((Need.NORMS,)), (Limit("over", 0.5, Unit.SIZE), Limit("after", 5, Unit.COUNT))),
)
SPECS: Final[Mapping[str, Spec]] = MappingProxyType({one.id: one for one in _ALL})
IDS: Final = tuple(SPECS)


@dataclass(frozen=True, slots=True)
class Point:
    """One watchpoint that is set, with its limits by name; a range is the two limits low and high."""

    id: str
    limits: Mapping[str, float]

    @property
    def spec(self) -> Spec:
        """What is known of its kind."""
        return SPECS[self.id]

    def __str__(self) -> str:
        shown = {name: limit for name, limit in self.limits.items() if name not in ("low", "high")}
        parts = [f"{name}={one:.12g}" for name, one in shown.items()]
        if "low" in self.limits:
            ends = (f"{one:.12g}" if math.isfinite(one) else "" for one in (self.limits["low"], self.limits["high"]))
            parts.insert(0, f"range={'..'.join(ends)}")
        return f"{self.id}:{','.join(parts)}" if parts else self.id


def point(id: str, **limits: float) -> Point:
    """A watchpoint with these limits and the defaults of the others."""
    held = {limit.name: float(limit.default) for limit in SPECS[id].limits if limit.default is not None}
    return Point(id, MappingProxyType({**held, **{name: float(limit) for name, limit in limits.items()}}))


def needs(points: Iterable[Point]) -> frozenset[Need]:
    """All that has to be shown to these watchpoints, and nothing else."""
    return frozenset(need for each in points for need in each.spec.needs)
