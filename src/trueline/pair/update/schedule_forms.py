"""Two learning-rate curves: what turns one into the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from trueline.model.json_value import Json
from trueline.pair.blame import Cause, Setting

Doubles = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]

# Rates worked out in single precision lie this share of the largest apart.
CLOSE: Final = 3e-6
# Between two steps of a curve that is stretched lies no step: a straight line there is off by a little.
_STRETCHED: Final = 2e-3
_NEARLY_ALL: Final = 0.97
# Fewer common steps show nothing of a schedule.
_MIN_STEPS: Final = 3
_HIGH: Final = 0.01


@dataclass(frozen=True, slots=True)
class Explained:
    """Why two curves differ: the id of a sentence and its numbers; ``exact`` where that makes one out of the other."""

    cause: Cause
    text: str
    edit: str
    bench: Setting
    port: Setting
    words: Mapping[str, Json] = field(default_factory=dict)
    exact: bool = True


@dataclass(frozen=True, slots=True)
class Rates:
    """The rates of both sides at the same steps, in rising order."""

    steps: Whole
    bench: Doubles
    port: Doubles
    steps_per_epoch: int

    @property
    def scale(self) -> float:
        """The benchmark's largest rate."""
        return float(np.abs(self.bench).max(initial=0.0)) or 1.0

    @property
    def level(self) -> float:
        """How far apart the curves are, relative to the largest rate."""
        return float(np.abs(self.port - self.bench).max(initial=0.0)) / self.scale

    def explained(self) -> Explained | None:
        """None where both are the same; else the simplest that explains the difference."""
        if self.level <= CLOSE:
            return None
        ways = (self._factor, self._missing, self._unit, self._shift, self._warm_up, self._end, self._length)
        return next((explained for way in ways if (explained := way()) is not None), None) or self._other()

    def _close(self, here: Doubles, there: Doubles, limit: float = CLOSE) -> npt.NDArray[np.bool_]:
        return np.asarray(np.abs(here - there) <= limit * self.scale)

    def _factor(self) -> Explained | None:
        high = self.bench > _HIGH * self.scale
        if not high.any():
            return None
        factor = float(np.median(self.port[high] / self.bench[high]))
        if factor <= 0 or not self._close(self.port / factor, self.bench).all():
            return None
        first, other = float(self.port[0]), float(self.bench[0])
        words = {"factor": _neat(factor), "port": first, "bench": other}
        return Explained(Cause.LEARNING_RATE, "schedule_factor", "edit_schedule_factor", other, first, words)

    def _missing(self) -> Explained | None:
        changes = [float(np.ptp(array)) > CLOSE * self.scale for array in (self.bench, self.port)]
        if all(changes):
            return None
        ends = ((float(array[0]), float(array[-1])) for array in (self.bench, self.port))
        bench, port = ([first, last] for first, last in ends)
        words = {"port": port[0], "bench": bench[0], "last": bench[1], "port_last": port[1]}
        text = "schedule_missing" if changes[0] else "schedule_extra"
        return Explained(Cause.SCHEDULE, text, f"edit_{text}", bench, port, words)

    def _unit(self) -> Explained | None:
        every = self.steps_per_epoch
        if every < 2:
            return None
        epoch = self.steps // every
        tries: Iterator[tuple[str, bool]] = iter(
            (
                ("unit_port_faster", self._is(self.port, self.bench, self.steps * every)),
                ("unit_port_slower", self._is(self.port, self.bench, epoch)),
                ("unit_port_coarse", self._is(self.port, self.bench, epoch * every)),
                ("unit_port_fine", self._is(self.bench, self.port, epoch * every)),
            )
        )
        found = next((text for text, fits in tries if fits), None)
        if found is None:
            return None
        words = {"steps": every}
        bench, port = ("epoch", "step") if found in ("unit_port_faster", "unit_port_fine") else ("step", "epoch")
        return Explained(Cause.SCHEDULE_UNIT, found, "edit_unit", bench, port, words)

    def _is(self, here: Doubles, there: Doubles, at: Whole) -> bool:
        """Whether one curve's rate at each step is the other's at the step ``at``, where that is known."""
        known = np.isin(at, self.steps)
        if known.sum() < _MIN_STEPS:
            return False
        found = there[np.searchsorted(self.steps, at[known])]
        # A piece in which nothing changes tells nothing.
        tells = float(np.ptp(found)) > CLOSE * self.scale
        return tells and bool(self._close(here[known], found).all())

    def _shift(self) -> Explained | None:
        for count in (1, -1, 2, -2, self.steps_per_epoch, -self.steps_per_epoch):
            if self._is(self.port, self.bench, self.steps - count):
                when = "late" if count > 0 else "early"
                words: dict[str, Json] = {"count": abs(count), "when": when}
                return Explained(Cause.SCHEDULE, "schedule_shift", "edit_schedule_shift", 0, count, words)
        return None

    def _warm_up(self) -> Explained | None:
        apart = ~self._close(self.port, self.bench)
        last = int(np.nonzero(apart)[0][-1])
        peaks = [int(np.argmax(array >= array.max() * (1 - CLOSE))) for array in (self.bench, self.port)]
        bench, port = (int(self.steps[peak]) for peak in peaks)
        tail = last < len(apart) // 2
        if bench == port:
            if not tail:
                return None
            rates = {"port": float(self.port[0]), "bench": float(self.bench[0]), "step": int(self.steps[last]) + 1}
            return Explained(Cause.WARM_UP, "warm_up_other", "edit_warm_up_other", rates["bench"], rates["port"], rates)
        rises = [_rises(array[: peak + 1]) for array, peak in zip((self.bench, self.port), peaks, strict=True)]
        if not all(rises):
            return None
        text = "warm_up_none" if not port else "warm_up_extra" if not bench else "warm_up_length"
        words: dict[str, Json] = {"bench": bench, "port": port, "first": float(self.bench[0])}
        exact = tail or self._same_after(peaks)
        return Explained(Cause.WARM_UP, text, "edit_warm_up", bench, port, words, exact=exact)

    def _same_after(self, peaks: Sequence[int]) -> bool:
        """Whether both do the same once they are warm: step by step, or over what is left of the training."""
        ends = [self.steps[_plateau(array, peak)] for array, peak in zip((self.bench, self.port), peaks, strict=True)]
        later = self.steps >= ends[1]
        since = self.steps[later] - ends[1]
        left = [float(self.steps[-1] + 1 - end) for end in ends]
        for at in (ends[0] + since, ends[0] + since * left[0] / left[1]):
            inside = at <= self.steps[-1]
            made = np.interp(at[inside], self.steps, self.bench)
            if inside.sum() >= _MIN_STEPS and self._close(self.port[later][inside], made, _STRETCHED).all():
                return True
        return False

    def _end(self) -> Explained | None:
        peak = int(np.argmax(self.bench))
        if not self._close(self.port[: peak + 1], self.bench[: peak + 1]).all():
            return None
        there, here = self.bench[peak:], self.port[peak:]
        top = there[0]
        ends = (float(there[-1]), float(here[-1]))
        falls = float(top - there[-1])
        if falls > CLOSE * self.scale and abs(ends[0] - ends[1]) > CLOSE * self.scale:
            made = top - (top - there) * (top - here[-1]) / falls
            if self._close(here, made).all():
                words = {"bench": ends[0], "port": ends[1]}
                return Explained(Cause.SCHEDULE_END, "end_value", "edit_end_value", *ends, words)
        return None

    def _length(self) -> Explained | None:
        apart = ~self._close(self.port, self.bench)
        stretch = self._stretch()
        if stretch is not None:
            words = {"factor": _neat(stretch)}
            return Explained(Cause.SCHEDULE_END, "end_length", "edit_end_length", 1.0, words["factor"], words)
        first = int(np.argmax(apart))
        if first < len(apart) // 2:
            return None
        rates = (float(self.bench[first]), float(self.port[first]))
        words = {"step": int(self.steps[first]), "bench": rates[0], "port": rates[1]}
        return Explained(Cause.SCHEDULE_END, "end_differs", "edit_end_differs", *rates, words, exact=False)

    def _stretch(self) -> float | None:
        """By how much longer the port's curve is, where it is the benchmark's but for that."""
        low = max(float(self.bench.min()), float(self.port.min()))
        middle = (self.scale + low) / 2
        times = []
        for array in (self.bench, self.port):
            peak = int(np.argmax(array))
            below = np.nonzero(array[peak:] <= middle)[0]
            if not len(below) or not below[0]:
                return None
            place = peak + int(below[0])
            # Where the curve crosses the middle, between two steps.
            after, before = array[place], array[place - 1]
            share = (before - middle) / (before - after) if before > after else 1.0
            times.append(self.steps[place - 1] + share * (self.steps[place] - self.steps[place - 1]))
        factor = float(times[1] / times[0]) if times[0] else 0.0
        if factor <= 0 or abs(factor - 1) < _HIGH:
            return None
        at = self.steps / factor
        inside = at <= self.steps[-1]
        made = np.interp(at[inside], self.steps, self.bench)
        fits = self._close(self.port[inside], made, _STRETCHED)
        return factor if fits.sum() >= max(_MIN_STEPS, _NEARLY_ALL * inside.sum()) else None

    def _other(self) -> Explained:
        first = int(np.argmax(~self._close(self.port, self.bench)))
        rates = (float(self.bench[first]), float(self.port[first]))
        words = {"step": int(self.steps[first]), "bench": rates[0], "port": rates[1]}
        return Explained(Cause.SCHEDULE, "schedule_other", "edit_schedule_other", *rates, words, exact=False)


def _plateau(rates: Doubles, peak: int) -> int:
    """The last of the steps that stay at the peak."""
    below = np.nonzero(rates[peak:] < rates[peak] * (1 - CLOSE))[0]
    return peak + int(below[0]) - 1 if len(below) else peak


def _rises(rates: Doubles) -> bool:
    return bool((np.diff(rates) >= 0).all())


def _neat(value: float) -> float:
    """Without what rounding has left at the end."""
    return float(f"{value:.5g}")
