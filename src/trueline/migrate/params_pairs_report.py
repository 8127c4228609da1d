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


def result(pairs: SideBySide) -> Result:
    """For programs."""
    fields = {
        "sources": [pairs.a.source, pairs.b.source],
        "pairs": [_pair_json(pair) for pair in pairs.pairs],
        "only_a": [_alone_json(alone) for alone in pairs.only_a],
        "only_b": [_alone_json(alone) for alone in pairs.only_b],
        "totals": [totals_json(pairs.a.totals), totals_json(pairs.b.totals)],
    }
    findings = pairs_findings(pairs)
    return Result("params", _conclusion(pairs), Exit.PROBLEM if findings else Exit.FINE, findings, fields)


def report(pairs: SideBySide) -> Report:
    """For people: what differs on top, every pair below."""
    names = _names(pairs)
    title = message("params.title_two", a=names[0], b=names[1])
    return Report(title, _conclusion(pairs), pairs_findings(pairs), tuple(_blocks(pairs)))


def pairs_findings(pairs: SideBySide) -> list[Finding]:
    """What makes two networks of them."""
    a, b = _names(pairs)
    findings = []
    left = [[alone for alone in side if alone.why is None] for side in (pairs.only_a, pairs.only_b)]
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
    shapes = pairs.with_difference(Differs.SHAPE)
    if shapes:
        first_pair = shapes[0]
        said = message(
            "params.shapes",
            a=a,
            b=b,
            count=len(shapes),
            pairs=len(pairs.pairs),
            name=printable(first_pair.a.name),
            shape=shape_text(first_pair.a.shape),
            other_shape=shape_text(first_pair.b.shape),
        )
        findings.append(_on(first_pair, said, message("params.shapes_advice"), a))
    trained = pairs.with_difference(Differs.TRAINED)
    if trained:
        first_pair = trained[0]
        sides = (a, b) if first_pair.a.trainable else (b, a)
        name = printable(first_pair.a.name)
        counts = {"count": len(trained), "pairs": len(pairs.pairs)}
        said = message("params.trained", name=name, trains=sides[0], freezes=sides[1], **counts)
        findings.append(_on(first_pair, said, message("params.trained_advice"), a))
    return findings


def _on(pair: Paired, said: Message, advice: Message, side: str) -> Finding:
    where = Location(module=pair.a.path, side=side)
    return Finding(STRUCTURE, Conclusion.FOUND, said, advice=advice, where=where, extra={"other_module": pair.b.path})


def _names(pairs: SideBySide) -> tuple[str, str]:
    return side_names(Path(pairs.a.source), Path(pairs.b.source))


def _conclusion(pairs: SideBySide) -> Message:
    a, b = _names(pairs)
    if not pairs.pairs:
        return message("params.nothing_in_common", a=a, b=b)
    findings = pairs_findings(pairs)
    if findings:
        return findings[0].message
    elements = f"{sum(pair.b.count for pair in pairs.pairs):,}"
    return message("params.same", a=a, b=b, count=len(pairs.pairs), elements=elements)


def _blocks(pairs: SideBySide) -> Iterator[Block]:
    a, b = _names(pairs)
    yield from _alone(pairs.only_a, a, b)
    yield from _alone(pairs.only_b, b, a)
    if pairs.pairs:
        yield _table(pairs)
    if len(pairs.pairs) > _ROWS:
        yield Text(message("params.more_rows", count=len(pairs.pairs) - _ROWS))
    other_layout = [pair for pair in pairs.pairs if pair.layout not in (None, Layout.SAME)]
    if other_layout:
        paired = other_layout[0]
        shapes = {"shape": shape_text(paired.a.shape), "other_shape": shape_text(paired.b.shape)}
        yield Text(message("params.layouts", count=len(other_layout), name=printable(paired.a.name), **shapes))
    dtypes = pairs.with_difference(Differs.DTYPE)
    if dtypes:
        paired = dtypes[0]
        name = printable(paired.a.name)
        yield Text(
            message("params.dtypes", count=len(dtypes), name=name, dtype=paired.a.dtype, other_dtype=paired.b.dtype)
        )
    if pairs.ignored:
        yield Text(message("params.ignored", count=pairs.ignored))
    yield totals_table([pairs.a, pairs.b])


def _alone(left: Sequence[Alone], side: str, other: str) -> Iterator[Block]:
    if not left:
        return
    excused = any(tensor.why is not None for tensor in left)
    columns = [message(f"params.column_{name}") for name in ("name", "layer", "shape", "dtype")]
    columns += [message("params.column_nearest", side=other), *([message("params.column_why_not")] if excused else [])]
    # What counts comes first: the rest is only there to be complete.
    ordered = sorted(left, key=lambda tensor: tensor.why is not None)[:_LEFTOVERS]
    rows = []
    for alone in ordered:
        row = [alone.one.name, with_doubt(alone.one), shape_text(alone.one.shape), alone.one.dtype]
        near = alone.nearest if alone.why is None else None
        rows.append([*row, near or "", *([alone.why or ""] if excused else [])])
    marked = frozenset(place for place, tensor in enumerate(ordered) if tensor.why is None)
    yield Table(message("params.only", side=side, count=len(left)), columns, rows, marked)
    if len(left) > _LEFTOVERS:
        yield Text(message("params.more_rows", count=len(left) - _LEFTOVERS))


def _table(found: SideBySide) -> Table:
    pairs = found.pairs[:_ROWS]
    renamed = any(pair.a.name != pair.b.name for pair in pairs)
    differing = any(pair.differs for pair in pairs)
    columns = [message("params.column_name")]
    if renamed:
        columns += [message("params.column_other"), message("params.column_reason")]
    columns += [message(f"params.column_{name}") for name in ("layer", "shape", "dtype", "trainable")]
    columns += [message("params.column_differs")] if differing else []
    rows = [_row(pair, renamed, differing) for pair in pairs]
    marked = frozenset(place for place, pair in enumerate(pairs) if pair.counts)
    return Table(message("params.pairs", count=len(found.pairs)), columns, rows, marked)


def _row(pair: Paired, renamed: bool, differing: bool) -> list[object]:
    row: list[object] = [pair.a.name]
    if renamed:
        row += [pair.b.name if pair.a.name != pair.b.name else "", _reason(pair)]
    row += [with_doubt(pair.b) or with_doubt(pair.a), _both(shape_text(pair.a.shape), shape_text(pair.b.shape))]
    row += [_both(pair.a.dtype, pair.b.dtype), _trainable(pair)]
    return [*row, ", ".join(_word(what) for what in pair.differs)] if differing else row


def _reason(pair: Paired) -> Message | str:
    """Why they are a pair, where not for their names; marked where that is not certain."""
    if pair.pair.reason is Reason.NAME:
        return ""
    return message(
        "params.doubtful", what=message(f"params.reason_{pair.pair.reason.value}"), mark=doubt(pair.pair.certainty)
    )


def _trainable(pair: Paired) -> Message | str:
    here, there = yes_or_no(pair.a.trainable), yes_or_no(pair.b.trainable)
    return here if here == there else message("params.both", a=here, b=there)


def _both(a: str, b: str) -> str:
    return a if a == b else f"{a} / {b}"


def _word(what: Differs) -> str:
    return message(f"params.differs_{what.value}").text()


def _pair_json(pair: Paired) -> JsonObject:
    return {
        "name": pair.a.name,
        "other_name": pair.b.name,
        "reason": pair.pair.reason.value,
        "certainty": pair.pair.certainty.value,
        "layout": pair.layout.value if pair.layout is not None else None,
        "layer": [pair.a.layer or None, pair.b.layer or None],
        "shape": [list(pair.a.shape), list(pair.b.shape)],
        "dtype": [pair.a.dtype, pair.b.dtype],
        "trainable": [pair.a.trainable, pair.b.trainable],
        "differs": [what.value for what in pair.differs],
    }


def _alone_json(alone: Alone) -> JsonObject:
    return {
        "name": alone.one.name,
        "layer": alone.one.layer or None,
        "shape": list(alone.one.shape),
        "dtype": alone.one.dtype,
        "nearest": alone.nearest,
        "counts": alone.why is None,
        "why": alone.why.text() if alone.why is not None else None,
    }
