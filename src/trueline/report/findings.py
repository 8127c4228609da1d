"""Findings as lines in the order that matters: roots with what follows from them, then what stayed open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trueline.model.finding import Certainty, Conclusion, Finding, roots
from trueline.model.location import Location
from trueline.model.message import Message, message
from trueline.report.shown import say, shown

Line = tuple[int, str, str]
# What is neither found nor cleared, in the order of its weight.
_UNSETTLED = {Conclusion.SUSPECT: "yellow", Conclusion.OPEN: "yellow", Conclusion.NA: "dim"}
# The family of pair: what it measures is relative to the benchmark's largest value.
_RELATIVE_ERRORS = "pr."
_CERTAINTY = {Certainty.LIKELY: message("report.likely"), Certainty.POSSIBLE: message("report.possible")}


def finding_lines(findings: Sequence[Finding], lang: str | None = None) -> Iterator[Line]:
    """Indent, text and style of every line."""
    top = roots(findings)
    shown_codes = {root.code for root in top}
    told: set[str] = set()
    for root in top:
        yield from _finding(root, "bold red", lang)
        following = [finding.code for finding in findings if finding.because == root.code]
        if following and root.code not in told:
            told.add(root.code)
            codes = ", ".join(dict.fromkeys(following))
            yield 4, say(message("report.following", count=len(following), codes=codes), lang), "dim"
    for finding in findings:
        if (
            finding.conclusion is Conclusion.FOUND
            and finding.because is not None
            and finding.because not in shown_codes
        ):
            yield from _finding(finding, "red", lang)
    for conclusion, style in _UNSETTLED.items():
        for finding in findings:
            if finding.conclusion is conclusion:
                yield from _finding(finding, style, lang)
    passed = dict.fromkeys(finding.code for finding in findings if finding.conclusion is Conclusion.NONE)
    if passed:
        word = say(Conclusion.NONE.word, lang)
        yield 0, f"{word}: {', '.join(passed)}", "green"


def _finding(finding: Finding, style: str, lang: str | None) -> Iterator[Line]:
    sure = _CERTAINTY.get(finding.certainty) if finding.conclusion is Conclusion.FOUND else None
    word = say(finding.conclusion.word, lang) + (f" ({say(sure, lang)})" if sure is not None else "")
    yield 0, f"{word}  {finding.code}  {say(finding.message, lang)}", style
    place = ", ".join(_places(finding.where, lang))
    if place:
        yield 4, place, ""
    if finding.measured is not None:
        yield 4, say(measured_message(finding, lang), lang), ""
    if finding.error is not None:
        yield 4, say(message("report.error", error=finding.error), lang), ""
    if finding.advice is not None:
        yield 4, say(finding.advice, lang), "green"


def measured_message(finding: Finding, lang: str | None) -> Message:
    """What was measured and how much is allowed."""
    measured, limit = finding.measured, finding.limit
    if finding.code.startswith(_RELATIVE_ERRORS) and isinstance(measured, float) and isinstance(limit, float):
        return message("report.relative_error", measured=f"{measured:#.2g}", limit=f"{limit:#.2g}")
    if limit is None:
        return message("report.measured_only", measured=shown(measured, lang))
    return message("report.measured", measured=shown(measured, lang), limit=shown(limit, lang))


def _places(where: Location, lang: str | None) -> Iterator[str]:
    if where.file:
        yield shown(str(where) if where.line else where.file)
    words: list[tuple[Message, object]] = [
        (message("report.where_module", module=where.module), where.module),
        (message("report.where_step", step=where.step), where.step),
        (message("report.where_rank", rank=where.rank), where.rank),
        (message("report.where_side", side=where.side), where.side),
        (message("report.where_sample", sample=where.sample), where.sample),
    ]
    for text, value in words:
        # The network itself has no path.
        if value is not None and value != "":
            yield say(text, lang)
