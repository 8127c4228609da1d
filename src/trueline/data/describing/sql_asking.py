"""What is asked of all rows of a table at once, column by column: counts, ends, sums, and what may be missing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from trueline.data.describing.samples import TableSample
from trueline.data.describing.terms import Terms
from trueline.data.describing.wanted import QUANTILES
from trueline.data.source import Cell
from trueline.data.sources.relation import Form
from trueline.data.sources.tables import TableSource

# As many columns as are asked for at once: a question of thousands of terms takes long to plan.
_COLUMNS: Final = 50
NUMERIC: Final = ("integer", "number", "mixed")
# What is to be known, and the SQL of it.
Question = Mapping[str, str]


def ask(source: TableSource, terms: Sequence[Terms], sample: TableSample) -> list[dict[str, object]]:
    """The main scan: for every column its own questions, all in as few queries as can be."""
    found: list[dict[str, Cell]] = []
    nulls = source.nulls_in_footers()
    for start in range(0, len(terms), _COLUMNS):
        some = terms[start : start + _COLUMNS]
        known, left = _from_footers(source, some, [_questions(term, sample) for term in some], nulls)
        found += [{**answer, **more} for answer, more in zip(known, answers(source, left), strict=True)]
    if sample.exact and not sample.small:
        # One column at a time, because all values of it are held.
        source.duck.use_all_memory()
        found = [{**answer, **answers(source, [_exactly(term)])[0]} for answer, term in zip(found, terms, strict=True)]
    return found


def answers(source: TableSource, questions: Sequence[Question], where: str = "true") -> list[dict[str, Cell]]:
    """One query for all of them."""
    terms = [sql for question in questions for sql in question.values()]
    found = iter(source.duck.unordered(_select(source, terms, where))[0] if terms else ())
    return [{key: _counted(sql, next(found)) for key, sql in question.items()} for question in questions]


def _counted(sql: str, found: object) -> object:
    """Of no rows at all, DuckDB gives no count of those of which something is true."""
    return 0 if found is None and sql.startswith("count") else found


def _select(source: TableSource, terms: Iterable[str], where: str = "true") -> str:
    return f"SELECT {', '.join(terms)} FROM {source.relation.sql} WHERE {where}"


def _from_footers(
    source: TableSource, terms: Sequence[Terms], questions: Sequence[Question], nulls: Mapping[str, int]
) -> tuple[list[dict[str, object]], list[Question]]:
    """What footers of Parquet files tell without a scan: nulls, least and largest values; and what is left to ask."""
    known: list[dict[str, Cell]] = []
    ends: list[dict[str, str]] = []
    for term, asked in zip(terms, questions, strict=True):
        has = term.column.name in nulls
        count = source.relation.length - nulls.get(term.column.name, 0)
        known.append({key: count for key, sql in asked.items() if has and sql == f"count({term.raw})"})
        plain = (f"min({term.raw})", f"max({term.raw})")
        ends.append({key: sql for key, sql in asked.items() if has and sql in plain})
    if any(ends) and source.duck.scans(_select(source, [sql for end in ends for sql in end.values()])):
        ends = [{} if end and source.duck.scans(_select(source, end.values())) else end for end in ends]
    known = [{**answer, **more} for answer, more in zip(known, answers(source, ends), strict=True)]
    left: list[Question] = [
        {key: sql for key, sql in asked.items() if key not in answer}
        for answer, asked in zip(known, questions, strict=True)
    ]
    return known, left


def _questions(terms: Terms, sample: TableSample) -> dict[str, str]:
    raw = terms.raw
    asked = {"there": f"count({raw})"}
    if terms.kind in NUMERIC:
        asked |= _of_numbers(terms, sample)
    if terms.kind in ("text", "mixed"):
        asked |= _of_texts(terms)
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
    if terms.kind in NUMERIC:
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
        **sums(number, sample.pivot(terms.column.name)),
    }
    if terms.kind == "mixed":
        value = terms.number
        asked |= {
            "numbers": f"count({value})",
            "nan": f"count_if({terms.is_nan})",
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


def sums(number: str, pivot: float) -> dict[str, str]:
    """The sum of a column and of its squares, both away from a number amid its values."""
    apart = f"({number} - {pivot!r}::DOUBLE)" if pivot else f"({number})"
    return {"sum": f"sum({apart})", "squares": f"sum({apart} * {apart})"}


def _of_texts(terms: Terms) -> dict[str, str]:
    asked = {"empty": f"count_if({terms.is_empty})", "marked": f"count_if({terms.is_marked})"}
    if terms.kind == "mixed":
        asked["texts"] = f"count_if({terms.is_text})"
    return asked
