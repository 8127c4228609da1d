"""A code's page of the documentation: what it says of itself, what decides an item, its limits, and examples."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from trueline.checks.engine.check import Check
from trueline.checks.engine.evidence_words import kinds_in_words
from trueline.checks.engine.listing import all_checks, codes, experiment_of
from trueline.model.message import message
from trueline.report.codes import every_code, family, limits_of, page
from trueline.report.explaining import HEADINGS, family_title, limits_title
from trueline.report.markdown import text_of

# What a script in the tests says to the harness.
_MARKS: Final = re.compile(r"^# (run|ranks|bench|needs|port-of):.*\n", re.MULTILINE)
_EXPECTED: Final = re.compile(r"# expect: (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Example:
    """A script with the item's fault, or a healthy one that looks like it; ``link`` leads to it from the page."""

    framework: str
    good: bool
    text: str
    link: str


def code_page(code: str, examples: Sequence[Example], lang: str) -> str:
    """The page as Markdown."""
    told = page(code, lang)
    lines = [f"# {code} {told.title.rstrip('.。')}", ""]
    for heading, text in zip(HEADINGS, told.sections, strict=True):
        lines += [f"## {message(heading).text(lang)}", "", text.strip() or "–", ""]
    if _ways(code):
        lines += [f"## {message('check.page_decided_from').text(lang)}", "", *_deciding(code, lang), ""]
    limits = limits_of(code)
    if limits:
        lines += [f"## {limits_title(code).text(lang)}", ""]
        head = [message(f"check.column_{one}").text(lang) for one in ("limit", "default")]
        lines += [f"| {' | '.join(head)} |", "| --- | --- |"]
        lines += [*(f"| `{name}` | {text_of(value, lang)} |" for name, value in limits), ""]
    lines += list(_examples(examples, lang))
    return "\n".join(lines).rstrip() + "\n"


def codes_index(lang: str, ending: str) -> str:
    """The list of all codes by family; items of the checklist stand in a folder of their own."""
    items = set(codes())
    lines = [f"# {message('explain.title').text(lang)}"]
    columns = [message(f"explain.column_{one}").text(lang) for one in ("code", "title")]
    for name, members in groupby(every_code(), family):
        lines += ["", f"## {family_title(name).text(lang)}", "", f"| {' | '.join(columns)} |", "| --- | --- |"]
        for code in members:
            folder = "../checks/" if code in items else ""
            title = text_of(page(code, lang).title.rstrip(".。"))
            lines.append(f"| [{code}]({folder}{code.replace('.', '_')}{ending}) | {title} |")
    return "\n".join(lines) + "\n"


def items_index(lang: str, ending: str) -> str:
    """The list of the checklist's items, with what decides each."""
    lines = [f"# {message('check.title').text(lang)}", ""]
    columns = [message(f"check.column_{one}").text(lang) for one in ("code", "item", "decided")]
    lines += [f"| {' | '.join(columns)} |", "| --- | --- | --- |"]
    for code in codes():
        kinds = dict.fromkeys(kind for way in _ways(code) for kind in way.evidence)
        words = ", ".join(message(f"check.kind_{kind}").text(lang) for kind in kinds)
        title = text_of(page(code, lang).title.rstrip(".。"))
        lines.append(f"| [{code}]({code.replace('.', '_')}{ending}) | {title} | {words} |")
    return "\n".join(lines) + "\n"


def _ways(code: str) -> list[Check]:
    return [check for check in all_checks() if check.code == code]


def _deciding(code: str, lang: str) -> Iterator[str]:
    """Evidence that decides an item, then what only finds problems, then its experiment."""
    ways = {way.evidence: way.decides for way in sorted(_ways(code), key=lambda way: way.decides)}
    for evidence, decides in sorted(ways.items(), key=lambda way: not way[1]):
        kinds = kinds_in_words(evidence)
        yield f"- {(kinds if decides else message('check.page_only_finds', kinds=kinds)).text(lang)}"
    if (experiment := experiment_of(code)) is not None:
        yield f"- `{experiment}`"


def _examples(examples: Sequence[Example], lang: str) -> Iterator[str]:
    """The shortest of each kind whole, the others by their names."""
    if not examples:
        return
    yield from (f"## {message('check.page_examples').text(lang)}", "")
    shown: list[Example] = []
    for framework in dict.fromkeys(example.framework for example in examples):
        for good in (False, True):
            alike = [example for example in examples if example.framework == framework and example.good is good]
            if not alike:
                continue
            example = min(alike, key=lambda example: (len(example.text), example.link))
            shown.append(example)
            said = message("check.page_good" if good else "check.page_bad", framework=_NAMES[framework])
            yield from (f"{said.text(lang)} ([{example.link.rpartition('/')[2]}]({example.link}))", "")
            yield from ("```python", _plain(example.text), "```", "")
    others = [example for example in examples if example not in shown]
    if others:
        links = ", ".join(f"[{example.link.rpartition('/')[2]}]({example.link})" for example in others)
        yield message("check.page_more", links=links).text(lang)


_NAMES: Final = {"torch": "PyTorch", "mindspore": "MindSpore"}


def _plain(text: str) -> str:
    """Without what is meant for the tests; the line at fault keeps a mark."""
    return _EXPECTED.sub(r"# ← \1", _MARKS.sub("", text)).strip()
