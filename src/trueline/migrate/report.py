"""A conversion for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from trueline.migrate.plan import Dropped, Lacking, Move, Plan
from trueline.model.finding import Certainty, Conclusion, Finding
from trueline.model.json_value import Json, JsonObject
from trueline.model.message import Message, message
from trueline.model.report import Block, Folded, Report, Table, Text
from trueline.model.result import Exit, Result

LEFT: Final = "cmp.06"
_SHOWN: Final = 40
_ALIKE: Final = 3
_MOST_ROWS: Final = 5000


@dataclass(frozen=True, slots=True)
class Converted:
    """A plan with what became of it; ``written`` is False for a dry run, and where something is left over."""

    source: Path
    output: Path
    plan: Plan
    dropped: Sequence[Dropped]
    written: bool
    dry: bool
    allowed: bool
    findings: Sequence[Finding] = ()
    fields: Mapping[str, Json] = field(default_factory=dict)
    blocks: Sequence[Block] = ()
    notes: Sequence[Message] = ()
    beside: int = 0

    @property
    def exit(self) -> Exit:
        """A problem where something is left over, or where a verification found one."""
        left = not self.plan.whole and not self.allowed
        return (
            Exit.PROBLEM
            if left or any(finding.conclusion is Conclusion.FOUND for finding in self.findings)
            else Exit.FINE
        )


def result(converted: Converted, *, listed: bool = True) -> Result:
    """The JSON shape; every array only where that is ``listed``."""
    plan = converted.plan
    if not listed:
        return Result("convert", _conclusion(converted), converted.exit, _findings(converted))
    fields = {
        "written": str(converted.output) if converted.written else None,
        "names": plan.naming.value if plan.naming is not None else None,
        "stripped": plan.stripped,
        "mapped": [_move_json(move) for move in plan.moves],
        "missing": [_lacking_json(lacking) for lacking in plan.missing],
        "unexpected": [_lacking_json(lacking) for lacking in plan.unexpected],
        "dropped": [{"name": dropped.name, "reason": dropped.why.text()} for dropped in converted.dropped],
    }
    return Result(
        "convert", _conclusion(converted), converted.exit, _findings(converted), {**fields, **converted.fields}
    )


def report(converted: Converted) -> Report:
    """What a reader wants to see: what is in doubt and what is left first, every row where nothing is written."""
    title = message("convert.title", source=converted.source.name, output=converted.output.name)
    return Report(title, _conclusion(converted), _findings(converted), [*_blocks(converted), *converted.blocks])


def _conclusion(converted: Converted) -> Message:
    plan = converted.plan
    count = len(plan.moves)
    names = {"source": converted.source.name, "output": converted.output.name}
    if not plan.whole and not converted.allowed:
        return message("convert.left_over", missing=len(plan.missing), unexpected=len(plan.unexpected), **names)
    changed = sum(1 for move in plan.moves if move.done or (move.name,) != move.held.names)
    if converted.dry:
        return message("convert.would", count=count, changed=changed, **names)
    return message("convert.written", count=count, changed=changed, **names)


def _findings(converted: Converted) -> list[Finding]:
    if converted.plan.whole:
        return list(converted.findings)
    first = next(iter((*converted.plan.missing, *converted.plan.unexpected)))
    conclusion = Conclusion.SUSPECT if converted.allowed else Conclusion.FOUND
    text = message(
        "convert.finding_left",
        missing=len(converted.plan.missing),
        unexpected=len(converted.plan.unexpected),
        name=first.name,
        nearest=first.nearest or "-",
    )
    left = Finding(LEFT, conclusion, text, advice=message("convert.finding_left_advice"))
    return [left, *converted.findings]


def _blocks(converted: Converted) -> list[Block]:
    plan = converted.plan
    blocks: list[Block] = []
    blocks += [Text(text) for text in converted.notes]
    if converted.beside:
        blocks.append(Text(message("convert.beside", count=converted.beside)))
    if plan.stripped:
        blocks.append(Text(message("convert.stripped", prefix=plan.stripped)))
    blocks += _lacking("convert.table_missing", plan.missing) + _lacking("convert.table_unexpected", plan.unexpected)
    doubtful = [move for move in plan.moves if move.certainty is Certainty.POSSIBLE]
    if doubtful:
        counts = {"count": len(doubtful), "total": len(plan.moves)}
        ordered = any(move.why.id == "align.reason_order" for move in doubtful)
        blocks.append(Text(message("convert.by_order" if ordered else "convert.doubtful", **counts)))
        if not converted.dry:
            blocks.append(_moves(message("convert.table_doubtful"), doubtful[:_SHOWN]))
    if converted.dropped:
        columns = [message("convert.column_name"), message("convert.column_why")]
        rows = list(_grouped(converted.dropped))
        blocks.append(Table(message("convert.table_dropped", count=len(converted.dropped)), columns, rows))
    table = _moves(message("convert.table_moves", count=len(plan.moves)), plan.moves[:_MOST_ROWS])
    blocks.append(table if converted.dry else Folded(message("convert.table_moves", count=len(plan.moves)), [table]))
    if converted.dry and len(plan.moves) > _MOST_ROWS:
        blocks.append(Text(message("compare.more_left", count=len(plan.moves) - _MOST_ROWS)))
    return blocks


def _grouped(dropped: Sequence[Dropped]) -> Iterator[list[object]]:
    """One row for each reason, where several are dropped for the same."""
    groups: dict[str, list[Dropped]] = {}
    for left_out in dropped:
        groups.setdefault(left_out.why.text(), []).append(left_out)
    for same in groups.values():
        if len(same) > _ALIKE:
            yield [message("convert.and_more", name=same[0].name, count=len(same) - 1), same[0].why]
        else:
            yield from ([one.name, one.why] for one in same)


def _moves(title: Message, moves: Sequence[Move]) -> Table:
    columns = [
        message("convert.column_name"),
        message("convert.column_other"),
        message("convert.column_shape"),
        message("convert.column_done"),
        message("convert.column_why"),
        message("convert.column_sure"),
    ]
    rows = [
        [
            ", ".join(move.held.names) or "-",
            move.name if (move.name,) != move.held.names else "=",
            _shape(move.shape),
            "; ".join(part.text() for part in move.done) or "-",
            move.why,
            Message(f"compare.sure_{move.certainty.value}"),
        ]
        for move in moves
    ]
    doubtful = frozenset(place for place, move in enumerate(moves) if move.certainty is Certainty.POSSIBLE)
    return Table(title, columns, rows, doubtful)


def _lacking(title: str, left: Sequence[Lacking]) -> list[Block]:
    if not left:
        return []
    columns = [
        message("convert.column_name"),
        message("convert.column_own_shape"),
        message("convert.column_nearest"),
        message("convert.column_why"),
    ]
    rows = [
        [lacking.name, _shape(lacking.shape), lacking.nearest or "-", lacking.why or "-"] for lacking in left[:_SHOWN]
    ]
    blocks: list[Block] = [Table(Message(title, {"count": len(left)}), columns, rows)]
    if len(left) > _SHOWN:
        blocks.append(Text(message("compare.more_left", count=len(left) - _SHOWN)))
    return blocks


def _shape(shape: Sequence[int]) -> str:
    return "x".join(str(side) for side in shape) or "()"


def _move_json(move: Move) -> JsonObject:
    return {
        "name": move.held.names[0] if move.held.names else None,
        "parts": list(move.held.names),
        "other_name": move.name,
        "shape": list(move.held.shape),
        "other_shape": list(move.shape),
        "dtype": str(move.held.dtype),
        "done": [part.text() for part in move.done],
        "reason": move.why.text(),
        "certainty": move.certainty.value,
    }


def _lacking_json(lacking: Lacking) -> JsonObject:
    why = lacking.why.text() if lacking.why is not None else None
    return {"name": lacking.name, "shape": list(lacking.shape), "nearest": lacking.nearest, "reason": why}
