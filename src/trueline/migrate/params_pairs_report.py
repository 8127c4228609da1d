"""Two parameter tables side by side, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from trueline.compare.align import Layout, Reason
from trueline.compare.wording import side_names
from trueline.formats.printable import printable
from trueline.migrate.params_cells import doubt, shape_text, with_doubt, yes_or_no
from trueline.migrate.params_pairs import Alone, Differs, Paired, SideBySide
from trueline.migrate.params_report import totals_json, totals_table
from trueline.model.finding import Conclusion, Finding
from trueline.model.json_value import JsonObject
from trueline.model.location import Location
from trueline.model.message import Message, message
from trueline.model.report import Block, Report, Table, Text
from trueline.model.result import Exit, Result

STRUCTURE: Final = "cmp.06"
_ROWS: Final = 5000
_LEFTOVERS: Final = 200


def result(found: SideBySide) -> Result:
    """For programs."""
    fields = {
        "sources": [found.a.source, found.b.source],
        "pairs": [_pair_json(one) for one in found.pairs],
        "only_a": [_alone_json(one) for one in found.only_a],
        "only_b": [_alone_json(one) for one in found.only_b],
        "totals": [totals_json(found.a.totals), totals_json(found.b.totals)],
    }
    findings = pairs_findings(found)
    return Result("params", _conclusion(found), Exit.PROBLEM if findings else Exit.FINE, findings, fields)


def report(found: SideBySide) -> Report:
    """For people: what differs on top, every pair below."""
    names = _names(found)
    title = message("params.title_two", a=names[0], b=names[1])
    return Report(title, _conclusion(found), pairs_findings(found), tuple(_blocks(found)))


def pairs_findings(found: SideBySide) -> list[Finding]:
    """What makes two networks of them."""
    a, b = _names(found)
    findings = []
    left = [[one for one in side if one.why is None] for side in (found.only_a, found.only_b)]
    if left[0] or left[1]:
        first = (left[0] or left[1])[0]
        said = message(
            "params.left",
            a=a,
            b=b,
            only_a=len(left[0]),
            only_b=len(left[1]),
            name=printable(first.one.name),
            nearest=printable(first.nearest) if first.nearest is not None else "-",
        )
        where = Location(module=first.one.path, side=a if left[0] else b)
        findings.append(Finding(STRUCTURE, Conclusion.FOUND, said, advice=message("params.left_advice"), where=where))
    shapes = found.with_difference(Differs.SHAPE)
    if shapes:
        first_pair = shapes[0]
        said = message(
            "params.shapes",
            a=a,
            b=b,
            count=len(shapes),
            pairs=len(found.pairs),
            name=printable(first_pair.a.name),
            shape=shape_text(first_pair.a.shape),
            other_shape=shape_text(first_pair.b.shape),
        )
        findings.append(_on(first_pair, said, message("params.shapes_advice"), a))
    trained = found.with_difference(Differs.TRAINED)
    if trained:
        first_pair = trained[0]
        sides = (a, b) if first_pair.a.trainable else (b, a)
        name = printable(first_pair.a.name)
        counts = {"count": len(trained), "pairs": len(found.pairs)}
        said = message("params.trained", name=name, trains=sides[0], freezes=sides[1], **counts)
        findings.append(_on(first_pair, said, message("params.trained_advice"), a))
    return findings


def _on(one: Paired, said: Message, advice: Message, side: str) -> Finding:
    where = Location(module=one.a.path, side=side)
    return Finding(STRUCTURE, Conclusion.FOUND, said, advice=advice, where=where, extra={"other_module": one.b.path})


def _names(found: SideBySide) -> tuple[str, str]:
    return side_names(Path(found.a.source), Path(found.b.source))


def _conclusion(found: SideBySide) -> Message:
    a, b = _names(found)
    if not found.pairs:
        return message("params.nothing_in_common", a=a, b=b)
    findings = pairs_findings(found)
    if findings:
        return findings[0].message
    elements = f"{sum(one.b.count for one in found.pairs):,}"
    return message("params.same", a=a, b=b, count=len(found.pairs), elements=elements)


def _blocks(found: SideBySide) -> Iterator[Block]:
    a, b = _names(found)
    yield from _alone(found.only_a, a, b)
    yield from _alone(found.only_b, b, a)
    if found.pairs:
        yield _table(found)
    if len(found.pairs) > _ROWS:
        yield Text(message("params.more_rows", count=len(found.pairs) - _ROWS))
    other_layout = [one for one in found.pairs if one.layout not in (None, Layout.SAME)]
    if other_layout:
        one = other_layout[0]
        shapes = {"shape": shape_text(one.a.shape), "other_shape": shape_text(one.b.shape)}
        yield Text(message("params.layouts", count=len(other_layout), name=printable(one.a.name), **shapes))
    dtypes = found.with_difference(Differs.DTYPE)
    if dtypes:
        one = dtypes[0]
        name = printable(one.a.name)
        yield Text(message("params.dtypes", count=len(dtypes), name=name, dtype=one.a.dtype, other_dtype=one.b.dtype))
    if found.ignored:
        yield Text(message("params.ignored", count=found.ignored))
    yield totals_table([found.a, found.b])


def _alone(left: Sequence[Alone], side: str, other: str) -> Iterator[Block]:
    if not left:
        return
    excused = any(one.why is not None for one in left)
    columns = [message(f"params.column_{name}") for name in ("name", "layer", "shape", "dtype")]
    columns += [message("params.column_nearest", side=other), *([message("params.column_why_not")] if excused else [])]
    # What counts comes first: the rest is only there to be complete.
    ordered = sorted(left, key=lambda one: one.why is not None)[:_LEFTOVERS]
    rows = []
    for one in ordered:
        row = [one.one.name, with_doubt(one.one), shape_text(one.one.shape), one.one.dtype]
        near = one.nearest if one.why is None else None
        rows.append([*row, near or "", *([one.why or ""] if excused else [])])
    marked = frozenset(place for place, one in enumerate(ordered) if one.why is None)
    yield Table(message("params.only", side=side, count=len(left)), columns, rows, marked)
    if len(left) > _LEFTOVERS:
        yield Text(message("params.more_rows", count=len(left) - _LEFTOVERS))


def _table(found: SideBySide) -> Table:
    pairs = found.pairs[:_ROWS]
    renamed = any(one.a.name != one.b.name for one in pairs)
    differing = any(one.differs for one in pairs)
    columns = [message("params.column_name")]
    if renamed:
        columns += [message("params.column_other"), message("params.column_reason")]
    columns += [message(f"params.column_{name}") for name in ("layer", "shape", "dtype", "trainable")]
    columns += [message("params.column_differs")] if differing else []
    rows = [_row(one, renamed, differing) for one in pairs]
    marked = frozenset(place for place, one in enumerate(pairs) if one.counts)
    return Table(message("params.pairs", count=len(found.pairs)), columns, rows, marked)


def _row(one: Paired, renamed: bool, differing: bool) -> list[object]:
    row: list[object] = [one.a.name]
    if renamed:
        row += [one.b.name if one.a.name != one.b.name else "", _reason(one)]
    row += [with_doubt(one.b) or with_doubt(one.a), _both(shape_text(one.a.shape), shape_text(one.b.shape))]
    row += [_both(one.a.dtype, one.b.dtype), _trainable(one)]
    return [*row, ", ".join(_word(what) for what in one.differs)] if differing else row


def _reason(one: Paired) -> Message | str:
    """Why they are a pair, where not for their names; marked where that is not certain."""
    if one.pair.reason is Reason.NAME:
        return ""
    return message(
        "params.doubtful", what=message(f"params.reason_{one.pair.reason.value}"), mark=doubt(one.pair.certainty)
    )


def _trainable(one: Paired) -> Message | str:
    here, there = yes_or_no(one.a.trainable), yes_or_no(one.b.trainable)
    return here if here == there else message("params.both", a=here, b=there)


def _both(a: str, b: str) -> str:
    return a if a == b else f"{a} / {b}"


def _word(what: Differs) -> str:
    return message(f"params.differs_{what.value}").text()


def _pair_json(one: Paired) -> JsonObject:
    return {
        "name": one.a.name,
        "other_name": one.b.name,
        "reason": one.pair.reason.value,
        "certainty": one.pair.certainty.value,
        "layout": one.layout.value if one.layout is not None else None,
        "layer": [one.a.layer or None, one.b.layer or None],
        "shape": [list(one.a.shape), list(one.b.shape)],
        "dtype": [one.a.dtype, one.b.dtype],
        "trainable": [one.a.trainable, one.b.trainable],
        "differs": [what.value for what in one.differs],
    }


def _alone_json(one: Alone) -> JsonObject:
    return {
        "name": one.one.name,
        "layer": one.one.layer or None,
        "shape": list(one.one.shape),
        "dtype": one.one.dtype,
        "nearest": one.nearest,
        "counts": one.why is None,
        "why": one.why.text() if one.why is not None else None,
    }
