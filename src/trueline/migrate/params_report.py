"""Parameter tables for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from trueline.formats.printable import printable
from trueline.migrate.params import Listed, Listing, Totals
from trueline.migrate.params_cells import few, plain_value, shape_text, size_text, with_doubt, yes_or_no
from trueline.model.finding import Certainty
from trueline.model.json_value import JsonObject
from trueline.model.message import Message, message
from trueline.model.report import Block, Report, Table, Text
from trueline.model.result import Result
from trueline.model.summary import Summary

_ROWS: Final = 5000
_VALUES: Final = 40
_NAMES: Final = 6


def result(listing: Listing) -> Result:
    """One table, for programs."""
    fields = {
        "source": listing.source,
        "format": listing.format,
        "section": listing.section,
        "parameters": [_json(one) for one in listing.tensors],
        "totals": totals_json(listing.totals),
        "sections": {name: totals_json(one) for name, one in listing.beside.items()},
        "others": {name: plain_value(value) for name, value in listing.others.items()},
        "left_out": list(listing.left_out),
    }
    return Result("params", _conclusion(listing), fields=fields)


def report(listing: Listing, *, wide: bool = True) -> Report:
    """One table, for people; where there is little room the statistics are a table of their own."""
    title = message("params.title", source=listing.source)
    return Report(title, _conclusion(listing), blocks=tuple(_blocks(listing, wide)))


def _conclusion(listing: Listing) -> Message:
    totals = listing.totals
    params = {
        "source": listing.source,
        "parameters": f"{totals.parameters:,}",
        "tensors": totals.tensors,
        "size": size_text(totals.bytes),
    }
    if listing.section:
        return message("params.of_section", section=listing.section, **params)
    if totals.trainable is None:
        return message("params.of_file", **params)
    return message("params.of_model", trainable=f"{totals.trainable:,}", **params)


def _blocks(listing: Listing, wide: bool) -> Iterator[Block]:
    odd = [one for one in listing.tensors if one.summary is not None and one.summary.non_finite]
    if odd:
        yield Text(message("params.non_finite", count=len(odd), name=printable(odd[0].name), all=len(listing.tensors)))
    yield from _tables(listing, wide)
    if len(listing.tensors) > _ROWS:
        yield Text(message("params.more_rows", count=len(listing.tensors) - _ROWS))
    if any(one.certainty in (Certainty.LIKELY, Certainty.POSSIBLE) for one in listing.tensors):
        yield Text(message("params.doubt"))
    yield totals_table([listing])
    if listing.left_out:
        names = ", ".join(map(printable, listing.left_out[:_NAMES]))
        yield Text(message("params.left_out", count=len(listing.left_out), names=names))
    yield from _beside(listing)
    yield from _others(listing)


def _tables(listing: Listing, wide: bool) -> Iterator[Table]:
    shown = listing.tensors[:_ROWS]
    shared = any(one.shared_with is not None or one.aliases for one in shown)
    odd = frozenset(place for place, one in enumerate(shown) if one.summary is not None and one.summary.non_finite)
    columns = ["name", "layer", "shape", "dtype", "count", "trainable", *(["shared"] if shared else [])]
    numbers = ["min", "max", "mean", "std", "zeros", *(["non_finite"] if odd else [])]
    rows: list[list[object]] = []
    for one in shown:
        row = [one.name, with_doubt(one), shape_text(one.shape), one.dtype, one.count, yes_or_no(one.trainable)]
        rows.append([*row, _shared(one)] if shared else row)
    title = message("params.table", count=len(listing.tensors))
    if not any(one.summary is not None for one in shown):
        yield _table(title, columns, rows)
        return
    measured = [_numbers(one.summary, bool(odd)) for one in shown]
    if wide:
        both = [[*row, *more] for row, more in zip(rows, measured, strict=True)]
        yield _table(title, [*columns, *numbers], both, odd)
        return
    yield _table(title, columns, rows, odd)
    named = [[one.name, *more] for one, more in zip(shown, measured, strict=True)]
    yield _table(message("params.statistics"), ["name", *numbers], named, odd)


def _table(
    title: Message, columns: Sequence[str], rows: Sequence[Sequence[object]], odd: frozenset[int] = frozenset()
) -> Table:
    return Table(title, [message(f"params.column_{column}") for column in columns], rows, odd)


def _shared(one: Listed) -> str:
    return ", ".join([*([one.shared_with] if one.shared_with is not None else []), *one.aliases])


def _numbers(found: Summary | None, with_odd: bool) -> list[object]:
    if found is None or not found.count:
        return [None] * (5 + with_odd)
    odd = ", ".join(
        f"{count} {word}"
        for count, word in ((found.nan, "NaN"), (found.pos_inf, "Inf"), (found.neg_inf, "-Inf"))
        if count
    )
    none = found.count == found.non_finite
    numbers = [None if none else few(one) for one in (found.minimum, found.maximum, found.mean, found.std)]
    zeros = f"{found.zero_share:.3g}" if found.zeros else ""
    return [*numbers, zeros, *([odd] if with_odd else [])]


def totals_table(sides: Sequence[Listing]) -> Table:
    """What all tensors come to, of one side or of both."""
    totals = [one.totals for one in sides]
    rows: list[list[object]] = [
        [message("params.total_parameters"), *(one.parameters for one in totals)],
        [message("params.total_trainable"), *(_or_dash(one.trainable) for one in totals)],
        [message("params.total_buffers"), *(one.buffers for one in totals)],
        [message("params.total_elements"), *(one.elements for one in totals)],
        [message("params.total_tensors"), *(one.tensors for one in totals)],
        [message("params.total_bytes"), *(size_text(one.bytes) for one in totals)],
    ]
    columns = [message("params.column_total"), *(message("params.column_side", side=one.source) for one in sides)]
    return Table(message("params.totals"), columns, rows)


def _or_dash(value: int | None) -> int | str:
    return "-" if value is None else value


def _beside(listing: Listing) -> Iterator[Block]:
    """What else the file holds, one line for each section."""
    if not listing.beside:
        return
    columns = [message(f"params.column_{name}") for name in ("section", "tensors", "count", "size")]
    rows = [
        [name or message("params.the_model"), one.tensors, one.elements, size_text(one.bytes)]
        for name, one in list(listing.beside.items())[:_ROWS]
    ]
    yield Table(message("params.beside"), columns, rows)


def _others(listing: Listing) -> Iterator[Block]:
    if not listing.others:
        return
    columns = [message("params.column_name"), message("params.column_value")]
    rows = [[name, str(plain_value(value))] for name, value in list(listing.others.items())[:_VALUES]]
    yield Table(message("params.others", count=len(listing.others)), columns, rows)
    if len(listing.others) > _VALUES:
        yield Text(message("params.more_rows", count=len(listing.others) - _VALUES))


def totals_json(totals: Totals) -> JsonObject:
    """The JSON shape of totals."""
    return {
        "tensors": totals.tensors,
        "elements": totals.elements,
        "parameters": totals.parameters,
        "trainable": totals.trainable,
        "buffers": totals.buffers,
        "bytes": totals.bytes,
    }


def _json(one: Listed) -> JsonObject:
    return {
        "name": one.name,
        "layer": one.layer or None,
        "certainty": one.certainty.value if one.certainty is not None else None,
        "shape": list(one.shape),
        "dtype": one.dtype,
        "count": one.count,
        "trainable": one.trainable,
        "buffer": one.buffer,
        "shared_with": one.shared_with,
        "aliases": list(one.aliases),
        "summary": one.summary.to_json() if one.summary is not None else None,
    }
