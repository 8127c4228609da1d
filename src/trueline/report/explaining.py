"""A code's page, and the list of all codes, as a Report and as a verb's answer."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Final

from trueline.checks.engine.evidence_words import ways_in_words
from trueline.checks.engine.listing import SECTIONS, Page, all_checks, experiment_of
from trueline.model.message import Message, message
from trueline.model.report import Report, Table, Text
from trueline.model.result import Result
from trueline.report.codes import FAMILIES, every_code, family, limits_of, page, watchpoint

HEADINGS: Final = (
    "explain.heading_looks_at",
    "explain.heading_why",
    "explain.heading_todo",
    "explain.heading_wrong_when",
)


def explained(code: str) -> tuple[Result, Report]:
    """What a code means, why it hurts, what to do, and when it is wrong."""
    told = page(code)
    conclusion = message("explain.explained", code=code, title=told.title)
    blocks = [
        Text(message("explain.section", heading=message(heading), text=" ".join(text.split())))
        for heading, text in zip(HEADINGS, told.sections, strict=True)
    ]
    blocks += [Text(said) for said in _deciding(code)]
    columns = [message("check.column_limit"), message("check.column_default")]
    limits = limits_of(code)
    tables = [Table(limits_title(code), columns, limits)] if limits else []
    result = Result("explain", conclusion, fields={"page": page_json(told)})
    return result, Report(message("explain.title"), conclusion, [], [*blocks, *tables])


def _deciding(code: str) -> Iterator[Message]:
    """What ends in No problem as well, what only finds problems, and the experiment that decides."""
    ways = [way for way in all_checks() if way.code == code]
    for said, decides in (("check.decided_from", True), ("check.found_from", False)):
        evidence = [way.evidence for way in ways if way.decides is decides]
        if evidence:
            yield message(said, kinds=ways_in_words(evidence))
    if ways and (experiment := experiment_of(code)) is not None:
        yield message("check.decided_by_experiment", command=experiment)


def limits_title(code: str) -> Message:
    """Where its limits are set."""
    if family(code) == "wp":
        return message("explain.limits_on", point=watchpoint(code))
    return message("check.limits")


def listed() -> tuple[Result, Report]:
    """All codes by family, a line each."""
    pages = [page(code) for code in every_code()]
    columns = [message("explain.column_code"), message("explain.column_title")]
    conclusion = message("explain.all_codes", count=len(pages))
    tables = [
        Table(family_title(name), columns, [[member.code, member.title] for member in members])
        for name, members in groupby(pages, lambda one: family(one.code))
    ]
    result = Result("explain", conclusion, fields={"pages": [page_json(one) for one in pages]})
    return result, Report(message("explain.title"), conclusion, [], tables)


def family_title(name: str) -> Message:
    """``cmp: comparison``; the mere name of a family that is a user's own."""
    if name not in FAMILIES:
        return message("explain.family_other", family=name)
    return message("explain.family", family=name, name=message(f"explain.family_{name}"))


def page_json(told: Page) -> dict[str, object]:
    """A page as JSON: its text, what can decide an item, and the limits that can be set."""
    ways = [check for check in all_checks() if check.code == told.code]
    return {
        "code": told.code,
        "title": told.title,
        **dict(zip(SECTIONS, told.sections, strict=True)),
        "decided_from": [list(way.evidence) for way in ways if way.decides],
        "found_from": [list(way.evidence) for way in ways if not way.decides],
        "decided_by": experiment_of(told.code) if ways else None,
        "limits": dict(limits_of(told.code)),
    }
