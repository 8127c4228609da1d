"""The curve: a few steps of training of both sides on the same batches, against the noise band."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from trueline.adapters.guest.trouble import SideTrouble
from trueline.compare.curves import CurveComparison, Parting, compare_curves
from trueline.compare.floors import Floors
from trueline.compare.noise import epsilon
from trueline.compare.noise_floor import MARGINS, PROBE_ULPS, Tried, furthest, with_switches
from trueline.compare.verdict import Verdict
from trueline.kernel.array import Array
from trueline.model.curve import Curve
from trueline.model.message import Message, message
from trueline.model.noise import LossDrift, Noise
from trueline.model.report import Curves
from trueline.pair.blame import Blame, Cause, Stage, StageResult, StageVerdict
from trueline.pair.forward.training import refuses
from trueline.pair.loss.answers import taken_by_both
from trueline.pair.loss.cases import Labels
from trueline.pair.questions.parts import GiveBatches, Train
from trueline.pair.sides.parts import Parts
from trueline.pair.sides.side import Side

_BATCHES: Final = 4
# Losses this close need no measured noise to be called the same.
_CLOSE: Final = 1e-5
# A loss that has grown by this factor is that of a training which diverges.
_DIVERGED: Final = 1e4
# Another library's kernel is off by a few roundings, not one, and a maximum that switches is rare in a few tries.
_KERNELS: Final = 4
_FURTHER_TRIES: Final = 2
_MARGIN: Final = 3.0
# Roundings of a shorter float are measured by as many of the benchmark's, and extended from there.
_COARSE_ULPS: Final = 256


@dataclass(frozen=True, slots=True)
class Batches:
    """What both sides train on: inputs, and labels where there is a loss; these may be of another kind on each."""

    bench: Sequence[Sequence[Array]]
    port: Sequence[Sequence[Array]]
    labelled: bool


def curve_stage(
    bench: Side,
    port: Side,
    parts: Parts,
    inputs: Sequence[Array],
    *,
    steps: int = 8,
    tries: int = 3,
    seed: int = 0,
    explained: bool = False,
    coarser: float = 1.0,
) -> StageResult:
    """Train both for so many steps; ``inputs`` show what a batch looks like where the user gives none.

    ``explained``: other stages have found why the curves part, if they do. ``coarser`` is how many times longer the
    roundings are of the format that the port as a whole computes in.
    """
    if not inputs and not parts.both("batches"):
        return StageResult(Stage.CURVE, StageVerdict.SKIPPED, message("pair_update.curve_no_inputs"))
    for side in (bench, port):
        if not any(parameter.trainable for parameter in side.describe().parameters):
            text = message("pair_update.curve_no_parameters", side=str(side.entry))
            return StageResult(Stage.CURVE, StageVerdict.SKIPPED, text)
    try:
        return _compared(
            (bench, port), parts, inputs, steps=steps, tries=tries, seed=seed, explained=explained, coarser=coarser
        )
    except SideTrouble as trouble:
        if not refuses(trouble):
            raise
        return StageResult(Stage.CURVE, StageVerdict.SKIPPED, message("pair_stage.no_training", reason=trouble.message))


def _compared(
    sides: tuple[Side, Side],
    parts: Parts,
    inputs: Sequence[Array],
    *,
    steps: int,
    tries: int,
    seed: int,
    explained: bool,
    coarser: float,
) -> StageResult:
    bench, port = sides
    batches = _batches(bench, port, parts, inputs, steps, seed)
    training = Train(batches.bench, steps, batches.labelled, parts.both("optimizer"))
    there = bench.answer(training)
    here = port.answer(replace(training, batches=batches.port))
    wrong = next((step for step, loss in enumerate(there) if not math.isfinite(loss)), None)
    if wrong is not None:
        text = message("pair_update.curve_not_finite", step=wrong)
        return StageResult(Stage.CURVE, StageVerdict.SKIPPED, text)
    left = _before_diverging(there)
    if left < len(there) and _near(here[:left], there[:left]):
        text = message("pair_update.curve_diverges", step=left, first=there[0], loss=there[left])
        return StageResult(Stage.CURVE, StageVerdict.SKIPPED, text)
    # Noise is measured where it matters only: each try is a training of its own.
    if _near(here, there) or explained:
        return _result(compare_curves(_curve(port, here), _curve(bench, there), Floors(None)), steps)
    if coarser > 1:
        curves = compare_curves(_curve(port, here), _curve(bench, there), Floors(None))
        moved = _tried(bench, training, tries, _COARSE_ULPS)
        # Weights in that format are rounded before anything is computed.
        rounding = coarser * epsilon("float32")
        if _within(here, there, _extended(moved, there, coarser / _COARSE_ULPS), rounding):
            curves = replace(curves, verdict=Verdict.NOISE, parts=None)
        return _result(curves, steps)
    tried: dict[tuple[int, int], Sequence[float]] = {}
    for drawn in range(1, tries + 1):
        tried |= {(1, drawn): bench.answer(replace(training, perturbed=drawn))}
        if _within(here, there, tried):
            break
    else:
        tried |= {(PROBE_ULPS, tries + 1): bench.answer(replace(training, perturbed=tries + 1, ulps=PROBE_ULPS))}
    curves = compare_curves(_curve(port, here), _curve(bench, there), Floors(_noise(tried, there)))
    if curves.verdict is Verdict.DIFFERS and not _within(here, there, tried):
        tried |= _tried(bench, training, _FURTHER_TRIES * tries, _KERNELS)
    if curves.verdict is Verdict.DIFFERS and not _within(here, there, tried):
        # Code between layers rounds too, and may bring it further than any layer.
        again = {(1, -seed): replace(training, perturbed=seed, operators=True) for seed in range(1, tries + 1)}
        tried |= {key: bench.answer(rounded) for key, rounded in again.items()}
    if curves.verdict is Verdict.DIFFERS and _within(here, there, tried):
        # Such a training leaves its own line as far and as soon by its own roundings.
        curves = replace(curves, verdict=Verdict.NOISE, parts=None)
    return _result(curves, steps)


def _before_diverging(losses: Sequence[float]) -> int:
    """How many steps there are before the loss has grown so much that no step after says anything."""
    limit = _DIVERGED * max(abs(losses[0]), 1.0)
    return next((step for step, loss in enumerate(losses) if abs(loss) > limit), len(losses))


def _near(here: Sequence[float], there: Sequence[float]) -> bool:
    return all(abs(a - b) <= _CLOSE * max(abs(b), _CLOSE) for a, b in zip(here, there, strict=True))


def _tried(bench: Side, training: Train, tries: int, ulps: int = 1) -> dict[tuple[int, int], Sequence[float]]:
    """The benchmark's losses where every rounding could have gone the other way, by how far and a seed."""
    seeds = [(ulps, seed) for seed in range(1, tries + 1)] + [(PROBE_ULPS, tries + 1)]
    return {(far, seed): bench.answer(replace(training, perturbed=seed, ulps=far)) for far, seed in seeds}


def _extended(
    tried: Mapping[tuple[int, int], Sequence[float]], losses: Sequence[float], factor: float
) -> dict[tuple[int, int], Sequence[float]]:
    """Losses as many times further from the benchmark's as roundings are longer."""
    return {
        key: [loss + factor * (moved - loss) for loss, moved in zip(losses, again, strict=True)]
        for key, again in tried.items()
    }


def _noise(tried: Mapping[tuple[int, int], Sequence[float]], losses: Sequence[float]) -> Noise:
    def drifts(again: Sequence[float]) -> Tried:
        pairs = enumerate(zip(losses, again, strict=True))
        return Tried({}, {step: LossDrift(a, abs(b - a)) for step, (a, b) in pairs if math.isfinite(b)})

    near = [drifts(again) for (far, _), again in tried.items() if far != PROBE_ULPS]
    drifted = furthest(near)
    for probe in (drifts(again) for (far, _), again in tried.items() if far == PROBE_ULPS):
        drifted = with_switches(drifted, probe)
    return Noise(len(near), losses=drifted.losses, margins=MARGINS)


def _within(
    here: Sequence[float],
    there: Sequence[float],
    tried: Mapping[tuple[int, int], Sequence[float]],
    rounding: float = 0.0,
) -> bool:
    """Whether no loss is further away than the benchmark's own have been by that step, but for a margin."""
    near = [again for (far, _), again in tried.items() if far != PROBE_ULPS]
    furthest_yet = 0.0
    for step, (a, b) in enumerate(zip(here, there, strict=True)):
        furthest_yet = max(furthest_yet, *(abs(again[step] - b) for again in near if math.isfinite(again[step])))
        if not abs(a - b) <= _MARGIN * furthest_yet + rounding * abs(b):
            return False
    return True


def _curve(side: Side, losses: Sequence[float]) -> Curve:
    return Curve(str(side.entry), list(range(len(losses))), list(losses))


def _batches(bench: Side, port: Side, parts: Parts, inputs: Sequence[Array], steps: int, seed: int) -> Batches:
    labelled = parts.both("loss")
    if parts.both("batches"):
        given = bench.answer(GiveBatches("batches", steps, seed)).batches
        if not labelled and len(given[0]) > 1:
            given = [batch[:-1] for batch in given]
        return Batches(given, given, labelled)
    random = np.random.default_rng(seed)
    drawn = [[_like(array, random) for array in inputs] for _ in range(min(_BATCHES, steps))]
    if not labelled:
        return Batches(drawn, drawn, False)
    outputs = bench.forward(inputs)
    taken = taken_by_both(bench, port, outputs, None, seed)
    labels = [_labels(outputs[0], taken.layout.axis, random) for _ in drawn]
    return Batches(
        [[*one, label[taken.bench]] for one, label in zip(drawn, labels, strict=True)],
        [[*one, label[taken.port]] for one, label in zip(drawn, labels, strict=True)],
        True,
    )


def _like(array: Array, random: np.random.Generator) -> Array:
    """Other values of the same kind: whole numbers within the range of those given."""
    if array.dtype.kind == "f":
        spread = float(array.std()) or 1.0
        return random.normal(float(array.mean()), spread, array.shape).astype(array.dtype)
    return random.choice(array.reshape(-1), array.shape)


def _labels(outputs: Array, axis: int | None, random: np.random.Generator) -> dict[Labels, Array]:
    """Random labels for outputs whose classes lie at ``axis``: numbers of classes, and one value for each output."""
    if axis is None:
        dense = (random.random(outputs.shape) > 0.5).astype(np.float32)
        return {Labels.DENSE: dense, Labels.INDEX: dense.astype(np.int64)}
    classes = outputs.shape[axis]
    shape = tuple(side for place, side in enumerate(outputs.shape) if place != axis)
    index = random.integers(0, classes, shape)
    dense = np.moveaxis(np.eye(classes, dtype=np.float32)[index], -1, axis)
    return {Labels.DENSE: dense, Labels.INDEX: index}


def _result(curves: CurveComparison, steps: int) -> StageResult:
    parting = curves.parts
    mark = parting.step if parting is not None else None
    block = Curves(message("pair_update.curve_title"), [curves.b, curves.a], mark, curves.band)
    if curves.verdict is not Verdict.DIFFERS or parting is None:
        text = message("pair_update.curve_passed", steps=steps, level=curves.largest)
        out = message("pair_update.curve_rules_out")
        return StageResult(Stage.CURVE, StageVerdict.PASSED, text, rules_out=out, blocks=[block])
    words = {"step": parting.step, "port": parting.a, "bench": parting.b}
    text = message("pair_update.curve_found", band=parting.band, **words)
    scale = abs(parting.b) or 1.0
    blame = Blame(
        Stage.CURVE,
        Cause.UNKNOWN,
        _where(parting, words),
        bench=parting.b,
        port=parting.a,
        measured=abs(parting.a - parting.b) / scale,
        limit=parting.band / scale,
    )
    return StageResult(Stage.CURVE, StageVerdict.FOUND, text, [blame], blocks=[block])


def _where(parting: Parting, words: dict[str, Any]) -> Message:
    """What the step tells at which they part."""
    if parting.step == 0:
        return message("pair_update.curve_first", **words)
    return message("pair_update.curve_second" if parting.step == 1 else "pair_update.curve_later", **words)
