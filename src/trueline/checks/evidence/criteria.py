"""What training is judged by: losses that are modules, and those that are functions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from trueline.apitable.functions import functions_of
from trueline.apitable.traits import Trait
from trueline.checks.evidence.entered import CLASSIFYING, Entered, losses, module_at, place_of
from trueline.checks.evidence.feeding import Stream
from trueline.checks.evidence.labels import field_of
from trueline.checks.evidence.looks import where
from trueline.formats.run_folder.reader import Run
from trueline.model.location import Location
from trueline.model.run import EventName
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
    modules = [_of_module(run, one) for one in losses(run) if one.kind in CLASSIFYING and len(one.fields) > 1]
    return modules or _of_functions(run)


def judged_otherwise(run: Run) -> bool:
    """Whether training is judged by losses that know no classes."""
    kinds = {one.kind for one in losses(run)}
    if kinds:
        return not kinds & CLASSIFYING
    functions = {str(one.get("function")) for one in run.rank(run.ranks[0]).events(EventName.CRITERION, phase="train")}
    return bool(functions) and not functions & _FUNCTIONS


def _of_module(run: Run, one: Entered) -> Criterion:
    module = module_at(run, one.module)
    given: dict[str, Any] = {**module.attributes, **(module.arguments or {})} if module is not None else {}
    scores, labels = one.fields[0], one.fields[1]
    weighted = any(given.get(name) is not None for name in (*_WEIGHTS, "alpha")) or "Focal" in one.kind
    reduced = given.get("reduction", "mean") != "none"
    return Criterion(
        one.kind,
        place_of(run, one.module, step=one.step),
        None if one.kind.startswith("BCE") else _classes(scores.shape),
        _ignored(given),
        weighted or not reduced,
        reduced,
        labels.summary.minimum,
        labels.summary.maximum,
        labels.shape if labels.whole else (),
        labels.summary.zeros if labels.whole else None,
        labels.ends,
    )


def _of_functions(run: Run) -> list[Criterion]:
    found = []
    for event in run.rank(run.ranks[0]).events(EventName.CRITERION, phase="train"):
        name, settings, shapes = event.get("function"), event.get("settings"), event.get("shapes")
        if name not in _FUNCTIONS or not isinstance(settings, Mapping) or not isinstance(shapes, Mapping):
            continue
        # What is a tensor is left out of an event's settings: weights that are not there are given.
        wanted = _WEIGHTS if name.endswith("with_logits") else _WEIGHTS[:1]
        reduced = settings.get("reduction", "mean") != "none"
        target: Mapping[str, Any] = event.get("of_target") or {}
        scores, labels = (tuple(int(side) for side in shapes.get(one) or ()) for one in ("prediction", "target"))
        whole = bool(target.get("whole"))
        found.append(
            Criterion(
                str(name),
                where(event),
                None if name.startswith("binary") else _classes(scores),
                _ignored(settings),
                not reduced or any(one not in settings for one in wanted),
                reduced,
                target.get("min"),
                target.get("max"),
                labels if whole else (),
                target.get("zeros") if whole else None,
            )
        )
    return found


def _classes(scores: Sequence[int]) -> int | None:
    return scores[1] if len(scores) == 2 and scores[1] > 1 else None


def _ignored(given: Mapping[str, Any]) -> float:
    found = given.get("ignore_index")
    return float(found) if isinstance(found, int) and not isinstance(found, bool) else IGNORED


def judging(run: Run, stream: Stream, name: str) -> Criterion | None:
    """The loss that a field of a loader's batches is the target of: its range in the first batch is the target's."""
    field = field_of(stream.batches[0].batch, name) if stream.batches else None
    if field is None or not len(field.minimum):
        return None
    bounds = min(field.minimum), max(field.maximum)
    return next((one for one in criteria(run) if (one.low, one.high) == bounds), None)


def count_of(one: Criterion) -> int:
    """How many labels it was given."""
    return math.prod(one.labels) if one.labels else 0
