"""The update stage: the same gradients into both optimizers, several steps, so that their faults stand alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from trueline.kernel.array import Array
from trueline.model.json_value import Json
from trueline.model.location import Location
from trueline.model.message import message
from trueline.pair.aligning.aligned import Aligned
from trueline.pair.aligning.param_pair import ParamPair
from trueline.pair.blame import Blame, Stage, StageResult, StageVerdict
from trueline.pair.questions.parts import Optimize
from trueline.pair.sides.parts import Parts, skipped
from trueline.pair.sides.side import Side
from trueline.pair.update.blames import (
    Compared,
    difference_blames,
    membership_blames,
    rate_blames,
    unexplained_blame,
)
from trueline.pair.update.causes import differences, nearest
from trueline.pair.update.fit import LIMIT, Fit, Trial, fits
from trueline.pair.update.trial import MOST, make_trial

# Optimizers of this package change their weights by operators that do nothing on the CPU in some versions.
_MAY_NOT_MOVE: Final = "mindspore.mint."


@dataclass(frozen=True, slots=True)
class Optimized:
    """One side's optimizer: its class, the settings of each parameter (None: not in it), and the steps it made."""

    kind: str
    settings: Sequence[Mapping[str, Json] | None]
    trainable: Sequence[bool]
    scheduled: bool
    followed: bool
    line: Location | None
    seen: Array

    @property
    def name(self) -> str:
        """The class without its package."""
        return self.kind.rpartition(".")[2]


def update_stage(bench: Side, port: Side, aligned: Aligned, parts: Parts, *, seed: int = 0) -> StageResult:
    """Give both optimizers the same weights and gradients, and compare what they make of them."""
    if not parts.both("optimizer"):
        return skipped(Stage.UPDATE, parts, "optimizer")
    pairs = [pair for pair in aligned.pairs if _is_weight(pair)]
    if not pairs:
        return StageResult(Stage.UPDATE, StageVerdict.SKIPPED, message("pair_update.no_pairs"))
    counts = [min(MOST, math.prod(pair.bench.shape), math.prod(pair.port.shape)) for pair in pairs]
    trial = make_trial(counts, [_coarser(pair) for pair in pairs], seed)
    there, here = (
        _optimized(side, Optimize(names, counts, trial.rates, trial.weights, trial.gradients))
        for side, names in ((bench, [pair.bench.name for pair in pairs]), (port, [pair.port.name for pair in pairs]))
    )
    lines = (here.line or parts.port_lines.get("optimizer"), there.line or parts.bench_lines.get("optimizer"))
    compared = Compared(aligned, pairs, there.name, here.name, *lines)
    if here.kind.startswith(_MAY_NOT_MOVE) and (here.seen == trial.weights).all():
        text = message("pair_update.moves_nothing", optimizer=here.kind)
        return StageResult(Stage.UPDATE, StageVerdict.SKIPPED, text)
    blames = list(membership_blames(compared, _in(there), _in(here)))
    if not (there.scheduled or here.scheduled):
        blames += rate_blames(compared, _rates(there), _rates(here))
    both = [place for place in range(len(pairs)) if _in(there)[place] and _in(here)[place]]
    gaps = {place: _gap(trial, here.seen, there.seen, place) for place in both}
    if any(gap > LIMIT for gap in gaps.values()):
        blames += _step_blames(compared, trial, there, here, gaps)
    level = max(gaps.values(), default=0.0)
    return _result(blames, level, there, here, len(both), len(trial.rates))


def _gap(trial: Trial, here: Array, there: Array, place: int) -> float:
    part = trial.part(place)
    return float(trial.gaps(here[:, part], there[:, part], place).max(initial=0.0))


def _step_blames(
    compared: Compared, trial: Trial, there: Optimized, here: Optimized, gaps: Mapping[int, float]
) -> list[Blame]:
    used = [setting if place in gaps else None for place, setting in enumerate(there.settings)]
    own = [setting if place in gaps else None for place, setting in enumerate(here.settings)]
    bench = fits(trial, there.seen, there.name, used) if there.followed else []
    known = [form for fit in bench for form in fit.forms if form is not None]
    port = fits(trial, here.seen, here.name, own, known[:1]) if here.followed else []
    chosen = nearest(bench, port)
    if chosen is None:
        return [unexplained_blame(compared, gaps, here.name == there.name)]
    found = differences(trial, there.seen, *chosen)
    return list(difference_blames(compared, found, _decayed(chosen[0]), _decayed(chosen[1])))


def _decayed(fit: Fit) -> list[bool | None]:
    """Which parameters decay; None for one that is not updated."""
    return [None if form is None else bool(form.weight_decay) for form in fit.forms]


def _optimized(side: Side, question: Optimize) -> Optimized:
    answer = side.answer(question)
    about = answer.about
    return Optimized(
        about.type,
        [None if group is None else about.groups[group] for group in about.group_of],
        about.trainable,
        about.scheduled,
        answer.followed,
        about.line,
        answer.weights,
    )


def _in(optimizer: Optimized) -> list[bool | None]:
    """Whether each parameter is updated; None for one that is frozen, which the stage of parameters speaks of."""
    return [
        settings is not None if free else None
        for settings, free in zip(optimizer.settings, optimizer.trainable, strict=True)
    ]


def _rates(optimizer: Optimized) -> list[float | None]:
    rates = [None if settings is None else settings.get("lr") for settings in optimizer.settings]
    return [rate if isinstance(rate, int | float) else None for rate in rates]


def _is_weight(pair: ParamPair) -> bool:
    both = (pair.bench, pair.port)
    return all(
        "float" in parameter.dtype
        and not parameter.buffer
        and parameter.shared_with is None
        and parameter.shape != (0,)
        for parameter in both
    )


def _coarser(pair: ParamPair) -> str:
    found = {pair.bench.dtype, pair.port.dtype}
    return next((one for one in ("bfloat16", "float16") if one in found), "float32")


def _result(
    blames: Sequence[Blame], level: float, there: Optimized, here: Optimized, count: int, steps: int
) -> StageResult:
    names = {"bench": there.name, "port": here.name, "count": count, "steps": steps}
    if not blames:
        text = message("pair_update.passed", level=level, **names)
        out = message("pair_update.rules_out")
        return StageResult(Stage.UPDATE, StageVerdict.PASSED, text, rules_out=out)
    name = "found" if level > LIMIT else "found_otherwise"
    text = message(f"pair_update.{name}", level=level, **names)
    verdict = StageVerdict.PASSED if all(blame.latent for blame in blames) else StageVerdict.FOUND
    return StageResult(Stage.UPDATE, verdict, text, blames)
