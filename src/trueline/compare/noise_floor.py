"""Runs of one network, repeated with other rounding, to the floors that its tensors and losses are judged by."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from trueline.compare.levels import levels
from trueline.compare.noise import epsilon
from trueline.formats.run_folder.noise import read_measured
from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.kernel import UnsupportedDtype, distance
from trueline.kernel.array import Array
from trueline.model.distance import Distance
from trueline.model.key import Key, Phase
from trueline.model.noise import Drift, LossDrift, Margins, Noise

# Taken from ``benchmarks/noise.py`` (float32, CPU: a residual network with SGD and Adam, a transformer; two seeds).
# Pairs that are equal but for rounding, torch against torch channels_last and against MindSpore, over what tries of one
# rounding unit showed: tensors up to 8 times, BatchNorm's running means (another algorithm, 10 units) 10 times; where
# an element had switched, up to 1.7 times what the stronger try showed, losses 1.1 times. Small faults lie outside of
# the floors with these margins: BatchNorm eps 1e-3 for 1e-5 270 times, a weight scaled by 1.001 200 times, GELU by
# tanh 40 to 120 times, LayerNorm eps 1e-7 for 1e-5 2.5 times.
MARGINS: Final = Margins(
    tensor=10.0, loss=10.0, switched=4.0, ulps=16.0, loss_ulps=32.0, least_rate=0.05, most_rate=0.2
)
# The stronger try: units in the last place by which it moves, which is also how much more often something switches.
PROBE_ULPS: Final = 1024
# What is smooth grows with the perturbation; what has grown this much more than that has switched.
_MORE_THAN_SMOOTH: Final = 8.0


@dataclass(frozen=True, slots=True)
class Tried:
    """How far one repeated run, or the furthest of several, lay from the first."""

    drifts: Mapping[tuple[Key, int], Drift] = field(default_factory=dict)
    losses: Mapping[int, LossDrift] = field(default_factory=dict)


def read_noise(run: Run) -> Noise | None:
    """The noise measured with a run, with the margins that verdicts need; None where none was measured."""
    found = read_measured(run.path)
    return replace(found, margins=MARGINS) if found is not None else None


def measure_try(first: RankFolder, again: RankFolder, steps: Iterable[int], losses: int) -> Tried:
    """Measure a repeated run: the tensors of these steps, and this many losses."""
    drifts: dict[tuple[Key, int], Drift] = {}
    for step in steps:
        here, there = again.tensors(step), first.tensors(step)
        drifts.update({(key, step): drift for key, drift in drifts_of(here, there).items()})
    return Tried(drifts, _spreads(first, again, losses))


def drifts_of(here: Mapping[Key, Array], there: Mapping[Key, Array]) -> dict[Key, Drift]:
    """How far the tensors of a step lie from those ``there``, measured as verdicts measure it."""
    drifts: dict[Key, Drift] = {}
    for phase in Phase:
        keys = [key for key in there if key in here and key.phase is phase]
        drifts.update(_drifts({key: _distance(here[key], there[key]) for key in keys}))
    return drifts


def furthest(tries: Sequence[Tried]) -> Tried:
    """The furthest of all tries; what one of them could not be measured by is not known."""
    drifts = dict(tries[0].drifts)
    losses = dict(tries[0].losses)
    for tried in tries[1:]:
        drifts = {at: drift.or_further(tried.drifts[at]) for at, drift in drifts.items() if at in tried.drifts}
        losses = {
            step: LossDrift(loss.value, max(loss.spread, tried.losses[step].spread))
            for step, loss in losses.items()
            if step in tried.losses
        }
    return Tried(drifts, losses)


def with_switches(tried: Tried, probe: Tried) -> Tried:
    """Add what a try of PROBE_ULPS shows: from the first tensor that has switched in it, everything later may have."""
    switched_in: int | None = None
    drifts = {}
    for (key, step), drift in tried.drifts.items():
        found = probe.drifts.get((key, step))
        if found is not None and found.level > _smooth(max(drift.level, drift.unit)) and drift.unit:
            switched_in = step if switched_in is None else switched_in
        seen = found is not None and switched_in is not None
        drifts[key, step] = replace(drift, switched=found.level) if found is not None and seen else drift
    losses = {}
    for step, loss in sorted(tried.losses.items()):
        further = probe.losses.get(step)
        if further is not None and further.spread > _smooth(max(loss.spread, abs(loss.value) * epsilon("float32"))):
            switched_in = step - 1 if switched_in is None else switched_in
        seen = further is not None and switched_in is not None and step > switched_in
        losses[step] = replace(loss, switched=further.spread) if further is not None and seen else loss
    return Tried(drifts, losses)


def _smooth(level: float) -> float:
    return _MORE_THAN_SMOOTH * PROBE_ULPS * level


def _distance(here: Array, there: Array) -> Distance | None:
    try:
        found = distance(here, there)
    except UnsupportedDtype:
        return None
    return found if found.comparable and not found.other_non_finite else None


def _drifts(distances: Mapping[Key, Distance | None]) -> dict[Key, Drift]:
    measured = {key: one for key, one in distances.items() if one is not None}
    return {
        key: Drift(level, measured[key].relative_max, measured[key].relative_l2, epsilon(measured[key].dtype_b))
        for key, level in levels(measured.items()).items()
        if math.isfinite(level)
    }


def _spreads(first: RankFolder, again: RankFolder, count: int) -> dict[int, LossDrift]:
    curve, other = first.curve("loss"), again.curve("loss")
    at = dict(zip(other.steps, other.values, strict=True))
    return {
        step: LossDrift(value, abs(at[step] - value))
        for step, value in zip(curve.steps, curve.values, strict=True)
        if step < count and step in at and math.isfinite(value) and math.isfinite(at[step])
    }
