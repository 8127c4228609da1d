"""Values that no training wants: not finite, wrapped around, in a range that is a hundred times off, no class."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trueline.data.pipeline.answers import Number
from trueline.data.pipeline.evidence import Change, Evidence, Field, Operator
from trueline.data.pipeline.judging.fault import fault, listed
from trueline.model.finding import Certainty, Conclusion, Finding
from trueline.model.message import message

# The guide's limits for a batch.
_MEAN: Final = 3.0
_STD: Final = 10.0
_TINY: Final = 0.02
_IGNORED: Final = -100
_LEVELS: Final = (200.0, 320.0)
_OF_VALUES: Final = ("wrapped", "scaled_again", "normalised_unscaled", "normalised_scaled", "layout")


def values(evidence: Evidence) -> Iterator[Finding]:
    """All of them."""
    yield from _nonfinite(evidence)
    ranges = [*_changes(evidence), *_apart(evidence)]
    yield from ranges or _range(evidence)
    yield from _labels(evidence)


def _nonfinite(evidence: Evidence) -> Iterator[Finding]:
    for field in evidence.sample:
        if not field.nonfinite:
            continue
        kind, some = next(iter(field.nonfinite.items()))
        sample = some.first[0]
        operator = _first_with(evidence, sample)
        name = operator.name if operator is not None else evidence.kind
        text = message(
            "data_debug.nonfinite", field=field.name, value=kind, operator=name, count=some.count, sample=sample
        )
        yield fault("nonfinite", text, operator=operator, samples=some.first)
        return


def _first_with(evidence: Evidence, sample: int) -> Operator | None:
    """The first operator whose output of a sample is not finite."""
    for operator in evidence.operators:
        if operator.kind == "group":
            continue
        for field in operator.fields:
            if any(sample in some.first for some in field.nonfinite.values()):
                return operator
    return None


def _changes(evidence: Evidence) -> Iterator[Finding]:
    kinds: set[str] = set()
    for operator in evidence.operators:
        if operator.kind == "group":
            continue
        for change in operator.changes:
            if change.kind not in kinds and change.kind in _OF_VALUES:
                kinds.add(change.kind)
                yield _changed(operator, change)


def _changed(operator: Operator, change: Change) -> Finding:
    numbers = change.numbers
    samples = [change.sample]
    if change.kind == "wrapped":
        text = message("data_debug.wrapped", operator=operator.name, sample=change.sample)
        advice = message("data_debug.advice_wrapped")
        return fault("wrapped", text, operator=operator, samples=samples, advice=advice)
    if change.kind == "layout":
        text = message("data_debug.layout", operator=operator.name, given=numbers["given"], made=numbers["made"])
        return fault("layout", text, operator=operator, samples=samples, advice=message("data_debug.advice_layout"))
    shown = {"operator": operator.name, "low": numbers["low"], "high": numbers["high"]}
    if change.kind == "scaled_again":
        text = message("data_debug.scaled_again", **shown)
    else:
        by = {"mean": _short(numbers["mean"]), "std": _short(numbers["std"])}
        text = message("data_debug.normalised_otherwise", **shown, **by)
    return fault("range", text, operator=operator, samples=samples, advice=message("data_debug.advice_range"))


def _apart(evidence: Evidence) -> Iterator[Finding]:
    """A few samples whose values are of another order of magnitude."""
    for field in evidence.sample:
        if field.apart is None:
            continue
        factor, samples = field.apart
        operator = next((candidate for candidate in evidence.operators if _makes_apart(candidate, samples[0])), None)
        text = message("data_debug.apart", field=field.name, sample=samples[0], factor=factor, count=len(samples))
        # A factor of 255 is that of a scale that was left out.
        sure = _LEVELS[0] <= factor <= _LEVELS[1] and operator is not None and operator.kind in ("step", "map")
        yield fault(
            "apart",
            text,
            operator=operator or evidence.source,
            samples=samples,
            conclusion=Conclusion.FOUND if sure else Conclusion.SUSPECT,
            certainty=Certainty.LIKELY,
            field=field.name,
        )
        return


def _makes_apart(operator: Operator, sample: int) -> bool:
    return operator.kind != "group" and any(
        field.apart is not None and sample in field.apart[1] for field in operator.fields
    )


def _range(evidence: Evidence) -> Iterator[Finding]:
    """Images whose numbers are far from what networks are made for."""
    for field in evidence.sample:
        if field.mean is None or field.std is None or not _pictures(field):
            continue
        far = abs(field.mean) > _MEAN or field.std > _STD
        tiny = 0.0 < field.std < _TINY and abs(field.mean) < _TINY
        if not far and not tiny:
            continue
        operator = evidence.operators[-1] if evidence.operators else None
        text = message("data_debug.range", field=field.name, mean=field.mean, std=field.std)
        yield fault(
            "range",
            text,
            operator=_scaling(evidence) or operator,
            # It may be meant so: nothing was seen that made it so.
            conclusion=Conclusion.SUSPECT,
            certainty=Certainty.LIKELY,
            measured=[field.mean, field.std],
            limit=[_MEAN, _STD],
            advice=message("data_debug.advice_range"),
        )
        return


def _scaling(evidence: Evidence) -> Operator | None:
    """The last operator of which a range can be seen: the dataset itself gives what the last transform made."""
    steps = [operator for operator in evidence.operators if operator.kind in ("step", "map")]
    return steps[-1] if steps else None


def _pictures(field: Field) -> bool:
    """Whether a field has numbers with a fraction in two or more dimensions."""
    floats = all(name.startswith(("float", "bfloat")) for name in field.dtypes)
    return floats and bool(field.shapes) and all(name.count("x") >= 2 for name in field.shapes)


def _labels(evidence: Evidence) -> Iterator[Finding]:
    classes = evidence.facts.get("classes")
    if classes is None or len(evidence.sample) < 2:
        return
    field = evidence.sample[-1]
    outside = {value: some for value, some in field.whole.items() if _outside(int(value), classes)}
    if not outside or not _are_labels(field):
        return
    samples = sorted(at for some in outside.values() for at in some.first)
    first = next(value for value, some in outside.items() if samples[0] in some.first)
    text = message(
        "data_debug.labels",
        field=field.name,
        label=first,
        sample=samples[0],
        classes=classes,
        last=classes - 1,
        samples=listed(samples),
    )
    yield fault("labels", text, operator=_giving(evidence, first, samples[0]), samples=samples, field=field.name)


def _giving(evidence: Evidence, label: str, sample: int) -> Operator | None:
    """The first operator that gave a label."""
    for operator in evidence.operators:
        for field in operator.fields:
            if label in field.whole and sample in field.whole[label].first and operator.kind != "group":
                return operator
    return evidence.source


def _outside(value: int, classes: int) -> bool:
    return value != _IGNORED and not 0 <= value < classes


def _are_labels(field: Field) -> bool:
    return bool(field.dtypes) and all(name.startswith(("int", "uint")) for name in field.dtypes)


def _short(numbers: Number) -> str:
    return ", ".join(f"{number:.3g}" for number in numbers) if not isinstance(numbers, float | str) else str(numbers)
