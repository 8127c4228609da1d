"""Samples that do not fit together: nothing instead of a sample, another structure, shape or dtype."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from trueline.data.pipeline.evidence import Evidence, Failure, Field, Operator, Some, read_line
from trueline.data.pipeline.judging.fault import fault, listed
from trueline.model.finding import Conclusion, Finding
from trueline.model.message import message

# Where more samples than these are unlike the rest, it is no sample's fault.
_MAX_ODD_SHARE: Final = 0.25
_NONE: Final = "NoneType"


def batching(evidence: Evidence) -> Iterator[Finding]:
    """Root first: what a sample lacks explains why it cannot be batched."""
    failed = next((failure for failure in evidence.failures if failure.doing == "batching"), None)
    if failed is not None and (evidence.facts.get("own_collate") or failed.columns is not None):
        # The user's own function raised, or told columns by other names: that is the fault.
        yield _cannot(evidence, failed)
        return
    found = [*_nothing(evidence, failed), *_structure(evidence)]
    found = found or [*_shapes(evidence, failed)] or _dtypes(evidence)
    if failed is not None and not found:
        found.append(_cannot(evidence, failed))
    yield from found


def _nothing(evidence: Evidence, failed: Failure | None) -> Iterator[Finding]:
    """None instead of a sample, or of a value in it."""
    samples: Sequence[int] = evidence.parts.get("walk", {}).get("nothing", ())
    if samples and failed is None and evidence.facts.get("batches"):
        # The user's collating knows of them.
        return
    if not samples:
        holes = [field for field in evidence.sample if _NONE in field.types and len(field.types) > 1]
        samples = holes[0].types[_NONE].first if holes and failed is not None else ()
    if samples:
        text = message("data_debug.no_sample", sample=samples[0], count=len(samples), samples=listed(samples))
        yield fault("no_sample", text, operator=_giving_nothing(evidence, samples[0]), samples=samples)


def _giving_nothing(evidence: Evidence, sample: int) -> Operator | None:
    """The first operator that gave None for a sample."""
    for operator in evidence.operators:
        for field in operator.fields:
            if _NONE in field.types and sample in field.types[_NONE].first:
                return operator
    return _dataset(evidence)


def _structure(evidence: Evidence) -> Iterator[Finding]:
    """Fields that only some samples have, or that are of another type in some."""
    nothing = len(evidence.parts.get("walk", {}).get("nothing", ()))
    failed = sum(1 + len(failure.again) for failure in evidence.failures if failure.doing == "walking")
    whole = evidence.looked - failed - nothing
    if evidence.facts.get("own_collate"):
        return
    for field in evidence.sample:
        count = sum(some.count for some in field.types.values())
        if 0 < count < whole and not (nothing and field.name == "0"):
            samples = field.lacking if count > whole / 2 else next(iter(field.types.values())).first
            text = message("data_debug.structure", field=field.name, count=count, whole=whole)
            yield fault("structure", text, operator=_dataset(evidence), samples=samples)
            return
        kinds = {name: some for name, some in field.types.items() if name != _NONE}
        if len(kinds) > 1 and not field.dtypes:
            usual, odd = _usual(kinds)
            some = kinds[odd].first
            text = message("data_debug.types", field=field.name, usual=usual, odd=odd, samples=listed(some))
            yield fault("structure", text, operator=_dataset(evidence), samples=some)
            return


def _shapes(evidence: Evidence, failed: Failure | None) -> Iterator[Finding]:
    for field in evidence.sample:
        if len(field.shapes) < 2 or failed is None:
            # What puts the batches together takes them as they are.
            continue
        usual, _ = _usual(field.shapes)
        few = sum(some.count for name, some in field.shapes.items() if name != usual)
        total = sum(some.count for some in field.shapes.values())
        if few > _MAX_ODD_SHARE * total:
            if evidence.facts.get("batches"):
                yield _ragged(evidence, field, failed)
                return
            # Without a loader nobody knows how they are put together.
            continue
        samples = sorted(at for name, some in field.shapes.items() if name != usual for at in some.first)
        odd = next(name for name, some in field.shapes.items() if samples[0] in some.first)
        text = message("data_debug.shapes", field=field.name, odd=odd, usual=usual, sample=samples[0], count=few)
        operator = first_odd(evidence, "shapes", samples[0])
        yield fault("cannot_batch", text, operator=operator, samples=samples, field=field.name)
        return


def _ragged(evidence: Evidence, field: Field, failed: Failure) -> Finding:
    """Shapes that differ throughout: what is missing is something that brings them to one."""
    samples = [*([failed.sample] if failed.sample is not None else []), *failed.again]
    shown = ", ".join(list(field.shapes)[:4]) + (", …" if len(field.shapes) > 4 else "")
    text = message("data_debug.ragged", field=field.name, shapes=shown)
    line = read_line(evidence.facts.get("batch_line"))
    return fault("cannot_batch", text, operator=evidence.operator(failed.operator), samples=samples, line=line)


def _dtypes(evidence: Evidence) -> list[Finding]:
    for field in evidence.sample:
        if len(field.dtypes) < 2:
            continue
        usual, odd = _usual(field.dtypes)
        samples = field.dtypes[odd].first
        text = message("data_debug.dtype", field=field.name, odd=odd, usual=usual, sample=samples[0])
        operator = first_odd(evidence, "dtypes", samples[0])
        return [fault("dtype", text, operator=operator, samples=samples, field=field.name)]
    return []


def _cannot(evidence: Evidence, failed: Failure) -> Finding:
    operator = evidence.operator(failed.operator)
    samples = [*([failed.sample] if failed.sample is not None else []), *failed.again]
    if failed.columns is not None:
        return unfit(evidence, failed, samples)
    name = operator.name if operator is not None else "collate"
    text = message("data_debug.cannot_batch", operator=name, kind=failed.kind, error=failed.error)
    if failed.line is None and samples and operator is not None and operator.kind == "collate":
        # Not even alone can it be put into a batch: what the dataset gives is no value that the framework knows.
        operator = _dataset(evidence)
    # Without a loader nobody knows how samples are put together.
    sure = Conclusion.FOUND if evidence.facts.get("batches") else Conclusion.SUSPECT
    return fault("cannot_batch", text, operator=operator, samples=samples, line=failed.line, conclusion=sure)


def unfit(evidence: Evidence, failure: Failure, samples: Sequence[int]) -> Finding:
    """Columns that do not match: how many values there are, or a name that is not there, or there twice."""
    assert failure.columns is not None
    columns = failure.columns
    names = ", ".join(columns["wanted"])
    if columns["missing"] is not None:
        text = message("data_debug.missing_column", column=columns["missing"], names=names)
    elif columns["twice"] is not None:
        text = message("data_debug.column_twice", column=columns["twice"])
    else:
        text = message("data_debug.columns", given=columns["given"], wanted=len(columns["wanted"]), names=names)
    some = 1 + len(failure.again) < evidence.looked
    operator = evidence.operator(failure.operator)
    # Where all other samples fit, it is that sample's fault and not the names'.
    return fault("columns", text, operator=operator, samples=samples, line=None if some else failure.line)


def first_odd(evidence: Evidence, what: str, sample: int) -> Operator | None:
    """The first operator after which a sample is unlike the others."""
    for operator in evidence.operators:
        for field in operator.fields:
            groups: Mapping[str, Some] = getattr(field, what)
            if len(groups) > 1 and operator.kind != "group":
                usual, _ = _usual(groups)
                if any(sample in some.first for name, some in groups.items() if name != usual):
                    return operator
    return _dataset(evidence)


def _usual(groups: Mapping[str, Some]) -> tuple[str, str]:
    """The word that most samples have, and the first other one."""
    usual = max(groups, key=lambda group: groups[group].count)
    return usual, min((group for group in groups if group != usual), key=lambda one: groups[one].first[0])


def _dataset(evidence: Evidence) -> Operator | None:
    return next(
        (operator for operator in reversed(evidence.operators) if operator.kind in ("dataset", "source", "map")), None
    )
