"""A described dataset, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from trueline.data.described import Classes, Described, Duplicates, Missing, Told
from trueline.data.describing.findings import ENOUGH, findings_of, short_reason
from trueline.data.source import reason_message
from trueline.model.finding import roots
from trueline.model.message import Message, message
from trueline.model.report import Bars, Block, Folded, Report, Table, Text
from trueline.model.result import Exit, Result

_BARS: Final = 40
_SHOWN: Final = 15


def report(found: Described) -> Report:
    """What was found, then field by field."""
    title = message("describe.title", name=found.name)
    return Report(title, conclusion_of(found), findings_of(found), tuple(_blocks(found)))


def _blocks(found: Described) -> Iterator[Block]:
    yield _fields(found)
    sampled = next((one.sampled for one in found.fields if one.sampled is not None), None)
    if sampled is not None:
        yield Text(message("describe.sampled", rows=sampled, samples=found.samples))
    numbers = [one for one in found.fields if one.quantiles]
    if numbers:
        yield _quantiles(numbers)
    yield from _sequences(found)
    yield from _pictures(found)
    if found.classes is not None:
        yield from _classes(found.classes)
    yield from _duplicates(found)
    if found.skipped.counts:
        yield _skipped(found)


def _columns(*names: str) -> list[Message]:
    return [message(f"describe.column_{name}") for name in names]


def _fields(found: Described) -> Table:
    rows: list[list[Any]] = []
    for one in found.fields:
        missing = ", ".join(_short(each) for each in one.missing)
        distinct = one.distinct if one.sampled is None or one.distinct is None else f"~{one.distinct}"
        rows.append([one.name, one.kind, missing, distinct, one.low, one.high, one.mean, one.std])
    marked = frozenset(place for place, one in enumerate(found.fields) if one.missing or one.drift)
    columns = _columns("field", "kind", "missing", "distinct", "min", "max", "mean", "std")
    return Table(message("describe.fields", count=len(found.fields)), columns, rows, marked)


def _short(one: Missing) -> str:
    word = {"nan": "NaN", "+inf": "Inf", "-inf": "-Inf"}.get(one.kind, one.kind)
    if one.kind == "marker":
        word = f"{one.marker!r}" + ("?" if one.guessed else "")
    return f"{one.count} {word}"


def _quantiles(fields: list[Told]) -> Folded:
    keys = list(fields[0].quantiles)
    columns = [
        *_columns("field"),
        *(message("describe.column_quantile", share=f"{float(key) * 100:g}") for key in keys),
    ]
    rows = [[one.name, *(one.quantiles.get(key) for key in keys)] for one in fields]
    title = message("describe.quantiles")
    return Folded(title, [Table(title, columns, rows)])


def _sequences(found: Described) -> Iterator[Block]:
    rows = []
    for one in found.fields:
        if one.lengths is None:
            continue
        padding = one.padding
        said = None
        if padding is not None:
            share = f"{padding.share * 100:.3g} %"
            side = message(f"describe.side_{padding.side}")
            said = message("describe.padded", side=side, value=f"{padding.value:g}", share=share, count=padding.samples)
        rows.append([one.name, one.lengths.least, one.lengths.most, one.lengths.mean, said])
    if rows:
        columns = _columns("field", "shortest", "longest", "mean", "padding")
        yield Table(message("describe.lengths"), columns, rows)


def _pictures(found: Described) -> Iterator[Block]:
    for one in found.fields:
        if one.pictures is None:
            continue
        rows = [[message("describe.size"), size, count] for size, count in list(one.pictures.sizes.items())[:_SHOWN]]
        rows += [[message("describe.mode"), mode, count] for mode, count in one.pictures.modes.items()]
        if len(one.pictures.sizes) > _SHOWN:
            rows.append(
                [message("describe.size"), message("describe.more_sizes", count=len(one.pictures.sizes) - _SHOWN), None]
            )
        if one.pictures.broken:
            rows.append([message("describe.broken"), ", ".join(one.pictures.broken_first), one.pictures.broken])
        columns = _columns("what", "value", "count")
        yield Table(message("describe.pictures", field=one.name), columns, rows)


def _classes(classes: Classes) -> Iterator[Block]:
    counts = list(classes.counts)
    title = message("describe.classes", field=classes.field, count=len(counts))
    shown = counts if len(counts) <= _BARS else [*counts[: _BARS // 2], *counts[-_BARS // 2 :]]
    few = frozenset(place for place, (_, count) in enumerate(shown) if count * 10 <= counts[0][1])
    yield Bars(title, [str(label) for label, _ in shown], [count for _, count in shown], few)
    if len(shown) < len(counts):
        yield Text(message("describe.more_classes", count=len(counts) - len(shown)))
        columns = _columns("label", "count")
        every = Table(message("describe.all_classes"), columns, [[str(label), count] for label, count in counts])
        yield Folded(message("describe.all_classes"), [every])
    yield Text(message("describe.spread", std=classes.std, ratio=f"{classes.ratio:.3g}"))
    if classes.guessed:
        yield Text(message("describe.label_guessed", field=classes.field))
    small = sum(count < ENOUGH for _, count in counts)
    if small:
        yield Text(message("describe.few", count=small, enough=ENOUGH))


def _duplicates(found: Described) -> Iterator[Block]:
    one = found.duplicates
    if one is None:
        return
    if one.share < 1:
        yield Text(message("describe.part", share=f"{one.share * 100:.3g} %", count=one.count))
    elif one.count:
        yield Text(message("describe.repeated", count=one.count))
    if one.left_out:
        yield Text(message("describe.left_out", fields=", ".join(one.left_out)))


def _skipped(found: Described) -> Table:
    rows = [
        [reason_message(reason), count, ", ".join(found.skipped.places[reason])]
        for reason, count in found.skipped.counts.items()
    ]
    return Table(message("describe.stepped_over"), _columns("reason", "count", "first"), rows)


def result(found: Described) -> Result:
    """The answer of the verb."""
    findings = findings_of(found)
    fields = {
        "source": found.name,
        "kind": found.kind,
        "samples": found.samples,
        "fields": [_field_json(one) for one in found.fields],
        "classes": _classes_json(found.classes) if found.classes is not None else None,
        "duplicates": _duplicates_json(found.duplicates) if found.duplicates is not None else None,
        "skipped": [
            {"reason": short_reason(reason), "count": count, "places": found.skipped.places[reason]}
            for reason, count in found.skipped.counts.items()
        ],
    }
    ended = Exit.PROBLEM if roots(findings) else Exit.FINE
    return Result("data describe", conclusion_of(found), ended, findings, fields)


def conclusion_of(found: Described) -> Message:
    """One sentence: what it is, and how many problems."""
    problems = len(roots(findings_of(found)))
    params = {"name": found.name, "samples": found.samples, "fields": len(found.fields)}
    if problems:
        return message("describe.problems", count=problems, **params)
    return message("describe.fine", **params)


def _field_json(one: Told) -> dict[str, Any]:
    shape: dict[str, Any] = {
        "name": one.name,
        "kind": one.kind,
        "type": one.type,
        "count": one.count,
        "missing": [
            {
                "kind": each.kind,
                "count": each.count,
                "first": list(each.first),
                "marker": each.marker,
                "guessed": each.guessed,
            }
            for each in one.missing
        ],
        "drift": [
            {"usual": each.usual, "other": each.other, "count": each.count, "first": list(each.first)}
            for each in one.drift
        ],
        "distinct": one.distinct,
        "sampled": one.sampled,
        "min": one.low,
        "max": one.high,
        "mean": one.mean,
        "std": one.std,
        "quantiles": dict(one.quantiles),
    }
    if one.shapes:
        shape["shapes"] = dict(one.shapes)
    if one.lengths is not None:
        shape["lengths"] = {"min": one.lengths.least, "max": one.lengths.most, "mean": one.lengths.mean}
    if one.padding is not None:
        shape["padding"] = {
            "side": one.padding.side,
            "value": one.padding.value,
            "share": one.padding.share,
            "samples": one.padding.samples,
            "other_side": list(one.padding.other_side),
            "other_count": one.padding.other_count,
        }
    if one.pictures is not None:
        shape["pictures"] = {
            "sizes": dict(one.pictures.sizes),
            "modes": dict(one.pictures.modes),
            "odd": list(one.pictures.odd),
            "odd_sizes": list(one.pictures.odd_sizes),
            "broken": one.pictures.broken,
            "broken_first": list(one.pictures.broken_first),
        }
    return shape


def _classes_json(one: Classes) -> dict[str, Any]:
    return {
        "field": one.field,
        "guessed": one.guessed,
        "given": one.given,
        "counts": [{"label": label, "count": count} for label, count in one.counts],
        "std": one.std,
        "ratio": one.ratio,
        "strays": [
            {
                "label": each.label,
                "count": each.count,
                "first": each.first,
                "like": each.like,
                "certain": each.certain,
            }
            for each in one.strays
        ],
        "one_hot": one.one_hot,
        "not_one_hot": one.not_one_hot,
        "not_one_hot_first": list(one.not_one_hot_first),
    }


def _duplicates_json(one: Duplicates) -> dict[str, Any]:
    return {
        "count": one.count,
        "first": [{"sample": sample, "earlier": earlier} for sample, earlier in one.first],
        "conflicting_count": one.conflicting_count,
        "conflicting": [
            {"sample": sample, "earlier": earlier, "label": label, "earlier_label": before}
            for sample, earlier, label, before in one.conflicting
        ],
        "left_out": list(one.left_out),
        "share": one.share,
    }
