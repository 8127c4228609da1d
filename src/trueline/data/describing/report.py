"""A described dataset, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trueline.data.described import Classes, Described, Duplicates, Missing, Told
from trueline.data.describing.findings import ENOUGH_SAMPLES_PER_CLASS, findings_of, short_reason
from trueline.data.source import reason_message
from trueline.model.finding import roots
from trueline.model.message import Message, message
from trueline.model.report import Bars, Block, Folded, Report, Table, Text
from trueline.model.result import Exit, Result

_BARS: Final = 40
# A table of image sizes keeps to one screen.
_MAX_SHOWN_SIZES: Final = 15


def report(found: Described) -> Report:
    """What was found, then field by field."""
    title = message("describe.title", name=found.name)
    return Report(title, conclusion_of(found), findings_of(found), tuple(_blocks(found)))


def _blocks(found: Described) -> Iterator[Block]:
    yield _fields(found)
    sampled = next((field.sampled for field in found.fields if field.sampled is not None), None)
    if sampled is not None:
        yield Text(message("describe.sampled", rows=sampled, samples=found.samples))
    numbers = [field for field in found.fields if field.quantiles]
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
    rows: list[list[object]] = []
    for field in found.fields:
        missing = ", ".join(_short(missing_values) for missing_values in field.missing)
        distinct = field.distinct if field.sampled is None or field.distinct is None else f"~{field.distinct}"
        rows.append([field.name, field.kind, missing, distinct, field.low, field.high, field.mean, field.std])
    marked = frozenset(place for place, field in enumerate(found.fields) if field.missing or field.drift)
    columns = _columns("field", "kind", "missing", "distinct", "min", "max", "mean", "std")
    return Table(message("describe.fields", count=len(found.fields)), columns, rows, marked)


def _short(missing: Missing) -> str:
    word = {"nan": "NaN", "+inf": "Inf", "-inf": "-Inf"}.get(missing.kind, missing.kind)
    if missing.kind == "marker":
        word = f"{missing.marker!r}" + ("?" if missing.guessed else "")
    return f"{missing.count} {word}"


def _quantiles(fields: list[Told]) -> Folded:
    keys = list(fields[0].quantiles)
    columns = [
        *_columns("field"),
        *(message("describe.column_quantile", share=f"{float(key) * 100:g}") for key in keys),
    ]
    rows = [[field.name, *(field.quantiles.get(key) for key in keys)] for field in fields]
    title = message("describe.quantiles")
    return Folded(title, [Table(title, columns, rows)])


def _sequences(found: Described) -> Iterator[Block]:
    rows = []
    for field in found.fields:
        if field.lengths is None:
            continue
        padding = field.padding
        said = None
        if padding is not None:
            share = f"{padding.share * 100:.3g} %"
            side = message(f"describe.side_{padding.side}")
            said = message("describe.padded", side=side, value=f"{padding.value:g}", share=share, count=padding.samples)
        rows.append([field.name, field.lengths.least, field.lengths.most, field.lengths.mean, said])
    if rows:
        columns = _columns("field", "shortest", "longest", "mean", "padding")
        yield Table(message("describe.lengths"), columns, rows)


def _pictures(found: Described) -> Iterator[Block]:
    for field in found.fields:
        if field.pictures is None:
            continue
        rows = [
            [message("describe.size"), size, count]
            for size, count in list(field.pictures.sizes.items())[:_MAX_SHOWN_SIZES]
        ]
        rows += [[message("describe.mode"), mode, count] for mode, count in field.pictures.modes.items()]
        if len(field.pictures.sizes) > _MAX_SHOWN_SIZES:
            rows.append(
                [
                    message("describe.size"),
                    message("describe.more_sizes", count=len(field.pictures.sizes) - _MAX_SHOWN_SIZES),
                    None,
                ]
            )
        if field.pictures.broken:
            rows.append([message("describe.broken"), ", ".join(field.pictures.broken_first), field.pictures.broken])
        columns = _columns("what", "value", "count")
        yield Table(message("describe.pictures", field=field.name), columns, rows)


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
    small = sum(count < ENOUGH_SAMPLES_PER_CLASS for _, count in counts)
    if small:
        yield Text(message("describe.few", count=small, enough=ENOUGH_SAMPLES_PER_CLASS))


def _duplicates(found: Described) -> Iterator[Block]:
    duplicates = found.duplicates
    if duplicates is None:
        return
    if duplicates.share < 1:
        yield Text(message("describe.part", share=f"{duplicates.share * 100:.3g} %", count=duplicates.count))
    elif duplicates.count:
        yield Text(message("describe.repeated", count=duplicates.count))
    if duplicates.left_out:
        yield Text(message("describe.left_out", fields=", ".join(duplicates.left_out)))


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
        "fields": [_field_json(field) for field in found.fields],
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


def _field_json(field: Told) -> dict[str, object]:
    shape: dict[str, object] = {
        "name": field.name,
        "kind": field.kind,
        "type": field.type,
        "count": field.count,
        "missing": [
            {
                "kind": missing.kind,
                "count": missing.count,
                "first": list(missing.first),
                "marker": missing.marker,
                "guessed": missing.guessed,
            }
            for missing in field.missing
        ],
        "drift": [
            {"usual": drift.usual, "other": drift.other, "count": drift.count, "first": list(drift.first)}
            for drift in field.drift
        ],
        "distinct": field.distinct,
        "sampled": field.sampled,
        "min": field.low,
        "max": field.high,
        "mean": field.mean,
        "std": field.std,
        "quantiles": dict(field.quantiles),
    }
    if field.shapes:
        shape["shapes"] = dict(field.shapes)
    if field.lengths is not None:
        shape["lengths"] = {"min": field.lengths.least, "max": field.lengths.most, "mean": field.lengths.mean}
    if field.padding is not None:
        shape["padding"] = {
            "side": field.padding.side,
            "value": field.padding.value,
            "share": field.padding.share,
            "samples": field.padding.samples,
            "other_side": list(field.padding.other_side),
            "other_count": field.padding.other_count,
        }
    if field.pictures is not None:
        shape["pictures"] = {
            "sizes": dict(field.pictures.sizes),
            "modes": dict(field.pictures.modes),
            "odd": list(field.pictures.odd),
            "odd_sizes": list(field.pictures.odd_sizes),
            "broken": field.pictures.broken,
            "broken_first": list(field.pictures.broken_first),
        }
    return shape


def _classes_json(classes: Classes) -> dict[str, object]:
    return {
        "field": classes.field,
        "guessed": classes.guessed,
        "given": classes.given,
        "counts": [{"label": label, "count": count} for label, count in classes.counts],
        "std": classes.std,
        "ratio": classes.ratio,
        "strays": [
            {
                "label": stray.label,
                "count": stray.count,
                "first": stray.first,
                "like": stray.like,
                "certain": stray.certain,
            }
            for stray in classes.strays
        ],
        "one_hot": classes.one_hot,
        "not_one_hot": classes.not_one_hot,
        "not_one_hot_first": list(classes.not_one_hot_first),
    }


def _duplicates_json(duplicates: Duplicates) -> dict[str, object]:
    return {
        "count": duplicates.count,
        "first": [{"sample": sample, "earlier": earlier} for sample, earlier in duplicates.first],
        "conflicting_count": duplicates.conflicting_count,
        "conflicting": [
            {"sample": sample, "earlier": earlier, "label": label, "earlier_label": before}
            for sample, earlier, label, before in duplicates.conflicting
        ],
        "left_out": list(duplicates.left_out),
        "share": duplicates.share,
    }
