"""A described dataset for programs."""

from __future__ import annotations

from typing import Any

from trueline.data.described import Classes, Described, Duplicates, Told
from trueline.data.describing.findings import findings_of, short_reason
from trueline.model.finding import roots
from trueline.model.message import Message, message
from trueline.model.result import Exit, Result


def result_of(found: Described) -> Result:
    """The answer of the verb."""
    findings = findings_of(found)
    fields = {
        "source": found.name,
        "kind": found.kind,
        "samples": found.samples,
        "fields": [_field(one) for one in found.fields],
        "classes": _classes(found.classes) if found.classes is not None else None,
        "duplicates": _duplicates(found.duplicates) if found.duplicates is not None else None,
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


def _field(one: Told) -> dict[str, Any]:
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


def _classes(one: Classes) -> dict[str, Any]:
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


def _duplicates(one: Duplicates) -> dict[str, Any]:
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
