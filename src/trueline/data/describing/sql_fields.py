"""Columns of a table told by SQL: what is asked of all rows at once, and what the answers make of each column."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from trueline.data.described import Drift, Lengths, Missing, Told
from trueline.data.describing import markers
from trueline.data.describing.samples import TableSample
from trueline.data.describing.terms import Terms
from trueline.data.describing.wanted import FIRST, QUANTILES
from trueline.data.sources.duck import quoted
from trueline.data.sources.relation import Form
from trueline.data.sources.tables import TableSource

# As many columns as are asked for at once: a question of thousands of terms takes long to plan.
_COLUMNS: Final = 50
_NUMERIC: Final = ("integer", "number", "mixed")
Answer = Mapping[str, Any]


def ask(source: TableSource, terms: Sequence[Terms], sample: TableSample) -> list[dict[str, Any]]:
    """The main scan: for every column its own questions, all in as few queries as can be."""
    known = source.in_footers()
    answers: list[dict[str, Any]] = []
    for start in range(0, len(terms), _COLUMNS):
        some = terms[start : start + _COLUMNS]
        asked = [_questions(one, sample) for one in some]
        # Apart from the others, DuckDB answers these from the footers of Parquet files, without a scan.
        footed = [
            {key: sql for key, sql in one.items() if column.column.name in known and _in_footer(key, sql, column)}
            for one, column in zip(asked, some, strict=True)
        ]
        scanned = [
            {key: sql for key, sql in one.items() if key not in apart} for one, apart in zip(asked, footed, strict=True)
        ]
        answers += [
            {**one, **more} for one, more in zip(_answers(source, footed), _answers(source, scanned), strict=True)
        ]
    if sample.exact and not sample.small:
        # One column at a time, because all values of it are held.
        source.duck.use_all_memory()
        answers = [{**one, **_answers(source, [_exactly(each)])[0]} for one, each in zip(answers, terms, strict=True)]
    return answers


def _in_footer(key: str, sql: str, terms: Terms) -> bool:
    return sql in {
        "there": f"count({terms.raw})",
        "count": f"count({terms.raw})",
        "low": f"min({terms.raw})",
        "high": f"max({terms.raw})",
    }.get(key, ())


def _answers(source: TableSource, questions: Sequence[Mapping[str, str]], where: str = "true") -> list[dict[str, Any]]:
    """One query for all of them."""
    terms = [sql for one in questions for sql in one.values()]
    sql = f"SELECT {', '.join(terms)} FROM {source.relation.sql} WHERE {where}"
    found = iter(source.duck.unordered(sql)[0] if terms else ())
    return [{key: next(found) for key in one} for one in questions]


def _questions(terms: Terms, sample: TableSample) -> dict[str, str]:
    raw = terms.raw
    asked = {"there": f"count({raw})"}
    if terms.kind in _NUMERIC:
        asked |= _of_numbers(terms, sample)
    if terms.kind in ("text", "mixed"):
        asked |= _of_texts(terms, sample)
    if terms.kind == "boolean":
        asked["true"] = f"count_if({raw})"
    if terms.kind == "time":
        asked |= {"low": f"min({raw})", "high": f"max({raw})"}
    if terms.kind == "bytes":
        asked["empty"] = f"count_if(octet_length({raw}) = 0)"
    for place, marker in enumerate(terms.given):
        asked[f"given{place}"] = f"count_if({terms.is_one(marker)})"
    return {**asked, **_exactly(terms)} if sample.small else asked


def _exactly(terms: Terms) -> dict[str, str]:
    """What costs much of large tables."""
    asked = {}
    if terms.kind not in ("bytes", "other"):
        asked["distinct"] = f"count(DISTINCT {terms.raw})"
    if terms.kind in _NUMERIC:
        asked["quantiles"] = f"quantile_cont({terms.finite}, {list(QUANTILES)})"
    if terms.kind in ("text", "mixed"):
        asked |= {
            "shortest": f"min(length({terms.text}))",
            "longest": f"max(length({terms.text}))",
            "length": f"avg(length({terms.text}))",
        }
    return asked


def _of_numbers(terms: Terms, sample: TableSample) -> dict[str, str]:
    # What is not finite shows in the sum: only then is it counted, column by column.
    number = terms.finite if terms.kind == "mixed" or terms.given_numbers else terms.number
    plain = terms.kind != "mixed" and not terms.given_numbers
    asked = {
        "low": f"min({terms.raw if plain else number})",
        "high": f"max({terms.raw if plain else number})",
        "count": f"count({number})" if not plain else f"count({terms.raw})",
        **_sums(number, sample.pivot(terms.column.name)),
    }
    if terms.kind == "mixed":
        value = terms.number
        asked |= {
            "numbers": f"count({value})",
            "nan": f"count_if(isnan({value}))",
            "+inf": f"count_if({value} = 'inf'::DOUBLE)",
            "-inf": f"count_if({value} = '-inf'::DOUBLE)",
            "fractions": f"count_if({number} <> trunc({number}))",
        }
        if terms.column.form is Form.JSON:
            asked |= {
                "booleans": f"count_if({terms.raw} IN ('true', 'false'))",
                "sequences": f"count_if({terms.raw}[1] = '[')",
                "others": f"count_if({terms.raw}[1] = '{{')",
            }
    elif terms.given_numbers and terms.is_float:
        asked["odd"] = f"count_if(NOT isfinite({terms.raw}))"
    return asked


def _sums(number: str, pivot: float) -> dict[str, str]:
    apart = f"({number} - {pivot!r}::DOUBLE)" if pivot else f"({number})"
    return {"sum": f"sum({apart})", "squares": f"sum({apart} * {apart})"}


def _of_texts(terms: Terms, sample: TableSample) -> dict[str, str]:
    if terms.kind == "text" and not sample.small:
        # A quick look: what begins with a blank or is short is looked at again, as far as there is such.
        return {"short": f"count_if({_is_short(terms)})"}
    asked = {"empty": f"count_if({terms.is_empty})", "marked": f"count_if({terms.is_marked})"}
    if terms.kind == "mixed":
        asked["texts"] = f"count_if({terms.is_text})"
    return asked


def _is_short(terms: Terms) -> str:
    return f"({terms.raw} < '!' OR strlen({terms.raw}) <= {markers.LONGEST_TEXT})"


def tell(source: TableSource, terms: Terms, answer: Answer, sample: TableSample, *, is_label: bool) -> Told:
    """A column, from its answers and a few more questions where something is to be told."""
    terms, drift = _settled(source, terms, answer)
    if answer.get("short"):
        again = {"empty": f"count_if({terms.is_empty})", "marked": f"count_if({terms.is_marked})"}
        answer = {**answer, **_answers(source, [again], _is_short(terms))[0]}
    if terms.kind in _NUMERIC:
        answer = _finite_again(source, terms, answer, sample)
    missing = _missing(source, terms, answer, sample, is_label=is_label)
    name = terms.column.name
    numbers = _numbers(terms, answer, sample) if terms.kind in _NUMERIC else {}
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


def _whole(numbers: Mapping[str, Any]) -> bool:
    return all(float(numbers[one]).is_integer() for one in ("low", "high") if numbers.get(one) is not None)


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
    found = source.duck.rows(f"SELECT {row} AS r FROM {source.relation.sql} WHERE {condition} ORDER BY r LIMIT {FIRST}")
    return [int(one) for one in source.gaps.samples([row for (row,) in found])]


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
        **_sums(number, sample.pivot(terms.column.name)),
        "nan": f"count_if(isnan({terms.raw}))",
        "+inf": f"count_if({terms.number} = 'inf'::DOUBLE)",
        "-inf": f"count_if({terms.number} = '-inf'::DOUBLE)",
    }
    return {**answer, **_answers(source, [asked])[0]}


def _missing(
    source: TableSource, terms: Terms, answer: Answer, sample: TableSample, *, is_label: bool
) -> list[Missing]:
    null = source.relation.length - answer["there"]
    empty = f"octet_length({terms.raw}) = 0" if terms.kind == "bytes" else terms.is_empty
    kinds = [("null", null, f"{terms.raw} IS NULL"), ("empty", answer.get("empty", 0), empty)]
    if terms.kind in _NUMERIC:
        kinds += [
            ("nan", answer.get("nan", 0), f"isnan({terms.number})"),
            ("+inf", answer.get("+inf", 0), f"{terms.number} = 'inf'::DOUBLE"),
            ("-inf", answer.get("-inf", 0), f"{terms.number} = '-inf'::DOUBLE"),
        ]
    found = [Missing(kind, count, first(source, condition)) for kind, count, condition in kinds if count]
    for place, marker in enumerate(terms.given):
        if count := answer[f"given{place}"]:
            found.append(Missing("marker", count, first(source, terms.is_one(marker)), marker))
    if answer.get("marked") and not (is_label and terms.kind == "text"):
        found += _texts_guessed(source, terms)
    if terms.kind in _NUMERIC and not is_label:
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
    if not ends or (seen is not None and not markers.guess(dict.fromkeys(ends, 1), seen)):
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
    spread = markers.Spread(float(low), float(high), distinct, sample.fractions(terms.column.name))
    found = dict(zip(markers.NUMBERS, times, strict=True))
    return [
        Missing("marker", found[value], first(source, f"{terms.finite} = {value!r}::DOUBLE"), int(value), guessed=True)
        for value in markers.guess(found, spread)
    ]


def _numbers(terms: Terms, answer: Answer, sample: TableSample) -> dict[str, Any]:
    count = answer["count"]
    if not count:
        return {}
    mean = answer["sum"] / count
    variance = max(0.0, answer["squares"] / count - mean * mean)
    name = terms.column.name
    quantiles = sample.quantiles(name)
    if sample.exact:
        keys = (f"{share:g}" for share in QUANTILES)
        quantiles = dict(zip(keys, map(float, answer["quantiles"] or ()), strict=False))
    whole = terms.kind == "integer" or (terms.kind == "mixed" and not answer["fractions"])
    return {
        "low": int(answer["low"]) if whole else float(answer["low"]),
        "high": int(answer["high"]) if whole else float(answer["high"]),
        "mean": sample.pivot(name) + mean,
        "std": math.sqrt(variance),
        "quantiles": quantiles,
    }


def _lengths(answer: Answer, sample: TableSample, name: str) -> Lengths | None:
    if sample.exact:
        if answer.get("longest") is None:
            return None
        return Lengths(answer["shortest"], answer["longest"], float(answer["length"]))
    lengths = [len(one) for one in sample.values(name) if isinstance(one, str)]
    return Lengths(min(lengths), max(lengths), sum(lengths) / len(lengths)) if lengths else None
