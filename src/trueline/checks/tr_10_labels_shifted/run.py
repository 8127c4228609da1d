"""What a run shows of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trueline.apitable.functions import functions_of, stems_of
from trueline.apitable.traits import Trait
from trueline.checks.engine.check import check, found, na, none, undecided
from trueline.checks.evidence.criteria import judged_otherwise
from trueline.checks.evidence.looks import EVAL, TRAIN, looked, trained_rank, where
from trueline.checks.tr_10_labels_shifted.label_values import label_values
from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.model.finding import Certainty, Finding
from trueline.model.run import EventName

_CLASSES = functions_of(Trait.CLASS_LOSS)
_RECURRENT = stems_of(Trait.RECURRENT, Trait.ATTENTION)


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
        yield found("tr_10.copied", where(copied), certainty=Certainty.LIKELY, evidence=[copied["of_target"]])
        return
    first = criteria[0]
    classes = int(first["of_prediction"].get("classes", 0))
    low = min(one["of_target"]["min"] for one in criteria)
    high = max(one["of_target"]["max"] for one in criteria)
    params: dict[str, Any] = {"low": int(low), "high": int(high), "classes": classes}
    evidence: list[Any] = [params]
    if high == classes and low >= 1:
        yield found(
            "tr_10.from_one", where(first), measured=[low, high], limit=[0, classes - 1], evidence=evidence, **params
        )
        return
    values = _labels(rank, low, high)
    if values is None or len(first["shapes"]["prediction"]) != 2:
        # Of tokens, or labels that were not kept one by one, their range says little.
        yield undecided("tr_10.in_range", evidence=evidence, **params)
        return
    seen = set(values)
    unused = set(range(classes)) - seen
    enough = len(values) >= min_per_class * classes and classes > 2
    ignored = first["settings"].get("ignore_index", -100) in seen | {0}
    if unused == {0} and enough and not ignored:
        yield found(
            "tr_10.no_zero", where(first), certainty=Certainty.LIKELY, measured=len(values), evidence=evidence, **params
        )
        return
    other = _evaluated(rank, seen)
    if other is not None and enough:
        by = min(other) - min(seen)
        yield found("tr_10.unlike_training", where(first), measured=by, evidence=[sorted(seen), sorted(other)], by=by)
        return
    # Labels that reach from the first output to the last cannot be shifted.
    reaching = low == 0 and high == classes - 1
    yield (none if reaching else undecided)("tr_10.in_range", evidence=evidence, **params)


def _criteria(rank: RankFolder) -> Iterator[dict[str, Any]]:
    for one in looked(rank, EventName.CRITERION, TRAIN):
        if one["function"] in _CLASSES and one.get("of_target", {}).get("whole") and one.get("of_prediction"):
            yield one


def _labels(rank: RankFolder, low: float, high: float) -> list[int] | None:
    """The only field of the training batches that can be the labels."""
    fields = [one for one in label_values(rank, TRAIN).values() if min(one) <= low and max(one) >= high]
    return fields[0] if len(fields) == 1 else None


def _evaluated(rank: RankFolder, seen: set[int]) -> set[int] | None:
    """The labels of the evaluation where they are those of the training, all moved by one."""
    for values in label_values(rank, EVAL).values():
        other = set(values)
        for by in (-1, 1):
            if len(other) > 2 and other == {one + by for one in seen}:
                return other
    return None


def _copied(rank: RankFolder, criteria: list[dict[str, Any]]) -> dict[str, Any] | None:
    """A loss over a sequence whose targets are what the network was given."""
    kinds = {one.type for one in rank.modules}
    if not any("Embedding" in one for one in kinds) or not any(word in one for one in kinds for word in _RECURRENT):
        return None
    given: dict[int, set[str]] = {}
    for event in rank.events(EventName.INPUT, phase=TRAIN):
        if "Embedding" not in event["kind"]:
            continue
        marks = {str(one["summary"]["fingerprint"]) for one in event["fields"] if len(one["shape"]) > 1}
        given.setdefault(event["step"], set()).update(marks)
    alike = [one for one in criteria if one["of_target"]["fingerprint"] in given.get(one["step"], set())]
    return alike[0] if alike and len(alike) >= min(len(criteria), 2) else None
