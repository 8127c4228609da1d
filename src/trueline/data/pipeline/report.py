"""What was seen of a pipeline, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from trueline.data.pipeline.evidence import Evidence, Field, Operator
from trueline.formats.source_lines import source_around
from trueline.model.finding import Finding, roots
from trueline.model.location import Location
from trueline.model.message import Message, message
from trueline.model.report import Block, Report, Table, Text
from trueline.model.result import Exit, Result

_MILLI: Final = 1000.0
# What a finding tells of a pipeline beside the common fields.
_TOLD: Final = ("kind", "operator", "samples", "field")
_MOST_SHAPES: Final = 3
_MOST_LINES: Final = 3


def result(entry: str, evidence: Evidence, findings: Sequence[Finding]) -> Result:
    """The JSON shape."""
    facts = evidence.facts
    fields = {
        "pipeline": entry,
        "framework": evidence.framework or None,
        "kind": evidence.kind or None,
        "samples": evidence.looked,
        "length": facts.get("length"),
        "batch_size": facts.get("batch_size"),
        "sampler": facts.get("sampler"),
        "workers": facts.get("workers"),
        "operators": [_operator_json(operator) for operator in evidence.operators],
        "fields": [_field_json(field) for field in evidence.sample],
    }
    code = Exit.PROBLEM if roots(findings) else Exit.FINE
    shown = [replace(finding, extra={name: finding.extra[name] for name in _TOLD}) for finding in findings]
    return Result("data debug", _conclusion(entry, evidence, findings), code, shown, fields)


def report(entry: str, evidence: Evidence, findings: Sequence[Finding]) -> Report:
    """Findings first, then the operators in order, and what comes out."""
    blocks: list[Block] = [*_sources(findings)]
    if evidence.operators:
        blocks.append(_operators(evidence, findings))
    if evidence.sample:
        blocks.append(_fields(evidence))
    if evidence.framework:
        blocks.append(Text(_about(evidence)))
    return Report(message("data_debug.title", entry=entry), _conclusion(entry, evidence, findings), findings, blocks)


def _sources(findings: Sequence[Finding]) -> Iterator[Block]:
    """The lines of the first problems."""
    shown: set[Location] = set()
    for root in roots(findings):
        line = Location(root.where.file, root.where.line) if root.where.file and root.where.line else None
        if line is not None and line not in shown and len(shown) < _MOST_LINES:
            shown.add(line)
            yield from source_around(line)


def _conclusion(entry: str, evidence: Evidence, findings: Sequence[Finding]) -> Message:
    count = len(roots(findings))
    if count:
        return message("data_debug.found", entry=entry, count=count)
    return message("data_debug.fine", entry=entry, samples=evidence.looked)


def _operators(evidence: Evidence, findings: Sequence[Finding]) -> Table:
    shown = [operator for operator in evidence.operators if operator.kind != "group"]
    total = sum(operator.seconds for operator in evidence.operators) or 1.0
    blamed = {finding.extra.get("operator") for finding in findings}
    columns = ("operator", "kind", "time", "share", "shape", "dtype", "range", "line")
    rows = [
        [
            operator.name + (f" ({', '.join(operator.columns)})" if operator.columns else ""),
            message(f"data_debug.kind_{operator.kind}"),
            float(f"{operator.typical * _MILLI:.3g}") if operator.calls else None,
            f"{operator.seconds / total:.0%}" if operator.calls else None,
            *_first(operator),
            f"{_file(operator)}" or None,
        ]
        for operator in shown
    ]
    marked = frozenset(place for place, operator in enumerate(shown) if operator.name in blamed)
    headings = [message(f"data_debug.column_{name}") for name in columns]
    return Table(message("data_debug.operators"), headings, rows, marked)


def _first(operator: Operator) -> list[object]:
    field = next((output for output in operator.fields if output.shapes), None)
    if field is None:
        kinds = [name for output in operator.fields for name in output.types]
        return [None, ", ".join(dict.fromkeys(kinds)) or None, None]
    return [_some(list(field.shapes)), _some(list(field.dtypes)), _range(field)]


def _fields(evidence: Evidence) -> Table:
    columns = ("field", "shape", "dtype", "range", "mean", "std")
    rows = [
        [
            field.name,
            _some(list(field.shapes or field.types)),
            _some(list(field.dtypes)),
            _range(field),
            field.mean,
            field.std,
        ]
        for field in evidence.sample
    ]
    return Table(message("data_debug.fields"), [message(f"data_debug.column_{name}") for name in columns], rows)


def _range(field: Field) -> str | None:
    if field.low is None or field.high is None:
        return None
    return f"{field.low:.4g} .. {field.high:.4g}"


def _some(words: Sequence[str]) -> str | None:
    shown = ", ".join(words[:_MOST_SHAPES])
    return (shown + ", …" if len(words) > _MOST_SHAPES else shown) or None


def _file(operator: Operator) -> str:
    line = operator.line or operator.called
    return f"{line.file.rpartition('/')[2]}:{line.line}" if line is not None else ""


def _about(evidence: Evidence) -> Message:
    facts = evidence.facts
    return message(
        "data_debug.about",
        kind=evidence.kind,
        framework=evidence.framework,
        length=str(facts["length"]) if facts["length"] is not None else "?",
        looked=evidence.looked,
        batch=str(facts["batch_size"] or "-"),
        sampler=facts["sampler"] or "-",
        workers=facts["workers"],
    )


def _operator_json(operator: Operator) -> dict[str, object]:
    line = operator.line or operator.called
    return {
        "name": operator.name,
        "kind": operator.kind,
        "settings": dict(operator.settings),
        "columns": list(operator.columns),
        "calls": operator.calls,
        "seconds": operator.seconds,
        "typical": operator.typical,
        "file": line.file if line is not None else None,
        "line": line.line if line is not None else None,
        "fields": [_field_json(field) for field in operator.fields],
    }


def _field_json(field: Field) -> dict[str, object]:
    return {
        "name": field.name,
        "shapes": {name: some.count for name, some in field.shapes.items()},
        "dtypes": {name: some.count for name, some in field.dtypes.items()},
        "types": {name: some.count for name, some in field.types.items()},
        "low": field.low,
        "high": field.high,
        "mean": field.mean,
        "std": field.std,
        "nonfinite": {name: [some.count, list(some.first)] for name, some in field.nonfinite.items()},
    }
