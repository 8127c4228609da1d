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
        "parameters": [_json(tensor) for tensor in listing.tensors],
        "totals": totals_json(listing.totals),
        "sections": {name: totals_json(totals) for name, totals in listing.beside.items()},
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
    odd = [tensor for tensor in listing.tensors if tensor.summary is not None and tensor.summary.non_finite]
    if odd:
        yield Text(message("params.non_finite", count=len(odd), name=printable(odd[0].name), all=len(listing.tensors)))
    yield from _tables(listing, wide)
    if len(listing.tensors) > _ROWS:
        yield Text(message("params.more_rows", count=len(listing.tensors) - _ROWS))
    if any(tensor.certainty in (Certainty.LIKELY, Certainty.POSSIBLE) for tensor in listing.tensors):
        yield Text(message("params.doubt"))
    yield totals_table([listing])
    if listing.left_out:
        names = ", ".join(map(printable, listing.left_out[:_NAMES]))
        yield Text(message("params.left_out", count=len(listing.left_out), names=names))
    yield from _beside(listing)
    yield from _others(listing)


def _tables(listing: Listing, wide: bool) -> Iterator[Table]:
    shown = listing.tensors[:_ROWS]
    shared = any(listed.shared_with is not None or listed.aliases for listed in shown)
    odd = frozenset(
        place for place, listed in enumerate(shown) if listed.summary is not None and listed.summary.non_finite
    )
    columns = ["name", "layer", "shape", "dtype", "count", "trainable", *(["shared"] if shared else [])]
    numbers = ["min", "max", "mean", "std", "zeros", *(["non_finite"] if odd else [])]
    rows: list[list[object]] = []
    for tensor in shown:
        row = [
            tensor.name,
            with_doubt(tensor),
            shape_text(tensor.shape),
            tensor.dtype,
            tensor.count,
            yes_or_no(tensor.trainable),
        ]
        rows.append([*row, _shared(tensor)] if shared else row)
    title = message("params.table", count=len(listing.tensors))
    if not any(listed.summary is not None for listed in shown):
        yield _table(title, columns, rows)
        return
    measured = [_numbers(listed.summary, bool(odd)) for listed in shown]
    if wide:
        both = [[*row, *more] for row, more in zip(rows, measured, strict=True)]
        yield _table(title, [*columns, *numbers], both, odd)
        return
    yield _table(title, columns, rows, odd)
    named = [[listed.name, *more] for listed, more in zip(shown, measured, strict=True)]
    yield _table(message("params.statistics"), ["name", *numbers], named, odd)


def _table(
    title: Message, columns: Sequence[str], rows: Sequence[Sequence[object]], odd: frozenset[int] = frozenset()
) -> Table:
    return Table(title, [message(f"params.column_{column}") for column in columns], rows, odd)


def _shared(tensor: Listed) -> str:
    return ", ".join([*([tensor.shared_with] if tensor.shared_with is not None else []), *tensor.aliases])


def _numbers(summary: Summary | None, with_odd: bool) -> list[object]:
    if summary is None or not summary.count:
        return [None] * (5 + with_odd)
    odd = ", ".join(
        f"{count} {word}"
        for count, word in ((summary.nan, "NaN"), (summary.pos_inf, "Inf"), (summary.neg_inf, "-Inf"))
        if count
    )
    none = summary.count == summary.non_finite
    numbers = [
        None if none else few(number) for number in (summary.minimum, summary.maximum, summary.mean, summary.std)
    ]
    zeros = f"{summary.zero_share:.3g}" if summary.zeros else ""
    return [*numbers, zeros, *([odd] if with_odd else [])]


def totals_table(sides: Sequence[Listing]) -> Table:
    """What all tensors come to, of one side or of both."""
    totals = [listing.totals for listing in sides]
    rows: list[list[object]] = [
        [message("params.total_parameters"), *(total.parameters for total in totals)],
        [message("params.total_trainable"), *(_or_dash(total.trainable) for total in totals)],
        [message("params.total_buffers"), *(total.buffers for total in totals)],
        [message("params.total_elements"), *(total.elements for total in totals)],
        [message("params.total_tensors"), *(total.tensors for total in totals)],
        [message("params.total_bytes"), *(size_text(total.bytes) for total in totals)],
    ]
    columns = [
        message("params.column_total"),
        *(message("params.column_side", side=listing.source) for listing in sides),
    ]
    return Table(message("params.totals"), columns, rows)


def _or_dash(value: int | None) -> int | str:
    return "-" if value is None else value


def _beside(listing: Listing) -> Iterator[Block]:
    """What else the file holds, one line for each section."""
    if not listing.beside:
        return
    columns = [message(f"params.column_{name}") for name in ("section", "tensors", "count", "size")]
    rows = [
        [name or message("params.the_model"), totals.tensors, totals.elements, size_text(totals.bytes)]
        for name, totals in list(listing.beside.items())[:_ROWS]
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


def _json(tensor: Listed) -> dict[str, object]:
    return {
        "name": tensor.name,
        "layer": tensor.layer or None,
        "certainty": tensor.certainty.value if tensor.certainty is not None else None,
        "shape": list(tensor.shape),
        "dtype": tensor.dtype,
        "count": tensor.count,
        "trainable": tensor.trainable,
        "buffer": tensor.buffer,
        "shared_with": tensor.shared_with,
        "aliases": list(tensor.aliases),
        "summary": tensor.summary.to_json() if tensor.summary is not None else None,
    }
