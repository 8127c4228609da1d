"""An item's page as a Report and as a verb's answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trueline.checks.engine.evidence_words import ways_in_words
from trueline.checks.engine.listing import SECTIONS, Page, all_checks, codes, experiment_of, page
from trueline.model.message import Message, message
from trueline.model.report import Report, Table, Text
from trueline.model.result import Result

HEADINGS = ("check.heading_looks_at", "check.heading_why", "check.heading_todo", "check.heading_wrong_when")


def explained(code: str) -> tuple[Result, Report]:
    """What an item asks, why, what to do, and when it is wrong."""
    told = page(code)
    conclusion = message("check.explained", code=code, title=told.title)
    blocks = [
        Text(message("check.section", heading=message(heading), text=" ".join(text.split())))
        for heading, text in zip(HEADINGS, told.sections, strict=True)
    ]
    blocks += [Text(said) for said in _deciding(code)]
    columns = [message("check.column_limit"), message("check.column_default")]
    limits = limits_of(code)
    tables = [Table(message("check.limits"), columns, limits)] if limits else []
    result = Result("explain", conclusion, fields={"page": page_json(told)})
    return result, Report(message("check.title"), conclusion, [], [*blocks, *tables])


def _deciding(code: str) -> Iterator[Message]:
    """What ends in No problem as well, what only finds problems, and the experiment that decides."""
    for said, decides in (("check.decided_from", True), ("check.found_from", False)):
        ways = [way.evidence for way in all_checks() if way.code == code and way.decides is decides]
        if ways:
            yield message(said, kinds=ways_in_words(ways))
    if (experiment := experiment_of(code)) is not None:
        yield message("check.decided_by_experiment", command=experiment)


def limits_of(code: str) -> list[tuple[str, Any]]:
    """The limits of all its ways, each once, with their defaults."""
    return list({name: value for one in all_checks() if one.code == code for name, value in one.limits.items()}.items())


def listed() -> tuple[Result, Report]:
    """All items, a line each."""
    pages = [page(code) for code in codes()]
    columns = [message("check.column_code"), message("check.column_item")]
    conclusion = message("check.all_items", count=len(pages))
    rows = [[one.code, one.title] for one in pages]
    result = Result("explain", conclusion, fields={"pages": [page_json(one) for one in pages]})
    return result, Report(message("check.title"), conclusion, [], [Table(message("check.table"), columns, rows)])


def page_json(told: Page) -> dict[str, object]:
    """A page as JSON: its text, what can decide the item, and the limits that can be set."""
    ways = [one for one in all_checks() if one.code == told.code]
    return {
        "code": told.code,
        "title": told.title,
        **dict(zip(SECTIONS, told.sections, strict=True)),
        "decided_from": [list(way.evidence) for way in ways if way.decides],
        "found_from": [list(way.evidence) for way in ways if not way.decides],
        "decided_by": experiment_of(told.code),
        "limits": dict(limits_of(told.code)),
    }
