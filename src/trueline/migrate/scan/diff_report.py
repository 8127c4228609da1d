"""The calls of two scripts, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from trueline.migrate.scan.diff import Aligned, Diff, Disagreement
from trueline.model.finding import Certainty, Conclusion, Finding
from trueline.model.json_value import JsonObject
from trueline.model.location import Location
from trueline.model.message import Message, message
from trueline.model.report import Block, Folded, Report, Table
from trueline.model.result import Exit, Result
from trueline.script.uses.use import Use

CODE: Final = "api.12"
_MOST: Final = 5000


@dataclass(frozen=True, slots=True)
class Compared:
    """Two scripts by name, and their calls."""

    bench: str
    port: str
    diff: Diff

    @property
    def apart(self) -> list[Aligned]:
        """The calls with an argument that disagrees."""
        return [one for one in self.diff.aligned if one.disagreements]


def result(compared: Compared) -> Result:
    """The JSON shape."""
    fields: JsonObject = {
        "bench": compared.bench,
        "port": compared.port,
        "compared": len(compared.diff.aligned),
        "disagreements": [_json(one, apart) for one in compared.apart for apart in one.disagreements],
        "only_bench": [_call_json(use) for use in compared.diff.only_bench],
        "only_port": [_call_json(use) for use in compared.diff.only_port],
    }
    exit = Exit.PROBLEM if compared.apart else Exit.FINE
    return Result("scan", _conclusion(compared), exit, _findings(compared), fields)


def report(compared: Compared) -> Report:
    """The arguments that disagree first, then the calls of one side only."""
    title = message("scan.diff_title", bench=compared.bench, port=compared.port)
    return Report(title, _conclusion(compared), (), list(_blocks(compared)))


def findings_report(compared: Compared) -> Report:
    """The same for programs that show a finding beside its line."""
    title = message("scan.diff_title", bench=compared.bench, port=compared.port)
    return Report(title, _conclusion(compared), _findings(compared), (), asked=(CODE,))


def _conclusion(compared: Compared) -> Message:
    count = len(compared.diff.aligned)
    if not count:
        return message("scan.diff_nothing")
    if not compared.apart:
        return message("scan.diff_equal", count=count)
    arguments = sum(len(one.disagreements) for one in compared.apart)
    return message("scan.diff_apart", arguments=arguments, count=len(compared.apart), aligned=count)


def _findings(compared: Compared) -> list[Finding]:
    return [
        Finding(
            CODE,
            Conclusion.FOUND,
            message(
                "scan.diff_found",
                name=one.port.name,
                argument=apart.argument,
                bench=_value(apart.bench, given=apart.bench_given),
                port=_value(apart.port, given=apart.port_given),
                other=f"{one.bench.file}:{one.bench.line}",
            ),
            Certainty.LIKELY,
            where=Location(one.port.file, one.port.line, one.port.end_line),
        )
        for one in compared.apart
        for apart in one.disagreements
    ]


def _blocks(compared: Compared) -> Iterator[Block]:
    rows = [
        [
            one.port.name,
            apart.argument,
            _value(apart.bench, given=apart.bench_given),
            _value(apart.port, given=apart.port_given),
            f"{one.bench.file}:{one.bench.line}",
            f"{one.port.file}:{one.port.line}",
        ]
        for one in compared.apart
        for apart in one.disagreements
    ]
    if rows:
        columns = [
            message("scan.column_call"),
            message("scan.column_argument"),
            message("scan.column_bench"),
            message("scan.column_port"),
            message("scan.column_bench"),
            message("scan.column_port"),
        ]
        yield Table(message("scan.table_disagree", count=len(rows)), columns, rows[:_MOST])
    yield from _only("scan.table_only_bench", compared.diff.only_bench)
    yield from _only("scan.table_only_port", compared.diff.only_port)


def _only(title: str, uses: Sequence[Use]) -> Iterator[Block]:
    if uses:
        named = Message(title, {"count": len(uses)})
        columns = [message("scan.column_call"), message("scan.column_at")]
        yield Folded(named, [Table(named, columns, [[use.name, f"{use.file}:{use.line}"] for use in uses[:_MOST]])])


def _value(text: str, *, given: bool) -> Message | str:
    return text if given else message("scan.by_default", value=text)


def _json(one: Aligned, apart: Disagreement) -> JsonObject:
    return {
        "argument": apart.argument,
        "bench": {**_call_json(one.bench), "value": apart.bench, "given": apart.bench_given},
        "port": {**_call_json(one.port), "value": apart.port, "given": apart.port_given},
    }


def _call_json(use: Use) -> JsonObject:
    return {"name": use.name, "file": use.file, "line": use.line}
