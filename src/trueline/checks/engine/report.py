"""The filled-in checklist for people, and as a verb's answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import reduce
from typing import Any

from trueline.checks.engine.checklist import Checklist, Row
from trueline.checks.engine.evidence_words import kinds_in_words
from trueline.checks.engine.gathering import CUT_OFF, IN_PART
from trueline.checks.engine.listing import page
from trueline.model.finding import Conclusion, Finding
from trueline.model.message import Message, message
from trueline.model.report import Report, Table, Text
from trueline.model.result import Exit, Result


def conclusion_of(checklist: Checklist) -> Message:
    """One sentence."""
    problems = checklist.problems
    rows = Counter(row.conclusion for row in checklist.rows)
    counts = message(
        "check.counts",
        items=len(checklist.rows),
        **{conclusion.value: rows[conclusion] for conclusion in Conclusion},
    )
    if not problems:
        return message("check.nothing_found", counts=counts)
    codes = ", ".join(dict.fromkeys(one.code for one in problems))
    return message("check.something_found", found=len(problems), codes=codes, counts=counts)


def result(checklist: Checklist, verb: str = "check") -> Result:
    """The answer of the verb."""
    return Result(
        verb,
        conclusion_of(checklist),
        exit_of(checklist),
        checklist.findings,
        {
            "items": [_row_json(row) for row in checklist.rows],
            "ignored": [_ignored_json(one) for one in checklist.ignored],
            "looked_at": dict(checklist.looked_at),
            "notes": [one.text() for one in checklist.notes],
        },
    )


def exit_of(checklist: Checklist) -> Exit:
    """A problem where one was found; fine only where all of a run was recorded."""
    if checklist.problems:
        return Exit.PROBLEM
    return Exit.BAD_INPUT if any(one.id in (CUT_OFF, IN_PART) for one in checklist.notes) else Exit.FINE


def report(checklist: Checklist) -> Report:
    """Problems first, then the whole list."""
    told = [one for one in checklist.findings if one.conclusion is Conclusion.FOUND]
    suspects = [one for one in checklist.findings if one.conclusion is Conclusion.SUSPECT]
    marked = frozenset(at for at, row in enumerate(checklist.rows) if row.conclusion is Conclusion.FOUND)
    columns = [message(f"check.column_{one}") for one in ("code", "item", "conclusion", "evidence")]
    rows = [[row.code, _title(row), row.conclusion.word, _stands_on(row)] for row in checklist.rows]
    blocks: list[Any] = [Table(message("check.table"), columns, rows, marked)]
    blocks += [Text(_not_agreed(row)) for row in checklist.rows if not row.agree]
    blocks += [Text(one) for one in checklist.notes]
    if checklist.ignored:
        blocks.append(Text(message("check.ignored", count=len(checklist.ignored), codes=_codes(checklist.ignored))))
    return Report(
        message("check.title"),
        conclusion_of(checklist),
        [*told, *suspects],
        blocks,
        asked=[row.code for row in checklist.rows],
        ignored=checklist.ignored,
        errors=[
            message("check.row_crashed", said=finding.message, error=finding.error)
            for finding in checklist.findings
            if finding.error is not None
        ],
        warnings=checklist.notes,
    )


def _not_agreed(row: Row) -> Message:
    """Who says what of an item, where not all say the same."""
    says = [
        message("check.one_says", kind=kinds_in_words(kind.split(" + ")), conclusion=conclusion.word)
        for kind, conclusion in row.by.items()
        if conclusion in (Conclusion.FOUND, Conclusion.NONE)
    ]
    said = reduce(lambda before, one: message("check.and_says", before=before, said=one), says)
    return message("check.not_agreed", code=row.code, said=said)


def _codes(findings: Sequence[Finding]) -> str:
    return ", ".join(dict.fromkeys(one.code for one in findings))


def _title(row: Row) -> str:
    return page(row.code).title.rstrip(".。")


def _stands_on(row: Row) -> Message:
    """What the item's conclusion stands on, in a few words: the finding that speaks for it."""
    speaks = row.speaks
    place = f"{speaks.where.file}:{speaks.where.line}  " if speaks.where.file and speaks.where.line else ""
    if speaks.error is not None:
        return message("check.row_crashed", said=speaks.message, error=speaks.error)
    if speaks.conclusion is Conclusion.OPEN and speaks.advice is not None:
        return message("check.row_open", place=place, said=speaks.message, deciding=speaks.advice)
    if speaks.because is not None:
        return message("check.row_follows", place=place, said=speaks.message, root=speaks.because)
    return message("check.row", place=place, said=speaks.message)


def _row_json(row: Row) -> dict[str, Any]:
    return {
        "code": row.code,
        "title": _title(row),
        "conclusion": row.conclusion.value,
        "word": row.conclusion.word.text(),
        "said": row.speaks.message.text(),
        "decided_by": row.speaks.advice.text() if row.conclusion is Conclusion.OPEN and row.speaks.advice else None,
        "by": {kind: one.value for kind, one in row.by.items()},
        "agree": row.agree,
    }


def _ignored_json(one: Finding) -> dict[str, Any]:
    return {"code": one.code, "file": one.where.file, "line": one.where.line, "message": one.message.text()}
