"""What a run shows of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from trueline.apitable.functions import functions_of, stems_of
from trueline.apitable.traits import Trait
from trueline.checks.engine.check import Params, check, found, na, none, undecided
from trueline.checks.evidence.criteria import judged_otherwise
from trueline.checks.evidence.looks import EVAL, TRAIN, looked, trained_rank, where
from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.model.events import BatchEvent, CriterionEvent, InputEvent, Prediction, Target
from trueline.model.finding import Certainty, Finding
from trueline.model.json_value import Json

_CLASSES = functions_of(Trait.CLASS_LOSS)
_RECURRENT = stems_of(Trait.RECURRENT, Trait.ATTENTION)
MAX_BATCHES = 400  # enough for the labels of a few hundred classes


@dataclass(frozen=True, slots=True)
class _Criterion:
    """A call of a loss over classes, of whose arguments enough is known."""

    event: CriterionEvent
    prediction: Prediction
    target: Target


@check("tr.10", "labels are shifted by one")
def from_run(run: Run, *, min_per_class: int = 10) -> Iterator[Finding]:
    """The labels that a loss over classes was given."""
    rank = trained_rank(run)
    criteria = [] if rank is None else list(_criteria(rank))
    if rank is None or not criteria:
        # Losses were seen, and none of them knows classes.
        otherwise = rank is not None and judged_otherwise(run)
        yield (na if otherwise else undecided)("tr_10.no_classes")
        return
    copied = _copied(rank, criteria)
    if copied is not None:
        yield found(
            "tr_10.copied",
            where(copied.event),
            certainty=Certainty.LIKELY,
            evidence=[copied.event.to_json()["of_target"]],
        )
        return
    first = criteria[0]
    place = where(first.event)
    classes = first.prediction.classes or 0
    low = min(criterion.target.minimum for criterion in criteria)
    high = max(criterion.target.maximum for criterion in criteria)
    params: Params = {"low": int(low), "high": int(high), "classes": classes}
    evidence: list[Json] = [params]
    if high == classes and low >= 1:
        yield found(
            "tr_10.from_one",
            place,
            measured=[low, high],
            limit=[0, classes - 1],
            evidence=evidence,
            **params,
        )
        return
    values = _labels(rank, low, high)
    if values is None or first.event.shapes is None or len(first.event.shapes.prediction) != 2:
        # Of tokens, or labels that were not kept one by one, their range says little.
        yield undecided("tr_10.in_range", evidence=evidence, **params)
        return
    seen = set(values)
    unused = set(range(classes)) - seen
    enough = len(values) >= min_per_class * classes and classes > 2
    ignored = first.event.settings.get("ignore_index", -100) in {*seen, 0}
    if unused == {0} and enough and not ignored:
        yield found(
            "tr_10.no_zero",
            place,
            certainty=Certainty.LIKELY,
            measured=len(values),
            evidence=evidence,
            **params,
        )
        return
    evaluated = _evaluated(rank, seen)
    if evaluated is not None and enough:
        by = min(evaluated) - min(seen)
        yield found("tr_10.unlike_training", place, measured=by, evidence=[sorted(seen), sorted(evaluated)], by=by)
        return
    # Labels that reach from the first output to the last cannot be shifted.
    reaching = low == 0 and high == classes - 1
    yield (none if reaching else undecided)("tr_10.in_range", evidence=evidence, **params)


def _criteria(rank: RankFolder) -> Iterator[_Criterion]:
    for event in looked(rank, CriterionEvent, TRAIN):
        target, prediction = event.target, event.prediction
        if event.function in _CLASSES and target is not None and target.whole and prediction is not None:
            yield _Criterion(event, prediction, target)


def _label_values(rank: RankFolder, phase: str) -> dict[str, list[int]]:
    """The whole numbers of each field that has one number per sample, in order."""
    labels: dict[str, list[int]] = {}
    for place, event in enumerate(rank.events(BatchEvent, phase=phase)):
        if place >= MAX_BATCHES:
            break
        for field in event.batch().fields:
            if field.shape in ((), (1,)) and field.dtype.startswith(("int", "uint")):
                labels.setdefault(field.name, []).extend(int(label) for label in field.mean)
    return labels


def _labels(rank: RankFolder, low: float, high: float) -> list[int] | None:
    """The only field of the training batches that can be the labels."""
    fields = [values for values in _label_values(rank, TRAIN).values() if min(values) <= low and max(values) >= high]
    return fields[0] if len(fields) == 1 else None


def _evaluated(rank: RankFolder, seen: set[int]) -> set[int] | None:
    """The labels of the evaluation where they are those of the training, all moved by one."""
    for values in _label_values(rank, EVAL).values():
        labels = set(values)
        for by in (-1, 1):
            if len(labels) > 2 and labels == {label + by for label in seen}:
                return labels
    return None


def _copied(rank: RankFolder, criteria: list[_Criterion]) -> _Criterion | None:
    """A loss over a sequence whose targets are what the network was given."""
    kinds = {module.type for module in rank.modules}
    if not any("Embedding" in kind for kind in kinds) or not any(word in kind for kind in kinds for word in _RECURRENT):
        return None
    given: dict[int, set[str]] = {}
    for event in rank.events(InputEvent, phase=TRAIN):
        if event.kind is None or "Embedding" not in event.kind:
            continue
        marks = {f"{field.summary.fingerprint:016x}" for field in event.fields if len(field.shape) > 1}
        given.setdefault(event.step, set()).update(marks)
    alike = [
        criterion for criterion in criteria if criterion.target.fingerprint in given.get(criterion.event.step, set())
    ]
    return alike[0] if alike and len(alike) >= min(len(criteria), 2) else None
