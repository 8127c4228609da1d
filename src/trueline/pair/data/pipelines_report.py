"""Two pipelines side by side, for people and for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from trueline.data.pipeline.judging.fault import short
from trueline.formats.source_lines import source_around
from trueline.kernel.array import Array
from trueline.model.finding import Certainty, Conclusion, Finding, roots
from trueline.model.json_value import Json, JsonObject
from trueline.model.location import Location
from trueline.model.message import Message, message
from trueline.model.report import Block, Report, Table, Text
from trueline.model.result import Exit, Result
from trueline.pair.blame import Blame, Cause, Setting
from trueline.pair.data.passages import Passage
from trueline.pair.data.pipelines import Beside
from trueline.pair.data.steps import known_in

# The guide's items; what is prepared otherwise in any other way is its dp.02.
_CODES: Final = {
    Cause.FACTOR_255: "dp.01",
    Cause.MEAN_STD: "dp.01",
    Cause.SAMPLE_ORDER: "dp.03",
    Cause.DATA_PADDING: "dp.04",
    Cause.LABELS: "ds.02",
}
_SHOWN: Final = 4


def result(bench: str, port: str, beside: Beside) -> Result:
    """The JSON shape."""
    findings = _findings(beside)
    fields = {
        "pipeline": port,
        "bench": bench,
        "samples": beside.samples,
        "operators": _steps_json(beside.port),
        "bench_operators": _steps_json(beside.bench),
        "open": [text.text() for text in beside.open],
    }
    return Result("data debug", _conclusion(bench, port, beside, findings), _exit(findings), findings, fields)


def report(bench: str, port: str, beside: Beside) -> Report:
    """Causes first, each with its lines, then both lists of operators."""
    findings = _findings(beside)
    blocks: list[Block] = [Text(text) for text in beside.open]
    shown: set[object] = set()
    for blame in [candidate for candidate in beside.blames if candidate.confirmed][:_SHOWN]:
        for line, side in ((blame.line, port), (blame.other_line, bench)):
            if line is not None and line not in shown:
                shown.add(line)
                blocks += source_around(line, side)
    blocks.append(_operators(beside))
    title = message("data_pair.title", bench=bench, port=port)
    return Report(title, _conclusion(bench, port, beside, findings), findings, blocks)


def _findings(beside: Beside) -> list[Finding]:
    return [_finding(blame) for blame in sorted(beside.blames, key=lambda blame: not blame.confirmed)]


def _finding(blame: Blame) -> Finding:
    values = {"bench": _plain(blame.bench), "port": _plain(blame.port)}
    return Finding(
        _CODES.get(blame.cause, "dp.02"),
        Conclusion.FOUND,
        blame.message,
        Certainty.CERTAIN if blame.confirmed else Certainty.POSSIBLE,
        blame.edit,
        where=_place(blame),
        measured=blame.measured,
        extra={
            "kind": blame.cause.value,
            "values": values,
            "confirmed": blame.confirmed,
            "other_line": blame.other_line.line_json() if blame.other_line is not None else None,
            "left": blame.left,
        },
    )


def _place(blame: Blame) -> Location:
    line = blame.line or Location()
    return Location(short(line.file), line.line, side="port") if line.file else Location(side="port")


def _plain(value: Setting) -> Json:
    return value.text() if isinstance(value, Message) else value


def _exit(findings: Sequence[Finding]) -> Exit:
    return Exit.PROBLEM if roots(findings) else Exit.FINE


def _conclusion(bench: str, port: str, beside: Beside, findings: Sequence[Finding]) -> Message:
    if findings:
        return message("data_pair.found", bench=bench, port=port, count=len(findings))
    if beside.open:
        return message("data_pair.unknown", bench=bench, port=port)
    return message("data_pair.same", bench=bench, port=port, samples=beside.samples)


def _operators(beside: Beside) -> Table:
    """Row by row what both have by then; a row is marked where what the port has is nothing that the benchmark has."""
    rows = []
    marked = set()
    for place in range(max(len(beside.bench.steps), len(beside.port.steps)) + 1):
        cells: list[object] = [place]
        for side in (beside.bench, beside.port):
            cells += _cells(side, place)
        rows.append(cells)
        if beside.blames and place <= len(beside.port.steps) and not known_in(beside.bench, beside.port.at(place)):
            marked.add(place)
    names = ("place", "bench", "gives", "port", "gives")
    headings = [message(f"data_pair.column_{name}") for name in names]
    return Table(message("data_pair.operators"), headings, rows, frozenset(marked))


def _cells(side: Passage, place: int) -> list[object]:
    if place > len(side.steps) or not side.states:
        return [None, None]
    name: object = str(side.steps[place - 1]) if place else message("data_pair.raw")
    return [name, _shown(side.at(place)[0])]


def _shown(array: Array) -> str:
    shape = "x".join(map(str, array.shape)) or "()"
    if not array.size or array.dtype.kind not in "biuf":
        return f"{shape} {array.dtype}"
    return f"{shape} {array.dtype} {float(array.min()):.4g}..{float(array.max()):.4g}"


def _steps_json(passage: Passage) -> list[JsonObject]:
    return [
        {
            "name": step.name,
            "settings": dict(step.settings),
            "file": step.line.file if step.line is not None else None,
            "line": step.line.line if step.line is not None else None,
        }
        for step in passage.steps
    ]
