"""Tables: sorted by a click, searched where long, scrolled inside their box where wide."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import zip_longest
from typing import Final

from trueline.model.curve import Curve
from trueline.model.message import Message, message
from trueline.model.report import Table
from trueline.report.html.context import Context
from trueline.report.html.markup import Markup, element, markup
from trueline.report.html.sparks import spark
from trueline.report.shown import shown

# As many rows as are laid out at once: the others wait until they are asked for.
SHOWN_ROWS: Final = 100
_SEARCHED_FROM: Final = 20
_TALL_FROM: Final = 40
# A measured number that was put into words; a bare "3" may as well be a name or an argument.
_MEASURED = re.compile(r"[-+]?\d+(\.\d+(e[-+]?\d+)?|e[-+]?\d+)|nan|[-+]?inf", re.IGNORECASE)


def table_block(table: Table, context: Context) -> Markup:
    """A table under its title."""
    id = context.id()
    numeric = [_numeric(column) for column in zip_longest(*table.rows)]
    numeric += [False] * (len(table.columns) - len(numeric))
    heads = [
        element("th", context.say(column), scope="col", class_="n" if is_number else None)
        for column, is_number in zip(table.columns, numeric, strict=False)
    ]
    rows = [_row(row, numeric, place in table.marked, context) for place, row in enumerate(table.rows)]
    bodies = [element("tbody", *rows[:SHOWN_ROWS])]
    if len(rows) > SHOWN_ROWS:
        bodies.append(element("tbody", *rows[SHOWN_ROWS:], class_="rest"))
    grid = element("table", element("thead", element("tr", *heads)), *bodies, aria_labelledby=id)
    kind = "scroll tall" if len(rows) >= _TALL_FROM else "scroll"
    parts = [context.heading(table.title, id)]
    if len(rows) >= _SEARCHED_FROM:
        parts.append(_search(len(rows), context))
    parts.append(element("div", grid, class_=kind, tabindex="0", role="region", aria_labelledby=id))
    if len(rows) > SHOWN_ROWS:
        more = context.say(message("html.more_rows"))
        parts.append(element("button", more, type="button", class_="more with-script"))
    return element("section", *parts, class_="block table sortable" if len(rows) > 1 else "block table")


def _search(rows: int, context: Context) -> Markup:
    label = context.say(message("html.filter"))
    # The page's script puts the numbers in, as rows are searched and shown.
    text = context.say(message("html.rows", shown="{shown}", all="{all}"))
    count = text.replace("{shown}", str(min(rows, SHOWN_ROWS))).replace("{all}", str(rows))
    return element(
        "p",
        element("input", type="search", class_="filter", placeholder=label, aria_label=label),
        element("span", count, class_="count", role="status", data_text=text),
        class_="controls with-script",
    )


def _row(row: Sequence[object], numeric: Sequence[bool], marked: bool, context: Context) -> Markup:
    cells = []
    for place, cell in enumerate(row):
        text: str = spark(cell, context) if isinstance(cell, Curve) else shown(cell, context.lang)
        exact = repr(cell) if isinstance(cell, float) and math.isfinite(cell) else None
        if place == 0:
            note = element("span", context.say(message("html.marked")), class_="unseen") if marked else ""
            kind = "n" if numeric[place] else None if isinstance(cell, Message) else "name"
            cells.append(element("th", note, text, scope="row", data_v=exact, class_=kind))
        else:
            # Spelled out, because a table may have a hundred thousand of these.
            look = ' class="n"' if numeric[place] else ""
            value = f' data-v="{exact}"' if exact is not None else ""
            cells.append(Markup(f"<td{look}{value}>{markup(text)}</td>"))
    return element("tr", *cells, class_="marked" if marked else None)


def _numeric(column: Sequence[object]) -> bool:
    cells = [cell for cell in column if cell is not None and cell != ""]
    return bool(cells) and all(_is_number(cell) for cell in cells)


def _is_number(cell: object) -> bool:
    if isinstance(cell, str):
        return _MEASURED.fullmatch(cell) is not None
    return isinstance(cell, int | float) and not isinstance(cell, bool)
