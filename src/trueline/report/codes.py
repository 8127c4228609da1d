"""The catalogue of all codes that TrueLine prints: one page each, in both languages."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from functools import cache
from typing import Any, Final

from trueline.checks.engine.listing import SECTIONS, Page, all_checks
from trueline.checks.engine.listing import codes as item_codes
from trueline.checks.engine.listing import page as item_page
from trueline.locale import language
from trueline.locale.of_codes import pages_of_codes
from trueline.watch.points.point import SPECS

# In the order of the contract: the guide's, then TrueLine's own.
FAMILIES: Final = ("ds", "dp", "hp", "api", "cg", "wi", "mp", "tr", "wp", "nf", "cmp", "pr", "pf")
_NEAREST: Final = 4
_ALIKE: Final = 0.5


@cache
def every_code() -> Sequence[str]:
    """All codes, family by family."""
    return sorted({*item_codes(), *pages_of_codes()}, key=lambda code: (_place(family(code)), code))


def _place(name: str) -> int:
    """A family's place in the list; those of a user's own items come last."""
    return FAMILIES.index(name) if name in FAMILIES else len(FAMILIES)


def family(code: str) -> str:
    """``cmp`` of ``cmp.05``."""
    return code.partition(".")[0]


def page(code: str, lang: str | None = None) -> Page:
    """A code's page: an item's own, else the one in the room that prints the code."""
    pages = pages_of_codes().get(code)
    if pages is None:
        return item_page(code, lang)
    texts = pages[lang or language()]
    looks_at, why, todo, wrong_when = (texts[name] for name in SECTIONS)
    return Page(code, texts["title"], (looks_at, why, todo, wrong_when))


def limits_of(code: str) -> list[tuple[str, Any]]:
    """Limits that can be set, with their defaults: of all ways to decide an item, or of a watchpoint."""
    if family(code) == "wp":
        return [(limit.name, limit.default) for limit in SPECS[watchpoint(code)].limits]
    return list(
        {name: value for check in all_checks() if check.code == code for name, value in check.limits.items()}.items()
    )


def watchpoint(code: str) -> str:
    """The id by which ``--on`` knows it, ``WCL`` of ``wp.wcl``."""
    return code.partition(".")[2].upper()


def nearest(name: str) -> list[str]:
    """The codes that are spelled most like a name that is none."""
    return get_close_matches(name.lower(), every_code(), _NEAREST, _ALIKE)
