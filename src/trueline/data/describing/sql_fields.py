"""Columns of a table told by SQL: what the answers make of each, and more questions where something is to be told."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from trueline.data.described import Drift, Lengths, Missing, Told
from trueline.data.describing import markers
from trueline.data.describing.samples import TableSample
from trueline.data.describing.sql_asking import NUMERIC, answers, sums
from trueline.data.describing.terms import Terms
from trueline.data.describing.wanted import NAMED_SAMPLES, QUANTILES
from trueline.data.source import Cell
from trueline.data.sources.duck import quoted
from trueline.data.sources.relation import Form
from trueline.data.sources.tables import TableSource

Answer = Mapping[str, Cell]
# The mean and the spread of numbers so much smaller can be told, whatever they are.
_SMALLER = 2.0**-1000


def tell(source: TableSource, terms: Terms, answer: Answer, sample: TableSample, *, is_label: bool) -> Told:
    """A column, from its answers and a few more questions where something is to be told."""
    terms, drift = _settled(source, terms, answer)
    if terms.kind in NUMERIC:
        answer = _finite_again(source, terms, answer, sample)
    missing = _missing(source, terms, answer, sample, is_label=is_label)
    name = terms.column.name
    numbers = _numbers(source, terms, answer, sample) if terms.kind in NUMERIC else {}
    if terms.kind == "boolean" and answer["there"]:
        share = answer["true"] / answer["there"]
        numbers = {"low": int(share == 1), "high": int(share > 0), "mean": share, "std": math.sqrt(share * (1 - share))}
    if terms.kind == "time":
        numbers = {end: None if answer[end] is None else str(answer[end]) for end in ("low", "high")}
    lengths = None
    if terms.kind == "text":
        lengths = _lengths(answer, sample, name)
    kind = terms.kind
    if kind == "mixed":
        kind = "number" if answer.get("fractions") else "integer"
    elif kind == "number" and answer["there"] and not sample.fractions(name) and _whole(numbers):
        kind = "integer"
    counted = kind not in ("bytes", "other")
    return Told(
        name=name,
        kind=kind,
        type=terms.column.type if terms.column.form is Form.TYPED else kind,
        count=source.relation.length,
        missing=missing,
        drift=[] if is_label else drift,
        distinct=(answer["distinct"] if sample.exact else sample.distinct(name)) if counted else None,
        sampled=None if sample.exact or not counted else sample.rows,
        lengths=lengths,
        **numbers,
    )


def _whole(numbers: Mapping[str, Cell]) -> bool:
    return all(float(numbers[bound]).is_integer() for bound in ("low", "high") if numbers.get(bound) is not None)


def _settled(source: TableSource, terms: Terms, answer: Answer) -> tuple[Terms, list[Drift]]:
    """What a column of text really is, and what in it is of another type."""
    if terms.kind != "mixed":
        return terms, []
    counts = {
        "number": answer["numbers"],
        "text": answer["texts"],
        "boolean": answer.get("booleans", 0),
        "sequence": answer.get("sequences", 0),
        "other": answer.get("others", 0),
    }
    usual = max(counts, key=lambda word: counts[word])
    if not counts[usual]:
        return replace(terms, kind="text" if answer["there"] else "other"), []
    conditions = {
        "number": f"{terms.number} IS NOT NULL",
        "text": terms.is_text,
        "boolean": f"{terms.raw} IN ('true', 'false')",
        "sequence": f"{terms.raw}[1] = '['",
        "other": f"{terms.raw}[1] = '{{'",
    }
    whole = sum(counts.values())
    # A number is a text as well, unless its file says which is which.
    strict = terms.column.form is Form.JSON
    drift = [
        Drift(usual, word, count, first(source, conditions[word]), counts[usual] / whole)
        for word, count in counts.items()
        if count and word != usual and (strict or usual == "number")
    ]
    kind = {"number": "mixed", "boolean": "other", "sequence": "other"}.get(usual, usual)
    return replace(terms, kind=kind), drift


def first(source: TableSource, condition: str) -> list[int]:
    """The first samples of which something is true."""
    row = source.relation.row
    found = source.duck.rows(
        f"SELECT {row} AS r FROM {source.relation.sql} WHERE {condition} ORDER BY r LIMIT {NAMED_SAMPLES}"
    )
    return [int(sample) for sample in source.gaps.samples([row for (row,) in found])]


def _finite_again(source: TableSource, terms: Terms, answer: Answer, sample: TableSample) -> Answer:
    """The numbers of a column of floats once more, without what is not finite, where the sum says there is such."""
    odd = answer.get("odd", 0)
    total = answer.get("sum")
    if terms.kind == "mixed" or not terms.is_float or (not odd and (total is None or math.isfinite(total))):
        return answer
    number = terms.finite
    asked = {
        "low": f"min({number})",
        "high": f"max({number})",
        "count": f"count({number})",
        **sums(number, sample.pivot(terms.column.name)),
        "nan": f"count_if({terms.is_nan})",
        "+inf": f"count_if({terms.number} = 'inf'::DOUBLE)",
        "-inf": f"count_if({terms.number} = '-inf'::DOUBLE)",
    }
    return {**answer, **answers(source, [asked])[0]}


def _missing(
    source: TableSource, terms: Terms, answer: Answer, sample: TableSample, *, is_label: bool
) -> list[Missing]:
    null = source.relation.length - answer["there"]
    empty = f"octet_length({terms.raw}) = 0" if terms.kind == "bytes" else terms.is_empty
    kinds = [("null", null, f"{terms.raw} IS NULL"), ("empty", answer.get("empty", 0), empty)]
    if terms.kind in NUMERIC:
        kinds += [
            ("nan", answer.get("nan", 0), terms.is_nan),
            ("+inf", answer.get("+inf", 0), f"{terms.number} = 'inf'::DOUBLE"),
            ("-inf", answer.get("-inf", 0), f"{terms.number} = '-inf'::DOUBLE"),
        ]
    found = [Missing(kind, count, first(source, condition)) for kind, count, condition in kinds if count]
    for place, marker in enumerate(terms.given):
        if count := answer[f"given{place}"]:
            found.append(Missing("marker", count, first(source, terms.is_one(marker)), marker))
    if answer.get("marked") and not (is_label and terms.kind == "text"):
        found += _texts_guessed(source, terms)
    if terms.kind in NUMERIC and not is_label:
        found += _numbers_guessed(source, terms, answer, sample)
    return found


def _texts_guessed(source: TableSource, terms: Terms) -> list[Missing]:
    where = f"{terms.is_marked} AND NOT {terms.is_given}"
    sql = f"SELECT {terms.text} AS t, count(*) FROM {source.relation.sql} WHERE {where} GROUP BY t ORDER BY t"
    return [
        Missing("marker", count, first(source, f"{where} AND {terms.text} = {quoted(text)}"), text, guessed=True)
        for text, count in source.duck.rows(sql)
    ]


def _numbers_guessed(source: TableSource, terms: Terms, answer: Answer, sample: TableSample) -> list[Missing]:
    """Where the least or largest number may be a marker, a closer look at the column."""
    ends = {float(answer[end]) for end in ("low", "high") if answer[end] is not None} & set(markers.NUMBERS)
    # Values of all rows lie no closer together than those of some: what is no marker there is none here.
    seen = sample.spread(terms.column.name)
    if not ends or (seen is not None and not markers.guess(dict.fromkeys(ends, int(answer["count"] or 0)), seen)):
        return []
    counts = [f"count_if({terms.finite} = {value!r}::DOUBLE)" for value in markers.NUMBERS]
    known = ", ".join(f"{value!r}::DOUBLE" for value in markers.NUMBERS)
    others = f"CASE WHEN {terms.finite} NOT IN ({known}) THEN {terms.finite} END"
    (row,) = source.duck.unordered(
        f"SELECT {', '.join(counts)}, min({others}), max({others}) FROM {source.relation.sql}"
    )
    *times, low, high = row
    if low is None:
        return []
    distinct = answer["distinct"] if sample.exact else sample.distinct(terms.column.name)
    spread = markers.Spread(float(low), float(high), answer["count"], distinct, sample.fractions(terms.column.name))
    found = dict(zip(markers.NUMBERS, times, strict=True))
    return [
        Missing("marker", found[value], first(source, f"{terms.finite} = {value!r}::DOUBLE"), int(value), guessed=True)
        for value in markers.guess(found, spread)
    ]


def _mean_and_spread(source: TableSource, terms: Terms, answer: Answer, pivot: float) -> tuple[float, float]:
    """Of a column's finite numbers; those whose sum or squares a float cannot hold are made smaller for it."""
    if math.isfinite(answer["sum"]) and math.isfinite(answer["squares"]):
        mean = answer["sum"] / answer["count"]
        return pivot + mean, math.sqrt(max(0.0, answer["squares"] / answer["count"] - mean * mean))
    small = f"({terms.finite}) * {_SMALLER!r}::DOUBLE"
    asked = {"mean": f"avg({small})", "std": f"stddev_pop({small})"}
    found = answers(source, [asked])[0]
    return found["mean"] / _SMALLER, found["std"] / _SMALLER


def _numbers(source: TableSource, terms: Terms, answer: Answer, sample: TableSample) -> dict[str, Cell]:
    if not answer["count"]:
        return {}
    name = terms.column.name
    mean, std = _mean_and_spread(source, terms, answer, sample.pivot(name))
    quantiles = sample.quantiles(name)
    if sample.exact:
        keys = (f"{share:g}" for share in QUANTILES)
        quantiles = dict(zip(keys, map(float, answer["quantiles"] or ()), strict=False))
    whole = terms.kind == "integer" or (terms.kind == "mixed" and not answer["fractions"])
    return {
        # Parquet's footers have -0.0 as the least number where it is 0.
        "low": int(answer["low"]) if whole else float(answer["low"]) + 0.0,
        "high": int(answer["high"]) if whole else float(answer["high"]) + 0.0,
        "mean": mean,
        "std": std,
        "quantiles": quantiles,
    }


def _lengths(answer: Answer, sample: TableSample, name: str) -> Lengths | None:
    if sample.exact:
        if answer.get("longest") is None:
            return None
        return Lengths(answer["shortest"], answer["longest"], float(answer["length"]))
    lengths = [len(value) for value in sample.values(name) if isinstance(value, str)]
    return Lengths(min(lengths), max(lengths), sum(lengths) / len(lengths)) if lengths else None
