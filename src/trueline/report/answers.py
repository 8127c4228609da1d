"""Answers as lines: causes by number, each on a few lines, then suspicions on one line each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len, set_cell_size

from trueline.model.message import message
from trueline.model.report import Answer, Place
from trueline.report.findings import Line
from trueline.report.shown import say

_INDENT = 3
_MOST_SUSPECTS = 5


def answer_lines(
    answers: Sequence[Answer], lang: str | None = None, *, width: int | None = None, every: bool = False
) -> Iterator[Line]:
    """Indent, text and style of every line; ``width`` cuts suspicions to a line, ``every`` shows all of them."""
    for answer in answers:
        if answer.number is not None:
            yield from cause_lines(answer, lang, width)
    suspects = [answer for answer in answers if answer.number is None]
    if not suspects:
        return
    yield 0, say(message("report.suspects", count=len(suspects)), lang), "yellow"
    shown = suspects if every else suspects[:_MOST_SUSPECTS]
    for answer in shown:
        text = suspect_text(answer, lang)
        yield _INDENT, text if every or width is None else cut(text, width - _INDENT), ""
    if len(suspects) > len(shown):
        yield _INDENT, say(message("report.more_suspects", count=len(suspects) - len(shown)), lang), "dim"


def cause_lines(answer: Answer, lang: str | None = None, width: int | None = None) -> Iterator[Line]:
    """One cause: its sentence, both places, the edit, and the facts."""
    yield 0, f"{answer.number}. {heading(answer, lang)}", "bold red"
    yield from ((_INDENT, text, "") for text in _places(answer, lang, width))
    if answer.edit is not None:
        yield _INDENT, say(message("report.edit", edit=answer.edit), lang), "green"
    if answer.facts:
        yield _INDENT, facts_text(answer, lang), ""


def _places(answer: Answer, lang: str | None, width: int | None) -> list[str]:
    """The port's lines, and the benchmark's beside them where there is room."""
    if len(answer.places) < 2 or answer.places[0].side is not None:
        return [place_text(place, lang) for place in answer.places]
    own, beside = files_text(answer.places[0]), [place_text(place, lang) for place in answer.places[1:]]
    together = say(message("report.places", own=own, beside=", ".join(beside)), lang)
    return [together] if width is None or cell_len(together) <= width - _INDENT else [own, *beside]


def heading(answer: Answer, lang: str | None = None) -> str:
    """The code, the sentence, and what is to be known beside it."""
    said = say(answer.said, lang)
    if answer.marks:
        marks = ", ".join(say(mark, lang) for mark in answer.marks)
        said = say(message("report.marked", said=said, marks=marks), lang)
    return f"{answer.code} {said}"


def facts_text(answer: Answer, lang: str | None = None) -> str:
    """The facts on one line."""
    return say(message("report.between_facts"), lang).join(say(fact, lang) for fact in answer.facts)


def suspect_text(answer: Answer, lang: str | None = None) -> str:
    """A suspicion on one line: where, and what."""
    place = next((files_text(place) for place in answer.places), "")
    text = heading(answer, lang)
    return f"{place}: {text}" if place else text


def place_text(place: Place, lang: str | None = None) -> str:
    """``benchmark net.py:12, 15``."""
    lines = files_text(place)
    return say(message("report.place", side=place.side, lines=lines), lang) if place.side is not None else lines


def files_text(place: Place) -> str:
    """``net.py:12, 15; blocks.py:3``."""
    return "; ".join(f"{file}:{', '.join(map(str, lines))}" for file, lines in place.files.items())


def cut(text: str, width: int) -> str:
    """As much of a text as fits on one line."""
    text = " ".join(text.split())
    return text if cell_len(text) <= width else set_cell_size(text, max(1, width - 1)).rstrip() + "…"
