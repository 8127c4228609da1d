"""Findings as cards: roots first with what follows from them folded below, then what stayed open, then what passed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trueline.model.finding import Certainty, Conclusion, Finding
from trueline.model.location import Location
from trueline.model.message import message
from trueline.model.visible import visible
from trueline.report.findings import measured_message
from trueline.report.html.context import Context
from trueline.report.html.markup import Markup, element, joined

# What is neither found nor cleared, in the order of its weight.
_UNSETTLED = (Conclusion.SUSPECT, Conclusion.OPEN, Conclusion.NA)
_KINDS = {
    Conclusion.FOUND: "found",
    Conclusion.SUSPECT: "suspect",
    Conclusion.OPEN: "open",
    Conclusion.NA: "na",
}
_CERTAINTY = {Certainty.LIKELY: message("report.likely"), Certainty.POSSIBLE: message("report.possible")}


def findings_section(findings: Sequence[Finding], context: Context) -> Markup:
    """All findings; nothing where there are none."""
    if not findings:
        return Markup()
    cards = [_card(root, following, context.below()) for root, following in _families(findings)]
    passed = dict.fromkeys(finding.code for finding in findings if finding.conclusion is Conclusion.NONE)
    if passed:
        word = element("strong", context.say(Conclusion.NONE.word))
        cards.append(element("p", word, ": ", ", ".join(passed), class_="passed"))
    id = context.id()
    heading = context.heading(message("html.findings"), id)
    return element("section", heading, *cards, class_="findings", aria_labelledby=id)


def _families(findings: Sequence[Finding]) -> Iterator[tuple[Finding, list[Finding]]]:
    """Every finding that is shown, once: on its own or with the root it follows from, however indirectly."""
    shown = [finding for finding in findings if finding.conclusion is not Conclusion.NONE]
    by_cause: dict[str, list[Finding]] = {}
    for finding in shown:
        if finding.because is not None:
            by_cause.setdefault(finding.because, []).append(finding)
    told: set[int] = set()
    # A cause that is not among the findings, or causes in a circle, leave findings over: those stand alone.
    alone = [finding for finding in shown if finding.because is None] + [
        finding for finding in shown if finding.because is not None
    ]
    alone.sort(key=lambda finding: (_weight(finding.conclusion), finding.because is not None))
    for finding in alone:
        if id(finding) in told:
            continue
        told.add(id(finding))
        following: list[Finding] = []
        waiting = list(by_cause.get(finding.code, ()))
        while waiting:
            next_one = waiting.pop(0)
            if id(next_one) not in told:
                told.add(id(next_one))
                following.append(next_one)
                waiting.extend(by_cause.get(next_one.code, ()))
        yield finding, following


def _weight(conclusion: Conclusion) -> int:
    """What is found stands before what is not."""
    return _UNSETTLED.index(conclusion) + 1 if conclusion in _UNSETTLED else 0


def _card(finding: Finding, following: Sequence[Finding], context: Context) -> Markup:
    sure = _CERTAINTY.get(finding.certainty) if finding.conclusion is Conclusion.FOUND else None
    badge = element("span", context.say(finding.conclusion.word), class_="badge")
    head = [badge, " ", element("code", visible(finding.code))]
    if sure is not None:
        head += [" ", element("span", context.say(sure), class_="sure")]
    parts = [
        element("p", *head, class_="head"),
        context.heading(context.say(finding.message)),
        *_facts(finding, context),
    ]
    if finding.advice is not None:
        label = element("strong", context.say(message("html.advice")))
        parts.append(element("p", label, " ", context.say(finding.advice), class_="advice"))
    if following:
        codes = ", ".join(dict.fromkeys(visible(finding.code) for finding in following))
        line = context.say(message("report.following", count=len(following), codes=codes))
        cards = (_card(finding, (), context.below()) for finding in following)
        parts.append(element("details", element("summary", line), *cards))
    kind = _KINDS[finding.conclusion]
    return element("article", *parts, class_=f"finding {kind}")


def _facts(finding: Finding, context: Context) -> Iterator[Markup]:
    places = list(_places(finding.where, context))
    if finding.measured is not None:
        places.append(element("span", context.say(measured_message(finding, context.lang))))
    if places:
        yield element("p", joined(*(element("span", place) for place in places)), class_="facts")
    if finding.error is not None:
        yield element("p", context.say(message("report.error", error=finding.error)), class_="error")


def _places(where: Location, context: Context) -> Iterator[Markup]:
    if where.file:
        yield element("code", str(where) if where.line else where.file)
    for name, value in where.to_json().items():
        if value not in (None, "") and name not in ("file", "line"):
            yield element("span", context.say(message(f"report.where_{name}", **{name: value})))
