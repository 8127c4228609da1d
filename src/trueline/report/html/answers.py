"""Answers as cards: a cause is its sentence, both places, the edit and the facts; details are folded away."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trueline.model.finding import Conclusion
from trueline.model.message import message
from trueline.model.report import Answer
from trueline.model.visible import visible
from trueline.report.answers import files_text
from trueline.report.html.blocks import blocks
from trueline.report.html.context import Context
from trueline.report.html.markup import Markup, element, joined


def answers_section(answers: Sequence[Answer], context: Context) -> Markup:
    """All of them, causes first; suspicions are one line each."""
    id = context.id()
    heading = context.heading(message("html.findings"), id)
    causes = [_card(answer, context.below()) for answer in answers if answer.number is not None]
    suspects = [_line(answer, context) for answer in answers if answer.number is None]
    if suspects:
        title = context.say(message("report.suspects", count=len(suspects)))
        causes.append(element("details", element("summary", title), element("ul", *suspects), class_="suspects"))
    return element("section", heading, *causes, class_="findings", aria_labelledby=id)


def _card(answer: Answer, context: Context) -> Markup:
    marks = [element("span", context.say(mark), class_="sure") for mark in answer.marks]
    head = element("p", element("span", f"{answer.number}", class_="badge"), " ", _code(answer), *marks, class_="head")
    parts = [head, context.heading(context.say(answer.said))]
    facts = [*_places(answer, context), *(element("span", context.say(fact)) for fact in answer.facts)]
    if facts:
        parts.append(element("p", joined(*facts), class_="facts"))
    if answer.edit is not None:
        label = element("strong", context.say(message("html.advice")))
        parts.append(element("p", label, " ", context.say(answer.edit), class_="advice"))
    if answer.details:
        summary = element("summary", context.say(message("html.details")))
        parts.append(element("details", summary, blocks(answer.details, context.below())))
    return element("article", *parts, class_="finding found answer")


def _code(answer: Answer) -> Markup:
    return element("code", visible(answer.code))


def _places(answer: Answer, context: Context) -> Iterator[Markup]:
    for place in answer.places:
        side = [context.say(place.side), " "] if place.side is not None else []
        yield element("span", *side, element("code", visible(files_text(place))))


def _line(answer: Answer, context: Context) -> Markup:
    word = context.say(Conclusion.SUSPECT.word)
    parts: list[str] = [element("span", word, class_="badge"), " ", _code(answer), " "]
    place = next((files_text(place) for place in answer.places), "")
    if place:
        parts += [element("code", visible(place)), " "]
    return element("li", *parts, context.say(answer.said))
