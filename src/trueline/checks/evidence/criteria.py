"""What training is judged by: losses that are modules, and those that are functions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from trueline.apitable.functions import functions_of
from trueline.apitable.traits import Trait
from trueline.checks.evidence.inputs import CLASSIFYING, Entered, is_whole, losses, module_at, place_of
from trueline.checks.evidence.labels import field_of
from trueline.checks.evidence.looks import where
from trueline.checks.evidence.streams import Stream
from trueline.formats.run_folder.reader import Run
from trueline.model.events import CriterionEvent
from trueline.model.json_value import JsonObject
from trueline.model.location import Location
from trueline.model.sample import Ends

IGNORED: Final = -100
_FUNCTIONS: Final = functions_of(Trait.CLASS_WEIGHTS)
_WEIGHTS: Final = ("weight", "pos_weight")


@dataclass(frozen=True, slots=True)
class Criterion:
    """A loss over classes, as it was called in the first step.

    ``classes`` is how many scores each sample has, ``ignored`` the label that it leaves out; one that is ``weighted``
    counts some classes more than others, or leaves it to the script to do so.
    """

    kind: str
    where: Location
    classes: int | None
    ignored: float
    weighted: bool
    reduced: bool
    low: float | None = None
    high: float | None = None
    labels: Sequence[int] = ()
    zeros: int | None = None
    ends: Ends | None = None


def criteria(run: Run) -> list[Criterion]:
    """The losses over classes of training."""
    if not run.ranks:
        return []
    modules = [_of_module(run, loss) for loss in losses(run) if loss.kind in CLASSIFYING and len(loss.fields) > 1]
    return modules or _of_functions(run)


def judged_otherwise(run: Run) -> bool:
    """Whether training is judged by losses that know no classes."""
    kinds = {loss.kind for loss in losses(run)}
    if kinds:
        return not kinds & CLASSIFYING
    functions = {event.function for event in run.rank(run.ranks[0]).events(CriterionEvent, phase="train")}
    return bool(functions) and not functions & _FUNCTIONS


def _of_module(run: Run, loss: Entered) -> Criterion:
    module = module_at(run, loss.module)
    given: JsonObject = {**module.attributes, **(module.arguments or {})} if module is not None else {}
    scores, labels = loss.fields[0], loss.fields[1]
    weighted = any(given.get(name) is not None for name in (*_WEIGHTS, "alpha")) or "Focal" in loss.kind
    reduced = given.get("reduction", "mean") != "none"
    return Criterion(
        loss.kind,
        place_of(run, loss.module, step=loss.step),
        None if loss.kind.startswith("BCE") else _classes(scores.shape),
        _ignored(given),
        weighted or not reduced,
        reduced,
        labels.summary.minimum,
        labels.summary.maximum,
        labels.shape if is_whole(labels) else (),
        labels.summary.zeros if is_whole(labels) else None,
        labels.ends,
    )


def _of_functions(run: Run) -> list[Criterion]:
    criteria = []
    for event in run.rank(run.ranks[0]).events(CriterionEvent, phase="train"):
        name, settings, target = event.function, event.settings, event.target
        if name not in _FUNCTIONS or event.shapes is None:
            continue
        # What is a tensor is left out of an event's settings: weights that are not there are given.
        wanted = _WEIGHTS if name.endswith("with_logits") else _WEIGHTS[:1]
        reduced = settings.get("reduction", "mean") != "none"
        whole = target is not None and target.whole
        criteria.append(
            Criterion(
                name,
                where(event),
                None if name.startswith("binary") else _classes(event.shapes.prediction),
                _ignored(settings),
                not reduced or any(weight not in settings for weight in wanted),
                reduced,
                target.minimum if target is not None else None,
                target.maximum if target is not None else None,
                tuple(event.shapes.target) if whole else (),
                target.zeros if target is not None and whole else None,
            )
        )
    return criteria


def _classes(scores: Sequence[int]) -> int | None:
    return scores[1] if len(scores) == 2 and scores[1] > 1 else None


def _ignored(given: JsonObject) -> float:
    index = given.get("ignore_index")
    return float(index) if isinstance(index, int) and not isinstance(index, bool) else IGNORED


def judging(run: Run, stream: Stream, name: str) -> Criterion | None:
    """The loss that a field of a loader's batches is the target of: its range in the first batch is the target's."""
    field = field_of(stream.batches[0].batch, name) if stream.batches else None
    if field is None or not len(field.minimum):
        return None
    bounds = min(field.minimum), max(field.maximum)
    return next((criterion for criterion in criteria(run) if (criterion.low, criterion.high) == bounds), None)


def count_of(criterion: Criterion) -> int:
    """How many labels it was given."""
    return math.prod(criterion.labels) if criterion.labels else 0
