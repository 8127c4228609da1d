"""The floor measured for one network, tensor by tensor: what counts as equal."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Self

from trueline.model.fields import may, need, number
from trueline.model.key import Key
from trueline.model.numbers import encode, plain

FORMAT: Final = 1
# A growth fitted to a few steps is not followed for ever: no loss is expected further off than this share of it.
_WIDEST_BAND: Final = 0.25
_MOST_DECADES: Final = 200.0


@dataclass(frozen=True, slots=True)
class Drift:
    """How far repeated runs lay from the first in one tensor of one step: the largest of all tries.

    ``level`` is what verdicts look at: the larger of both relative distances, or for a gradient that is zero but for
    rounding the distance relative to a share of the step's largest gradient. ``unit`` is the dtype's rounding unit.
    ``switched`` is the level once rounding has made an element choose another branch (a ReLU at zero, a maximum
    between two): 0 where no such thing was provoked before this tensor.
    """

    level: float
    relative_max: float
    relative_l2: float
    unit: float = 0.0
    switched: float = 0.0

    def or_further(self, other: Drift) -> Drift:
        """The larger of both, number by number."""
        return Drift(*(max(getattr(self, name), getattr(other, name)) for name in self.__slots__))


@dataclass(frozen=True, slots=True)
class LossDrift:
    """A step's loss in the first run, and how far from it the repeated runs lay at most, also once switched."""

    value: float
    spread: float
    switched: float = 0.0


@dataclass(frozen=True, slots=True)
class Margins:
    """What is put on top of the measured: a few tries do not show the furthest that rounding can go.

    ``tensor`` and ``loss`` multiply what tries of one rounding unit showed, ``switched`` what the stronger one did.
    ``ulps`` and ``loss_ulps`` are the least that a floor and a band are, in rounding units; ``least_rate`` and
    ``most_rate`` bound the decades per step by which the losses' spread is taken to grow where it was not measured.
    """

    tensor: float = 1.0
    loss: float = 1.0
    switched: float = 1.0
    ulps: float = 0.0
    loss_ulps: float = 0.0
    least_rate: float = 0.0
    most_rate: float = math.inf


@dataclass(frozen=True, slots=True)
class Noise:
    """What was measured, in how many tries and how; ``margins`` are the reader's, and are not kept in files."""

    tries: int
    how: Mapping[str, Any] = field(default_factory=dict)
    drifts: Mapping[tuple[Key, int], Drift] = field(default_factory=dict)
    losses: Mapping[int, LossDrift] = field(default_factory=dict)
    margins: Margins = field(default_factory=Margins)

    def floor(self, key: Key, step: int, *, switched: bool = True) -> float | None:
        """How far from the benchmark's a tensor may lie, relative to its scale; None where that was not measured.

        Without ``switched`` this is the floor for as long as no element is known to have taken another branch: who
        walks tensors in order may ask for it until one gradient lies beyond it and yet within the wider floor.
        """
        found = self.drifts.get((key, step))
        if found is None:
            return None
        narrow = max(self.margins.tensor * found.level, self.margins.ulps * found.unit)
        return max(narrow, self.margins.switched * found.switched) if switched else narrow

    def loss_band(self, step: int, *, switched: bool = True) -> float | None:
        """How far from the benchmark's a loss may lie, absolutely; None where no loss was measured."""
        known = [(at, drift) for at, drift in sorted(self.losses.items()) if math.isfinite(drift.spread + drift.value)]
        known = [(at, drift) for at, drift in known if at <= step]
        if not known:
            return None
        scale = max(abs(drift.value) for _, drift in known)
        # When two trajectories part is a matter of luck: the band never narrows.
        widest = self.margins.loss * max(drift.spread for _, drift in known)
        if switched:
            widest = max(widest, self.margins.switched * max(drift.switched for _, drift in known))
        least = self.margins.loss_ulps * self.loss_unit * scale
        grown = math.pow(10.0, min(self.growth * (step - known[-1][0]), _MOST_DECADES))
        return min(max(widest, least) * grown, _WIDEST_BAND * scale)

    def extrapolated(self, step: int) -> bool:
        """Whether a step's band was not measured but follows from the growth before it."""
        return not self.losses or step > max(self.losses)

    @property
    def loss_unit(self) -> float:
        """The rounding unit of the coarsest tensor."""
        return max((drift.unit for drift in self.drifts.values()), default=2.0**-23)

    @property
    def growth(self) -> float:
        """Decades per step by which the spread of the losses grew: a line through its logarithms."""
        points = [
            (step, math.log10(drift.spread)) for step, drift in self.losses.items() if 0 < drift.spread < math.inf
        ]
        rate = 0.0
        if len(points) > 1:
            x, y = (sum(values) / len(points) for values in zip(*points, strict=True))
            width = sum((step - x) ** 2 for step, _ in points)
            rate = sum((step - x) * (spread - y) for step, spread in points) / width if width else 0.0
        return min(max(rate, self.margins.least_rate), self.margins.most_rate)

    def to_json(self) -> dict[str, object]:
        """The JSON shape."""
        return {
            "format": FORMAT,
            "tries": self.tries,
            "how": plain(self.how),
            "tensors": [
                {"key": str(key), "step": step, **{name: encode(getattr(drift, name)) for name in Drift.__slots__}}
                for (key, step), drift in self.drifts.items()
            ],
            "losses": [
                {"step": step, **{name: encode(getattr(drift, name)) for name in LossDrift.__slots__}}
                for step, drift in sorted(self.losses.items())
            ],
        }

    @classmethod
    def from_json(cls, found: object) -> Self:
        """Read the JSON shape; a ValueError says what is wrong."""
        version = need(found, "format", int)
        if version != FORMAT:
            raise ValueError(f"format: expected {FORMAT}, found {version}")
        drifts = {
            (Key.parse(need(one, "key", str)), _natural(one, "step")): Drift(
                *(_size(one, name) for name in Drift.__slots__)
            )
            for one in need(found, "tensors", list)
        }
        losses = {
            _natural(one, "step"): LossDrift(_number(one, "value"), _size(one, "spread"), _size(one, "switched"))
            for one in need(found, "losses", list)
        }
        return cls(_natural(found, "tries"), may(found, "how", dict) or {}, drifts, losses)


def _natural(found: object, name: str) -> int:
    value = need(found, name, int)
    if value < 0:
        raise ValueError(f"{name}: expected a number from 0, found {value}")
    return value


def _size(found: object, name: str) -> float:
    value = _number(found, name)
    if not value >= 0:
        raise ValueError(f"{name}: expected a number from 0, found {value}")
    return value


def _number(found: object, name: str) -> float:
    try:
        return number(found, name)
    except OverflowError:
        raise ValueError(f"{name}: too large a number") from None
