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
        return Exit.PROBLEM if left or any(one.conclusion is Conclusion.FOUND for one in self.findings) else Exit.FINE


def result(found: Converted, *, listed: bool = True) -> Result:
    """The JSON shape; every array only where that is ``listed``."""
    plan = found.plan
    if not listed:
        return Result("convert", _conclusion(found), found.exit, _findings(found))
    fields = {
        "written": str(found.output) if found.written else None,
        "names": plan.naming.value if plan.naming is not None else None,
        "stripped": plan.stripped,
        "mapped": [_move_json(one) for one in plan.moves],
        "missing": [_lacking_json(one) for one in plan.missing],
        "unexpected": [_lacking_json(one) for one in plan.unexpected],
        "dropped": [{"name": one.name, "reason": one.why.text()} for one in found.dropped],
    }
    return Result("convert", _conclusion(found), found.exit, _findings(found), {**fields, **found.fields})


def report(found: Converted) -> Report:
    """What a reader wants to see: what is in doubt and what is left first, every row where nothing is written."""
    title = message("convert.title", source=found.source.name, output=found.output.name)
    return Report(title, _conclusion(found), _findings(found), [*_blocks(found), *found.blocks])


def _conclusion(found: Converted) -> Message:
    plan = found.plan
    count = len(plan.moves)
    names = {"source": found.source.name, "output": found.output.name}
    if not plan.whole and not found.allowed:
        return message("convert.left_over", missing=len(plan.missing), unexpected=len(plan.unexpected), **names)
    changed = sum(1 for one in plan.moves if one.done or (one.name,) != one.held.names)
    if found.dry:
        return message("convert.would", count=count, changed=changed, **names)
    return message("convert.written", count=count, changed=changed, **names)


def _findings(found: Converted) -> list[Finding]:
    if found.plan.whole:
        return list(found.findings)
    first = next(iter((*found.plan.missing, *found.plan.unexpected)))
    conclusion = Conclusion.SUSPECT if found.allowed else Conclusion.FOUND
    text = message(
        "convert.finding_left",
        missing=len(found.plan.missing),
        unexpected=len(found.plan.unexpected),
        name=first.name,
        nearest=first.nearest or "-",
    )
    left = Finding(LEFT, conclusion, text, advice=message("convert.finding_left_advice"))
    return [left, *found.findings]


def _blocks(found: Converted) -> list[Block]:
    plan = found.plan
    blocks: list[Block] = []
    blocks += [Text(one) for one in found.notes]
    if found.beside:
        blocks.append(Text(message("convert.beside", count=found.beside)))
    if plan.stripped:
        blocks.append(Text(message("convert.stripped", prefix=plan.stripped)))
    blocks += _lacking("convert.table_missing", plan.missing) + _lacking("convert.table_unexpected", plan.unexpected)
    doubtful = [one for one in plan.moves if one.certainty is Certainty.POSSIBLE]
    if doubtful:
        counts = {"count": len(doubtful), "total": len(plan.moves)}
        ordered = any(one.why.id == "align.reason_order" for one in doubtful)
        blocks.append(Text(message("convert.by_order" if ordered else "convert.doubtful", **counts)))
        if not found.dry:
            blocks.append(_moves(message("convert.table_doubtful"), doubtful[:_SHOWN]))
    if found.dropped:
        columns = [message("convert.column_name"), message("convert.column_why")]
        rows = list(_grouped(found.dropped))
        blocks.append(Table(message("convert.table_dropped", count=len(found.dropped)), columns, rows))
    table = _moves(message("convert.table_moves", count=len(plan.moves)), plan.moves[:_MOST_ROWS])
    blocks.append(table if found.dry else Folded(message("convert.table_moves", count=len(plan.moves)), [table]))
    if found.dry and len(plan.moves) > _MOST_ROWS:
        blocks.append(Text(message("compare.more_left", count=len(plan.moves) - _MOST_ROWS)))
    return blocks


def _grouped(dropped: Sequence[Dropped]) -> Iterator[list[object]]:
    """One row for each reason, where several are dropped for the same."""
    groups: dict[str, list[Dropped]] = {}
    for one in dropped:
        groups.setdefault(one.why.text(), []).append(one)
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
            ", ".join(one.held.names) or "-",
            one.name if (one.name,) != one.held.names else "=",
            _shape(one.shape),
            "; ".join(part.text() for part in one.done) or "-",
            one.why,
            Message(f"compare.sure_{one.certainty.value}"),
        ]
        for one in moves
    ]
    doubtful = frozenset(place for place, one in enumerate(moves) if one.certainty is Certainty.POSSIBLE)
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
    rows = [[one.name, _shape(one.shape), one.nearest or "-", one.why or "-"] for one in left[:_SHOWN]]
    blocks: list[Block] = [Table(Message(title, {"count": len(left)}), columns, rows)]
    if len(left) > _SHOWN:
        blocks.append(Text(message("compare.more_left", count=len(left) - _SHOWN)))
    return blocks


def _shape(shape: Sequence[int]) -> str:
    return "x".join(str(side) for side in shape) or "()"


def _move_json(one: Move) -> JsonObject:
    return {
        "name": one.held.names[0] if one.held.names else None,
        "parts": list(one.held.names),
        "other_name": one.name,
        "shape": list(one.held.shape),
        "other_shape": list(one.shape),
        "dtype": str(one.held.dtype),
        "done": [part.text() for part in one.done],
        "reason": one.why.text(),
        "certainty": one.certainty.value,
    }


def _lacking_json(one: Lacking) -> JsonObject:
    why = one.why.text() if one.why is not None else None
    return {"name": one.name, "shape": list(one.shape), "nearest": one.nearest, "reason": why}
