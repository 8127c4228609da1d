"""What a run shows of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Final

from trueline.apitable.functions import functions_of
from trueline.apitable.traits import Trait
from trueline.checks.engine.check import check, found, none, undecided
from trueline.checks.evidence.looks import TRAIN, looked, trained_rank, where
from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.model.events import CriterionEvent, Prediction, Shapes
from trueline.model.finding import Finding
from trueline.model.json_value import Json
from trueline.model.location import Location

_BY_DIFFERENCE: Final = functions_of(Trait.BY_DIFFERENCE)
MIN_ROWS: Final = 3  # fewer may sum to 1 by chance
MIN_LOGS_APART: Final = 0.05  # of a sum of exponentials from 1: rounding of log-softmax stays far below
MAX_APART_HALF: Final = 5e-3  # relative difference of a loss in 16 bits from the one in 64


@dataclass(frozen=True, slots=True)
class _Call:
    """A call of a loss function whose shapes are known."""

    event: CriterionEvent
    shapes: Shapes


@dataclass(frozen=True, slots=True)
class _Fault:
    """What is wrong with a call: the sentence, what was measured, and the limit."""

    said: str
    measured: Json = None
    limit: Json = None


@check("cg.04", "the loss function is wrong")
def from_run(run: Run, *, max_apart: float = 1e-5, max_sum_apart: float = 1e-3) -> Iterator[Finding]:
    """Every loss function that was seen, once for each line that calls it."""
    rank = trained_rank(run)
    criteria = [] if rank is None else list(_calls(rank))
    if not criteria:
        yield undecided("cg_04.no_loss" if rank is None else "cg_04.own_loss")
        return
    reported: set[tuple[str, Location | None]] = set()
    checked: dict[str, float] = {}
    for call in criteria:
        event = call.event
        for fault in _faults(call, max_apart, max_sum_apart):
            if (fault.said, event.line) in reported:
                continue
            reported.add((fault.said, event.line))
            # Targets out of range are the dataset's fault where only some are.
            root = "ds.02" if fault.said == "cg_04.target_range" else None
            yield found(
                fault.said,
                where(event),
                measured=fault.measured,
                limit=fault.limit,
                because=root,
                evidence=[event.to_json()],
                function=event.function,
                step=event.step,
                prediction=str(tuple(call.shapes.prediction)),
                target=str(tuple(call.shapes.target)),
            )
        apart = _apart(event)
        if apart is not None:
            checked[event.function] = max(checked.get(event.function, 0.0), apart)
    if reported:
        return
    evidence: list[Json] = [{"function": name, "apart": apart} for name, apart in checked.items()]
    if checked:
        names = ", ".join(sorted(checked))
        yield none("cg_04.recomputed", evidence=evidence, measured=max(checked.values()), limit=max_apart, names=names)
    else:
        # Shapes and kinds fit many a loss: its value was not computed again.
        yield undecided("cg_04.fits", evidence=[criteria[0].event.to_json()], names=criteria[0].event.function)


def _calls(rank: RankFolder) -> Iterator[_Call]:
    for event in looked(rank, CriterionEvent, TRAIN):
        if event.shapes is not None:
            yield _Call(event, event.shapes)


def _faults(call: _Call, max_apart: float, max_sum_apart: float) -> Iterator[_Fault]:
    """What is wrong with one call; NaN is neither above nor below any limit."""
    event, shapes = call.event, call.shapes
    name, made_by, prediction, target = event.function, event.made_by, event.prediction, event.target
    if name == "cross_entropy":
        sums = prediction.sums_apart if prediction is not None else None
        if made_by == "Softmax" or _sums_to_one(prediction, max_sum_apart):
            yield _Fault("cg_04.softmax_twice", sums, max_sum_apart)
        elif made_by == "Sigmoid":
            yield _Fault("cg_04.sigmoid_before")
    elif name == "nll_loss":
        logs = prediction.logs_apart if prediction is not None else None
        if logs is not None and logs > max(max_sum_apart, MIN_LOGS_APART):
            yield _Fault("cg_04.not_logarithms", logs, max_sum_apart)
    elif name == "binary_cross_entropy_with_logits" and made_by in ("Sigmoid", "Softmax"):
        yield _Fault("cg_04.sigmoid_twice", prediction.maximum if prediction is not None else 2.0, 1.0)
    if name.startswith("binary") and target is not None and (target.minimum < 0 or target.maximum > 1):
        yield _Fault("cg_04.target_range", [target.minimum, target.maximum], [0, 1])
    if name in _BY_DIFFERENCE and _stretched(shapes.prediction, shapes.target):
        yield _Fault("cg_04.stretched", shapes.prediction, shapes.target)
    apart = _apart(event)
    if apart is not None and prediction is not None and prediction.finite:
        limit = MAX_APART_HALF if "16" in event.dtypes["prediction"] else max_apart
        if apart > limit:
            yield _Fault("cg_04.another_value", apart, limit)


def _sums_to_one(prediction: Prediction | None, max_sum_apart: float) -> bool:
    if prediction is None or prediction.sums_apart is None:
        return False
    few = prediction.rows is None or prediction.rows < MIN_ROWS
    return prediction.minimum >= 0 and prediction.sums_apart < max_sum_apart and not few


def _stretched(prediction: Sequence[int], target: Sequence[int]) -> bool:
    """Whether both are repeated to fit each other; one value, or one row for all, may be meant."""
    longest = max(len(prediction), len(target))
    here, there = ([1] * (longest - len(shape)) + [*shape] for shape in (prediction, target))
    return prod(max(a, b) for a, b in zip(here, there, strict=True)) > max(prod(prediction), prod(target))


def _apart(event: CriterionEvent) -> float | None:
    """How far the loss is from what NumPy gives, relative to it; None where it was not computed again."""
    if event.recomputed is None:
        return None
    return abs(event.value - event.recomputed) / max(abs(event.recomputed), 1.0)
