"""Samples side by side: each a picture within the page, a line or a text, with what is known of it under it."""

from __future__ import annotations

import base64
import struct
from collections.abc import Sequence
from typing import Final

from trueline.model.report import Block, Folded, Tile, Tiles
from trueline.report.html.context import Context
from trueline.report.html.markup import Markup, element
from trueline.report.html.sparks import spark
from trueline.report.shown import shown

# Smaller ones are shown larger, pixel by pixel.
_SMALL: Final = 72
_PNG: Final = b"\x89PNG\r\n\x1a\n"


def has_pictures(all_blocks: Sequence[Block]) -> bool:
    """Whether a page holds pictures, which it must then allow itself."""
    return any(
        any(tile.picture is not None for tile in block.tiles)
        if isinstance(block, Tiles)
        else isinstance(block, Folded) and has_pictures(block.blocks)
        for block in all_blocks
    )


def tiles_block(block: Tiles, context: Context) -> Markup:
    """Tiles under their title."""
    id = context.id()
    items = [element("li", _tile(tile, context), class_="wide" if _is_written(tile) else None) for tile in block.tiles]
    grid = element("ul", *items, class_="grid", aria_labelledby=id)
    return element("section", context.heading(block.title, id), grid, class_="block tiles")


def _tile(tile: Tile, context: Context) -> Markup:
    said = [shown(line, context.lang) for line in tile.lines]
    under = element("figcaption", *(element("span", one, title=one) for one in said))
    marked = " marked" if tile.marked else ""
    if tile.picture is not None:
        content = _picture(tile.picture, ", ".join(said))
    elif tile.curve is not None:
        content = spark(tile.curve, context)
    elif _is_written(tile):
        words = element("p", shown(tile.text, context.lang), class_="words")
        return element("figure", under, words, class_=f"tile written{marked}")
    else:
        content = element("span", shown(tile.text, context.lang))
    return element("figure", element("div", content, class_="box"), under, class_=f"tile{marked}")


def _is_written(tile: Tile) -> bool:
    """A text has a line of its own; why there is no picture stands in the picture's place."""
    return tile.picture is None and tile.curve is None and not tile.marked


def _picture(data: bytes, said: str) -> Markup:
    if not data.startswith(_PNG):
        raise ValueError("not a PNG")
    width, height = struct.unpack(">II", data[16:24])
    return element(
        "img",
        src=f"data:image/png;base64,{base64.b64encode(data).decode('ascii')}",
        alt=said,
        width=width,
        height=height,
        class_="small" if max(width, height) <= _SMALL else None,
    )
