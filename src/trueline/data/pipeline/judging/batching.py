"""Samples that do not fit together: nothing instead of a sample, another structure, shape or dtype."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from trueline.data.pipeline.evidence import Evidence, Failure, Field, Operator, Some
from trueline.data.pipeline.judging.fault import fault, listed
from trueline.model.finding import Certainty, Finding
from trueline.model.message import message

_FEW: Final = 0.25


def batching(evidence: Evidence) -> Iterator[Finding]:
    """Root first: what a sample lacks explains why it cannot be batched."""
    failed = next((one for one in evidence.failures if one.doing == "batching"), None)
    found = [*_nothing(evidence, failed), *_structure(evidence), *_shapes(evidence, failed)]
    found += _dtypes(evidence) if not found else []
    if failed is not None and not found:
        found.append(_cannot(evidence, failed))
    yield from found


def _nothing(evidence: Evidence, failed: Failure | None) -> Iterator[Finding]:
    samples: Sequence[int] = evidence.parts.get("walk", {}).get("nothing", ())
    if not samples or (failed is None and evidence.facts.get("batches")):
        # The user's collating knows of them.
        return
    text = message("data_debug.no_sample", sample=samples[0], count=len(samples), samples=listed(samples))
    yield fault("no_sample", text, operator=_dataset(evidence), samples=samples)


def _structure(evidence: Evidence) -> Iterator[Finding]:
    """Fields that only some samples have."""
    nothing = len(evidence.parts.get("walk", {}).get("nothing", ()))
    failed = sum(1 + len(one.again) for one in evidence.failures if one.doing == "walking")
    whole = evidence.looked - failed - nothing
    fields = [one for one in evidence.sample if set(one.types) != {"NoneType"}]
    for one in fields:
        count = sum(some.count for some in one.types.values()) - _none(one)
        kinds = {name: some for name, some in one.types.items() if name != "NoneType"}
        if 0 < count < whole:
            samples = _those_with(one) if count <= whole / 2 else ()
            text = message("data_debug.structure", field=one.name, count=count, whole=whole)
            yield fault("structure", text, operator=_dataset(evidence), samples=samples)
            return
        if len(kinds) > 1 and not one.dtypes:
            usual, odd = _usual(kinds)
            text = message("data_debug.types", field=one.name, usual=usual, odd=odd, samples=listed(kinds[odd].first))
            yield fault("structure", text, operator=_dataset(evidence), samples=kinds[odd].first)
            return


def _shapes(evidence: Evidence, failed: Failure | None) -> Iterator[Finding]:
    for one in evidence.sample:
        if len(one.shapes) < 2:
            continue
        usual, _ = _usual(one.shapes)
        few = sum(some.count for name, some in one.shapes.items() if name != usual)
        total = sum(some.count for some in one.shapes.values())
        if failed is None or (not evidence.facts.get("batches") and few > _FEW * total):
            # What puts the batches together takes them as they are; without a loader nobody knows.
            continue
        samples = sorted(at for name, some in one.shapes.items() if name != usual for at in some.first)
        operator, _ = first_odd(evidence, one, "shapes", samples[0])
        text = message(
            "data_debug.shapes",
            field=one.name,
            odd=next(name for name, some in one.shapes.items() if samples[0] in some.first),
            usual=usual,
            sample=samples[0],
            count=few,
        )
        yield fault("cannot_batch", text, operator=operator, samples=samples)
        return


def _dtypes(evidence: Evidence) -> list[Finding]:
    for one in evidence.sample:
        if len(one.dtypes) < 2:
            continue
        usual, odd = _usual(one.dtypes)
        samples = one.dtypes[odd].first
        operator, _ = first_odd(evidence, one, "dtypes", samples[0])
        text = message("data_debug.dtype", field=one.name, odd=odd, usual=usual, sample=samples[0])
        return [fault("dtype", text, operator=operator, samples=samples, certainty=Certainty.CERTAIN)]
    return []


def _cannot(evidence: Evidence, failed: Failure) -> Finding:
    operator = evidence.operator(failed.operator)
    samples = [*([failed.sample] if failed.sample is not None else []), *failed.again]
    name = operator.name if operator is not None else "collate"
    text = message("data_debug.cannot_batch", operator=name, kind=failed.kind, error=failed.error)
    return fault("cannot_batch", text, operator=operator, samples=samples, line=failed.line)


def first_odd(evidence: Evidence, field: Field, what: str, sample: int) -> tuple[Operator | None, Field | None]:
    """The first operator after which a sample is unlike the others."""
    for operator in evidence.operators:
        for one in operator.fields:
            groups: Mapping[str, Some] = getattr(one, what)
            if len(groups) > 1 and operator.kind != "group":
                usual, _ = _usual(groups)
                if any(sample in some.first for name, some in groups.items() if name != usual):
                    return operator, one
    return _dataset(evidence), field


def _usual(groups: Mapping[str, Some]) -> tuple[str, str]:
    """The word that most samples have, and the first other one."""
    usual = max(groups, key=lambda one: groups[one].count)
    return usual, min((one for one in groups if one != usual), key=lambda one: groups[one].first[0])


def _none(field: Field) -> int:
    return field.types["NoneType"].count if "NoneType" in field.types else 0


def _those_with(field: Field) -> Sequence[int]:
    return next(iter(field.types.values())).first


def _dataset(evidence: Evidence) -> Operator | None:
    return next((one for one in reversed(evidence.operators) if one.kind in ("dataset", "source", "map")), None)
