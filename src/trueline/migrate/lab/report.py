"""What the lab knows of an API, as a report and as a verb's answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from trueline.apitable.pairs import Difference, Documented, Machine, Measured, Outcome
from trueline.apitable.ways_out import WayOut
from trueline.locale import language
from trueline.model.message import Message, message
from trueline.model.report import Block, Folded, Report, Table, Text
from trueline.model.result import Result

Row = tuple[Documented, Measured]


def outcome_words(outcome: Outcome) -> Message:
    """An outcome in words."""
    return message(f"api.outcome_{outcome.value}")


def when_words(difference: Difference) -> Message:
    """Under which conditions, in words."""
    return conditions_words(difference.when)


def conditions_words(conditions: Sequence[str]) -> Message:
    """Conditions in words."""
    words = [_word(condition) for condition in conditions] or [message("api.always")]
    said = words[0]
    for word in words[1:]:
        said = message("api.and", first=said, second=word)
    return said


def _word(condition: str) -> Message:
    kind, colon, name = condition.partition(":")
    if colon:
        return message(f"api.when_{kind}", name=name)
    return message(f"api.when_{kind.replace('-', '_')}")


def result(verb_rows: Sequence[Row], machine: Machine, conclusion: Message) -> Result:
    """The answer as JSON."""
    fields = {
        "machine": msgspec.to_builtins(machine),
        "counts": {outcome.value: count for outcome, count in _counts(verb_rows).items() if count},
        "pairs": [{**msgspec.to_builtins(pair), **msgspec.to_builtins(row)} for pair, row in verb_rows],
    }
    return Result("api", conclusion, fields=fields)


def _counts(rows: Iterable[Row]) -> dict[Outcome, int]:
    counts = dict.fromkeys(Outcome, 0)
    for _, row in rows:
        counts[row.outcome] += 1
    return counts


def way_result(name: str, way: WayOut) -> Result:
    """The answer for a name that is in no pair."""
    described = {"name": name, **msgspec.to_builtins(way)}
    fields: dict[str, object] = {"machine": {}, "counts": {}, "pairs": [], "way": described}
    return Result("api", _way_said(name, way), fields=fields)


def way_report(name: str, way: WayOut) -> Report:
    """What to do with a name that is in no pair, and how that is written."""
    blocks = [Text(message("api.way_code", code=way.code))] if way.code else []
    return Report(message("api.title"), _way_said(name, way), [], blocks)


def _way_said(name: str, way: WayOut) -> Message:
    said = way.said(language())
    return (
        message("api.way_to", name=name, to=way.to, said=said) if way.to else message("api.way", name=name, said=said)
    )


def named_conclusion(name: str, rows: Sequence[Row]) -> Message:
    """One sentence about one API."""
    pair, row = rows[0]
    other = pair.mindspore if pair.torch == name else pair.torch
    if len(rows) > 1:
        return message("api.several", name=name, count=len(rows))
    return message("api.one", name=name, other=other, outcome=outcome_words(row.outcome))


def list_conclusion(rows: Sequence[Row], machine: Machine) -> Message:
    """One sentence about many."""
    measured = sum(row.outcome is not Outcome.UNMEASURED for _, row in rows)
    return message(
        "api.listed",
        count=len(rows),
        measured=measured,
        torch=machine.torch_version or "?",
        mindspore=machine.mindspore_version or "?",
    )


def named_report(rows: Sequence[Row], machine: Machine, conclusion: Message) -> Report:
    """The rows of one API with their evidence."""
    blocks: list[Block] = [_overview(rows)]
    for pair, row in rows:
        blocks += _evidence(pair, row)
    blocks.append(_where(machine))
    return Report(message("api.title"), conclusion, [], blocks)


def list_report(rows: Sequence[Row], machine: Machine, conclusion: Message) -> Report:
    """Many rows, a line each, and how many have which outcome."""
    counts = [[outcome_words(outcome), count] for outcome, count in _counts(rows).items() if count]
    columns = [message("api.column_outcome"), message("api.column_count")]
    blocks: list[Block] = [Table(message("api.counts"), columns, counts), _overview(rows), _where(machine)]
    return Report(message("api.title"), conclusion, [], blocks)


def _where(machine: Machine) -> Text:
    return Text(
        message(
            "api.measured_on",
            torch=machine.torch_version or "?",
            mindspore=machine.mindspore_version or "?",
            device=machine.device,
            cases=machine.cases,
        )
    )


def _overview(rows: Sequence[Row]) -> Table:
    columns = [
        message(f"api.column_{name}")
        for name in ("torch", "mindspore", "documented", "outcome", "write", "cases", "certainty")
    ]
    cells = [
        [
            pair.torch,
            pair.mindspore,
            message(f"api.documented_{pair.documented}"),
            outcome_words(row.outcome),
            ", ".join(need.for_torch for need in row.needs),
            row.cases,
            message(f"api.certainty_{row.certainty}") if row.cases else "",
        ]
        for pair, row in rows
    ]
    return Table(message("api.pairs"), columns, cells)


def _evidence(pair: Documented, row: Measured) -> Iterable[Block]:
    """What differs, each with its smallest example."""
    if row.note:
        yield Text(message("api.note", name=pair.mindspore, note=row.note))
    if row.needs:
        columns = [
            message(f"api.column_{name}") for name in ("argument", "torch_default", "mindspore_default", "write")
        ]
        cells = [[need.argument, need.torch_default, need.mindspore_default, need.for_torch] for need in row.needs]
        yield Table(message("api.needs_of", name=pair.mindspore), columns, cells)
    for difference in row.differences:
        columns = [message("api.column_call"), message("api.column_gives")]
        example = difference.example
        cells = [[example.torch, example.torch_gives], [example.mindspore, example.mindspore_gives]]
        title = message(
            "api.difference",
            name=pair.mindspore,
            what=message(f"api.what_{difference.what}"),
            when=when_words(difference),
        )
        yield (
            Table(title, columns, cells)
            if difference.what != "precision"
            else Folded(title, [Table(title, columns, cells)])
        )
