"""Amounts as bars, one a row: a table that can be read without seeing them."""

from __future__ import annotations

from trueline.model.message import Message, message
from trueline.model.report import Bars
from trueline.report.html.context import Context
from trueline.report.html.markup import Markup, element
from trueline.report.html.tables import SHOWN_ROWS
from trueline.report.shown import shown


def bars_block(block: Bars, context: Context) -> Markup:
    """The bars under their title; each is as long as its share of the largest."""
    id = context.id()
    most = max(block.values, default=0)
    rows = []
    for place, (name, value) in enumerate(zip(block.names, block.values, strict=True)):
        share = max(0.0, value / most) if most > 0 else 0.0
        bar = element("rect", x=0, y=0, width=f"{share * 100:.2f}%", height="100%", rx=2)
        marked = place in block.marked
        note = element("span", context.say(message("html.marked")), class_="unseen") if marked else ""
        rows.append(
            element(
                "tr",
                element("th", note, shown(name, context.lang), scope="row", class_=_look(name)),
                element("td", shown(value, context.lang), class_="n"),
                element("td", element("svg", bar, aria_hidden="true")),
                class_="marked" if marked else None,
            )
        )
    kind = "scroll tall" if len(rows) > SHOWN_ROWS else "scroll"
    grid = element("table", element("tbody", *rows), aria_labelledby=id)
    box = element("div", grid, class_=kind, tabindex="0", role="region", aria_labelledby=id)
    return element("section", context.heading(block.title, id), box, class_="block bars")


def _look(name: object) -> str | None:
    return None if isinstance(name, Message) else "name"
