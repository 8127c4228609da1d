"""Blocks as sections of the page: texts, sources, what is folded away, and the others by their own files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from trueline.model.message import message
from trueline.model.report import Bars, Block, Curves, Folded, Source, Strip, Table, Text, Tiles
from trueline.model.visible import visible
from trueline.report.folded import row_count
from trueline.report.html.bars import bars_block
from trueline.report.html.charts import curves_block
from trueline.report.html.context import Context
from trueline.report.html.markup import Markup, element, joined
from trueline.report.html.strips import strip_block
from trueline.report.html.tables import table_block
from trueline.report.html.tiles import tiles_block


def blocks(all_blocks: Sequence[Block], context: Context) -> Markup:
    """Blocks in order; sources that follow each other stand side by side where there is room."""
    return joined(*_pieces(all_blocks, context))


def _pieces(all_blocks: Sequence[Block], context: Context) -> Iterator[Markup]:
    for is_source, group in groupby(all_blocks, key=lambda block: isinstance(block, Source)):
        pieces = [_block(block, context) for block in group]
        if is_source and len(pieces) > 1:
            yield element("div", *pieces, class_="side-by-side")
        else:
            yield from pieces


def _block(block: Block, context: Context) -> Markup:
    match block:
        case Text():
            return element("p", context.say(block.message), class_="block text")
        case Table():
            return table_block(block, context)
        case Bars():
            return bars_block(block, context)
        case Curves():
            return curves_block(block, context)
        case Strip():
            return strip_block(block, [blocks(detail, context.below()) for detail in block.details], context)
        case Source():
            return _source(block, context)
        case Tiles():
            return tiles_block(block, context)
        case Folded():
            return _folded(block, context)


def _source(block: Source, context: Context) -> Markup:
    side = [" ", element("span", block.side, class_="side")] if block.side else []
    caption = element("figcaption", element("code", f"{block.file}:{block.line}"), *side)
    lines = []
    for number, text in enumerate(block.lines, block.first):
        content = element("span", visible(text).replace("\n", " "), class_="code")
        if number == block.line:
            content = element("mark", element("span", context.say(message("html.marked")), class_="unseen"), content)
        lines.append(element("span", element("span", str(number), class_="no"), content, class_="line"))
    code = element("pre", *lines, tabindex="0", role="region", aria_label=f"{block.file}:{block.line}")
    return element("figure", caption, code, class_="block source")


def _folded(block: Folded, context: Context) -> Markup:
    rows = row_count(block)
    title = [context.heading(block.title)]
    if rows:
        title.append(element("span", context.say(message("html.folded_rows", rows=rows)), class_="count"))
    content = blocks(block.blocks, context.below())
    return element("details", element("summary", *title), element("div", content), class_="block folded")
