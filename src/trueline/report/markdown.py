"""A Report as Markdown (GitHub's): for a merge request, a wiki or a file beside the code."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from typing import Final

from trueline.model.curve import Curve
from trueline.model.message import Message
from trueline.model.report import Bars, Block, Curves, Folded, Report, Source, Strip, Table, Text, Tile, Tiles
from trueline.model.visible import visible
from trueline.report.answers import answer_lines
from trueline.report.findings import finding_lines
from trueline.report.plot import sparkline
from trueline.report.shown import say, shown
from trueline.report.terminal import render_block

_WIDTH: Final = 80
_SPARK: Final = 12
# Signs that mean something anywhere, and those that mean something at a line's beginning.
_SIGNS: Final = re.compile(r"[\\`*<>\[\]|~]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_AT_BEGIN: Final = re.compile(r"^(\d*)([#+=-](?=[\s#=-])|(?<=\d)[.)](?=\s))")
_FENCE: Final = re.compile(r"`{3,}")


def render_markdown(report: Report, lang: str | None = None) -> str:
    """The whole text; it ends with a line's end."""
    parts = [f"# {text_of(report.title, lang)}", f"**{text_of(report.conclusion, lang)}**"]
    findings = list(_findings(report, lang))
    if findings:
        parts.append("\n".join(findings))
    for block in report.blocks:
        parts.extend(_block(block, lang))
    return "\n\n".join(parts) + "\n"


def text_of(value: object, lang: str | None = None) -> str:
    """A message or value on one line, with all that Markdown would take for a sign escaped."""
    text = " ".join((say(value, lang) if isinstance(value, Message) else shown(value, lang)).split())
    return _AT_BEGIN.sub(r"\1\\\2", _SIGNS.sub(lambda found: "\\" + found.group(), text))


def _findings(report: Report, lang: str | None) -> Iterator[str]:
    """A list: each finding an entry, its place, numbers and advice below it."""
    lines = answer_lines(report.answers, lang, every=True) if report.answers else finding_lines(report.findings, lang)
    for indent, text, style in lines:
        said = text_of(text)
        if indent:
            yield f"  - {said}"
        else:
            yield f"- **{said}**" if "bold" in style else f"- {said}"


def _block(block: Block, lang: str | None) -> Iterator[str]:
    match block:
        case Text():
            yield text_of(block.message, lang)
        case Table():
            yield _heading(block.title, lang)
            yield _table(block, lang)
        case Source():
            yield _source(block)
        case Tiles():
            yield _heading(block.title, lang)
            yield "\n".join(_tile(tile, lang) for tile in block.tiles)
        case Folded():
            yield f"<details><summary>{text_of(block.title, lang)}</summary>"
            for one in block.blocks:
                yield from _block(one, lang)
            yield "</details>"
        case Bars() | Curves() | Strip():
            yield _fenced(_drawn(block, lang))


def _heading(title: Message, lang: str | None) -> str:
    return f"## {text_of(title, lang)}"


def _table(table: Table, lang: str | None) -> str:
    head = [text_of(column, lang) for column in table.columns]
    lines = [_row(head), _row(["---"] * len(head))]
    for place, row in enumerate(table.rows):
        cells = [_cell(cell, lang) for cell in row]
        lines.append(_row([f"**{cell}**" if place in table.marked and cell else cell for cell in cells]))
    return "\n".join(lines)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(cell: object, lang: str | None) -> str:
    return sparkline(cell, _SPARK) if isinstance(cell, Curve) else text_of(cell, lang)


def _source(block: Source) -> str:
    place = f"{block.file}:{block.line}" + (f" ({block.side})" if block.side else "")
    digits = len(str(block.first + max(0, len(block.lines) - 1)))
    lines = [
        f"{'>' if at == block.line else ' '} {at:>{digits}} | {visible(text)}"
        for at, text in enumerate(block.lines, block.first)
    ]
    return f"{text_of(place)}\n\n{_fenced(lines)}"


def _tile(tile: Tile, lang: str | None) -> str:
    """A line for each: pictures stay in the page."""
    content = sparkline(tile.curve, _SPARK) if tile.curve is not None else text_of(tile.text, lang)
    said = "  ".join([*(text_of(line, lang) for line in tile.lines), content]).strip()
    return f"- **{said}**" if tile.marked else f"- {said}"


def _drawn(block: Block, lang: str | None) -> list[str]:
    """What a terminal shows of it."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    render_block(block, stream, lang, width=_WIDTH)
    stream.seek(0)
    return [line.rstrip() for line in stream.read().strip("\n").splitlines()]


def _fenced(lines: Sequence[str]) -> str:
    """Lines as they are; the fence is longer than any within."""
    longest = max((len(found) for line in lines for found in _FENCE.findall(line)), default=2)
    fence = "`" * max(3, longest + 1)
    return "\n".join([f"{fence}text", *lines, fence])
