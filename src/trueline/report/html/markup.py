"""HTML from pieces: whatever is not markup already is text, and is escaped."""

from __future__ import annotations

import html
from typing import Final

from trueline.model.visible import visible

_VOID: Final = frozenset({"meta", "input", "img", "line", "path", "circle", "rect"})
_SVG: Final = frozenset({"line", "path", "circle", "rect"})


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def markup(text: str) -> Markup:
    """A piece as HTML: markup stays, any other text is escaped and its control characters are made visible."""
    return text if isinstance(text, Markup) else Markup(html.escape(visible(text), quote=True))


def joined(*pieces: str) -> Markup:
    """Pieces one after the other."""
    return Markup("".join(markup(piece) for piece in pieces))


def element(name: str, /, *content: str, **attributes: str | int | bool | None) -> Markup:
    """An element: ``class_`` is the attribute class, ``aria_label`` aria-label; None and False leave one out."""
    said = "".join(
        f" {key.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{markup(str(value))}"')
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if name in _VOID:
        return Markup(f"<{name}{said}{'/' if name in _SVG else ''}>")
    return Markup(f"<{name}{said}>{joined(*content)}</{name}>")
