"""A scan for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from trueline.apitable.pairs import MINDSPORE, Kind, kind_of
from trueline.migrate.scan.graph_mode import Level, Limit
from trueline.migrate.scan.judging import PROBLEMS, Judged, Verdict
from trueline.migrate.scan.scanned import Scan
from trueline.migrate.scan.words import outcome_said, supported_said, todo_said
from trueline.model.finding import Certainty, Conclusion, Finding
from trueline.model.json_value import JsonObject
from trueline.model.location import Location
from trueline.model.message import Message, message
from trueline.model.report import Block, Folded, Report, Table, Text
from trueline.model.result import Exit, Result

_SHOWN: Final = 12
_MOST: Final = 5000
_SHORT: Final = 60
_OPERATORS: Final = (Kind.FUNCTION, Kind.METHOD, Kind.LAYER, Kind.LOSS)
_CODES: Final = {
    Verdict.MISSING: "api.11",
    Verdict.WAY_OUT: "api.11",
    Verdict.RELIES: "api.12",
    Verdict.DIFFERS: "api.13",
    Verdict.RAISES: "api.13",
    Verdict.NO_KERNEL: "api.14",
}
_REFUSED: Final = "api.15"
ASKED: Final = ("api.11", "api.12", "api.13", "api.14", "api.15")
NAMES: Final = {"torch": "PyTorch", "mindspore": "MindSpore"}


def result(scan: Scan, *, listed: bool = True) -> Result:
    """The JSON shape; every use only where that is ``listed``."""
    if not listed:
        return Result("scan", conclusion(scan), exit_of(scan))
    fields: JsonObject = {
        "from": scan.source,
        "to": scan.target,
        "summary": {
            "files": len(scan.files),
            "lines": sum(file.lines for file in scan.files),
            "uses": scan.total,
            "decided": scan.decided,
            "mapped": scan.mapped,
            "verdicts": {verdict.value: scan.counts.get(verdict, 0) for verdict in Verdict},
        },
        "uses": [use_json(one, scan) for one in scan.judged],
        "networks": [
            {
                "name": one.network.name,
                "file": one.network.file,
                "line": one.network.line,
                "made": one.made,
                "holds": list(one.holds),
            }
            for one in scan.networks
        ],
        "graph_mode": [
            {
                "kind": limit.kind,
                "level": limit.level.value,
                "file": limit.file,
                "line": limit.line,
                "scope": limit.scope,
                "what": limit.what,
                "message": limit_said(limit).text(),
            }
            for limit in scan.limits
        ],
        "skipped": [{"file": file, "reason": reason} for file, reason in scan.skipped],
    }
    return Result("scan", conclusion(scan), exit_of(scan), findings(scan), fields)


def exit_of(scan: Scan) -> Exit:
    """A problem where something does not map, or relies on a default that differs."""
    return Exit.PROBLEM if any(scan.counts.get(verdict) for verdict in PROBLEMS) else Exit.FINE


def conclusion(scan: Scan) -> Message:
    """How much of the project maps, in one sentence."""
    if not scan.total:
        names = {"source": NAMES[scan.source], "target": NAMES[scan.target]}
        if any(use.framework == scan.target for file in scan.files for use in file.uses):
            return message("scan.written_already", **names)
        return message("scan.nothing", count=len(scan.files))
    return message(
        "scan.conclusion",
        mapped=scan.mapped,
        total=scan.total,
        share=f"{100 * scan.mapped / scan.total:.0f}",
        source=NAMES[scan.source],
        target=NAMES[scan.target],
        relies=scan.counts.get(Verdict.RELIES, 0),
        rest=sum(scan.counts.get(verdict, 0) for verdict in PROBLEMS if verdict is not Verdict.RELIES),
        undecided=scan.counts.get(Verdict.UNDECIDED, 0),
    )


def report(scan: Scan) -> Report:
    """What a reader wants to see: what does not map and what relies on a default first, the rest folded."""
    title = message("scan.title", source=NAMES[scan.source], target=NAMES[scan.target])
    return Report(title, conclusion(scan), (), list(_blocks(scan)))


def findings_report(scan: Scan) -> Report:
    """The same for programs that show a finding beside its line."""
    title = message("scan.title", source=NAMES[scan.source], target=NAMES[scan.target])
    warnings = [message("scan.skipped", file=file, reason=reason) for file, reason in scan.skipped]
    return Report(title, conclusion(scan), findings(scan), (), asked=ASKED, warnings=warnings)


def findings(scan: Scan) -> list[Finding]:
    """One for each use that does not map as it is, and for each place that graph mode refuses."""
    found = [_finding(one) for one in scan.judged if one.verdict in _CODES]
    for limit in scan.limits:
        if limit.level is Level.REFUSED and scan.target == MINDSPORE:
            where = Location(limit.file, limit.line)
            found.append(Finding(_REFUSED, Conclusion.FOUND, limit_said(limit), where=where))
    return found


def _finding(judged: Judged) -> Finding:
    use = judged.use
    said = message("scan.found", name=use.name, outcome=outcome_said(judged), counterpart=judged.counterpart or "-")
    todo = todo_said(judged)
    sure = Certainty(judged.row.certainty) if judged.row is not None and judged.row.cases else Certainty.LIKELY
    if judged.verdict in (Verdict.MISSING, Verdict.WAY_OUT):
        sure = Certainty.CERTAIN
    where = Location(use.file, use.line, use.end_line)
    return Finding(
        _CODES[judged.verdict], Conclusion.FOUND, said, sure, todo if isinstance(todo, Message) else None, where=where
    )


def _blocks(scan: Scan) -> Iterator[Block]:
    for verdicts, title in (
        ((Verdict.MISSING, Verdict.RAISES, Verdict.NO_KERNEL, Verdict.DIFFERS), "scan.table_unmapped"),
        ((Verdict.RELIES,), "scan.table_relies"),
    ):
        if groups := scan.by_name(*verdicts):
            yield _table(message(title, count=sum(len(group) for _, group in groups)), groups, scan)
            if len(groups) > _SHOWN:
                yield Folded(
                    message("scan.all_of_it", count=len(groups)), [_table(Message(title), groups, scan, _MOST)]
                )
    refused = [limit for limit in scan.limits if limit.level in (Level.REFUSED, Level.DIFFERS)]
    if refused and scan.target == MINDSPORE:
        yield _limits(message("scan.table_refused", count=len(refused)), refused[:_SHOWN])
    for file, reason in scan.skipped:
        yield Text(message("scan.skipped", file=file, reason=reason))
    yield from _folded(scan)


def _folded(scan: Scan) -> Iterator[Block]:
    if groups := scan.by_name(Verdict.WAY_OUT):
        count = sum(len(group) for _, group in groups)
        table = _table(message("scan.table_ways", count=count), groups, scan, _MOST)
        yield Folded(message("scan.table_ways", count=count), [table])
    for kinds, title in ((True, "scan.table_operators"), (False, "scan.table_functions")):
        rows = list(_guide_rows(scan, operators=kinds))
        if rows:
            columns = [
                message("scan.column_used", framework=NAMES[scan.source]),
                message("scan.column_counterpart", framework=NAMES[scan.target]),
                message("scan.column_supported"),
                message("scan.column_uses"),
            ]
            yield Folded(message(title, count=len(rows)), [Table(message(title, count=len(rows)), columns, rows)])
    if scan.networks:
        yield _networks(scan)
    if scan.limits and scan.target == MINDSPORE:
        graph = message("scan.table_graph", count=len(scan.limits))
        yield Folded(graph, [_limits(graph, scan.limits[:_MOST])])
    for verdict, name in ((Verdict.OUTSIDE, "scan.table_outside"), (Verdict.UNDECIDED, "scan.table_undecided")):
        if groups := scan.by_name(verdict):
            named = Message(name, {"count": sum(len(group) for _, group in groups)})
            columns = [message("scan.column_name"), message("scan.column_uses"), message("scan.column_first")]
            rows = [[one.use.name, len(group), _place(one, scan)] for one, group in groups[:_MOST]]
            yield Folded(named, [Table(named, columns, rows)])


def _table(title: Message, groups: Sequence[tuple[Judged, list[Judged]]], scan: Scan, most: int = _SHOWN) -> Table:
    columns = [
        message("scan.column_name"),
        message("scan.column_uses"),
        message("scan.column_first"),
        message("scan.column_to", framework=NAMES[scan.target]),
        message("scan.column_todo"),
    ]
    rows = [
        [one.use.name, len(group), _place(one, scan), _short_name(one, scan), _why(one)] for one, group in groups[:most]
    ]
    return Table(Message(title.id, {"count": sum(len(group) for _, group in groups)}), columns, rows)


def _short_name(judged: Judged, scan: Scan) -> str:
    """The counterpart without the framework's own name, which the column's heading says."""
    return judged.counterpart.removeprefix(f"{scan.target}.") or "-"


def _why(judged: Judged) -> Message:
    """What to do, and before it what becomes of the use where the table's title does not say it."""
    todo = todo_said(judged)
    if judged.verdict in (Verdict.RELIES, Verdict.WAY_OUT) and isinstance(todo, Message):
        return todo
    outcome = outcome_said(judged)
    return message("scan.and_then", first=outcome, second=todo) if todo else outcome


def _guide_rows(scan: Scan, *, operators: bool) -> Iterator[list[object]]:
    """The guide's two tables: operators, and the functions around them."""
    verdicts = tuple(one for one in Verdict if one not in (Verdict.UNDECIDED, Verdict.OUTSIDE))
    for one, group in scan.by_name(*verdicts):
        if _is_operator(one) is operators:
            yield [one.use.name, one.counterpart or "-", supported_said(one), len(group)]


def _is_operator(judged: Judged) -> bool:
    if judged.pair is not None:
        return judged.pair.kind in _OPERATORS
    name = judged.use.name
    return judged.way is None and kind_of(name) in _OPERATORS


def _networks(scan: Scan) -> Folded:
    title = message("scan.table_networks", count=len(scan.networks))
    columns = [
        message("scan.column_order"),
        message("scan.column_network"),
        message("scan.column_made"),
        message("scan.column_holds"),
        message("scan.column_first"),
    ]
    rows = [
        [place, one.network.name, one.made, ", ".join(one.holds) or "-", f"{one.network.file}:{one.network.line}"]
        for place, one in enumerate(scan.networks[:_MOST], 1)
    ]
    return Folded(title, [Table(title, columns, rows)])


def limit_said(limit: Limit) -> Message:
    """What graph mode does with it."""
    said = Message(f"scan.graph_{limit.kind}", {"what": _short(limit.what)})
    return message(f"scan.level_{limit.level.value}", what=said)


def _limits(title: Message, limits: Sequence[Limit]) -> Table:
    columns = [message("scan.column_first"), message("scan.column_scope"), message("scan.column_limit")]
    rows = [[f"{limit.file}:{limit.line}", limit.scope, limit_said(limit)] for limit in limits]
    marked = frozenset(place for place, limit in enumerate(limits) if limit.level is Level.REFUSED)
    return Table(title, columns, rows, marked)


def _place(judged: Judged, scan: Scan) -> str:
    use = judged.use
    return f"{use.file}:{_line(judged, scan)}"


def _line(judged: Judged, scan: Scan) -> str:
    file = scan.by_file.get(judged.use.file)
    return file.place(judged.use.line) if file is not None else str(judged.use.line)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _SHORT else text[:_SHORT] + "…"


def use_json(judged: Judged, scan: Scan) -> JsonObject:
    """One use with what becomes of it."""
    use = judged.use
    file = scan.by_file.get(use.file)
    cell = file.cells.place(use.line) if file is not None and file.cells is not None and file.cells.lines else None
    todo = todo_said(judged)
    return {
        "file": use.file,
        "line": cell[1] if cell is not None else use.line,
        "cell": cell[0] if cell is not None else None,
        "column": use.column + 1,
        "scope": use.scope or None,
        "name": use.name,
        "framework": use.framework or None,
        "kind": use.kind.value,
        "verdict": judged.verdict.value,
        "counterpart": judged.counterpart or None,
        "counterparts": [
            {
                "name": pair.mindspore if use.framework == "torch" else pair.torch,
                "style": pair.style,
                "documented": pair.documented,
            }
            for pair in judged.counterparts.pairs
        ],
        "relies": [
            {"argument": one.argument, "default": one.here, "other_default": one.there, "write": one.write or None}
            for one in judged.relied
        ],
        "write": list(judged.written),
        "leave_out": list(judged.left_out),
        "only_for": list(judged.only_for),
        "todo": (todo.text() if isinstance(todo, Message) else todo) or None,
        "code": judged.way.code.strip() or None if judged.way is not None else None,
    }
