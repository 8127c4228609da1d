"""Layers in execution order as cells coloured by how far apart they are; a cell opens what is known of its layer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from trueline.model.message import message
from trueline.model.report import Strip
from trueline.report.html.context import Context
from trueline.report.html.markup import Markup, element
from trueline.report.shown import number

SHADES: Final = 6
# Up to so many layers have room for their names.
_NAMED: Final = 48


def strip_block(block: Strip, details: Sequence[Markup], context: Context) -> Markup:
    """The strip, its legend and the details of each layer."""
    id = context.id()
    layers = list(zip(block.names, block.levels, strict=False))
    focused = block.mark if block.mark is not None and 0 <= block.mark < len(layers) else 0
    cells, folds = [], []
    for place, (name, level) in enumerate(layers):
        inside = details[place] if place < len(details) else Markup()
        shade = shade_of(level)
        mark = " mark" if place == block.mark else ""
        target = f"{id}-{place}" if inside else None
        cells.append(
            element(
                "a" if target else "span",
                element("span", class_=f"swatch {shade}"),
                name if len(layers) <= _NAMED else "",
                class_=f"cell{mark}",
                href=f"#{target}" if target else None,
                title=f"{name} ({number(level)})",
                role=None if target else "img",
                aria_label=None if target else f"{name} ({number(level)})",
                aria_current="true" if mark else None,
                tabindex="0" if place == focused else "-1",
            )
        )
        if target:
            summary = element("summary", element("span", class_=f"swatch {shade}"), element("code", name))
            folds.append(element("details", summary, element("div", inside, id=target), class_="layer"))
    kind = "strip named" if len(layers) <= _NAMED else "strip"
    parts = [
        context.heading(block.title, id),
        _legend(block, context),
        element("div", *cells, class_=kind, role="group", aria_labelledby=id),
    ]
    rest = ""
    if block.mark == focused and layers:
        name, level = layers[focused]
        rest = f"{name} ({number(level)})"
    parts.append(element("p", rest, class_="readout", role="status"))
    if folds:
        parts.append(element("p", context.say(message("html.strip_hint")), class_="note with-script"))
        parts.append(element("div", *folds, class_="layers"))
    return element("section", *parts, class_="block layers-of-network")


def shade_of(level: float) -> str:
    """The class of a level: equal is the first shade, any difference at least the second."""
    if math.isnan(level):
        return "bad"
    if level <= 0:
        return "l0"
    return f"l{min(SHADES - 1, 1 + int(min(level, 1.0) * (SHADES - 1)))}"


def _legend(block: Strip, context: Context) -> Markup:
    swatches = [element("span", class_=f"swatch l{shade}") for shade in range(SHADES)]
    keys = [
        element("li", context.say(message("html.agrees")), " ", *swatches, " ", context.say(message("html.far_apart")))
    ]
    if block.mark is not None:
        keys.append(element("li", element("span", class_="swatch outlined"), context.say(message("html.first_layer"))))
    if any(math.isnan(level) for level in block.levels):
        keys.append(element("li", element("span", class_="swatch bad"), context.say(message("html.no_level"))))
    return element("ul", *keys, class_="legend")
