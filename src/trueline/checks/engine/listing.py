"""All checks there are, and the page that each has about itself."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Final

import trueline.checks as package
from trueline.checks.engine.check import Check, known_checks
from trueline.locale import language
from trueline.locale.of_checks import page_of

HEADINGS: Final = ("What it looks at", "Why it hurts", "What to do", "When it is wrong")
SECTIONS: Final = ("looks_at", "why", "todo", "wrong_when")
_BESIDE: Final = ("_in_script", ".bench_script.ways")
_ITEM: Final = re.compile(r"([a-z]{2,3})_(\d\d)_\w+")


@dataclass(frozen=True, slots=True)
class Page:
    """What an item's file says about it: a sentence, and a paragraph under each of the four headings."""

    code: str
    title: str
    sections: tuple[str, str, str, str]


@cache
def all_checks() -> Sequence[Check]:
    """Every way to decide every item, in the order of codes."""
    for name in item_modules():
        importlib.import_module(name)
    importlib.import_module(f"{package.__name__}.bench_script.ways")
    # By name, not as they were loaded: who asks for one item first must not change the order.
    return sorted(known_checks(), key=lambda one: (one.code, one.module, one.name))


@cache
def item_modules() -> Sequence[str]:
    """The modules of items, by name."""
    names = sorted(one.name for one in pkgutil.iter_modules(package.__path__))
    return [f"{package.__name__}.{name}" for name in names if _ITEM.fullmatch(name)]


def codes() -> list[str]:
    """The codes of all items."""
    return list(dict.fromkeys(one.code for one in all_checks()))


def page(code: str, lang: str | None = None) -> Page:
    """An item's page in a language: English is the module's docstring, others are its translation."""
    module = _module(code)
    title, sections = _parts(inspect.getdoc(module) or "")
    if (lang or language()) == "en":
        return Page(code, title, sections)
    told = page_of(code, lang or language())
    if told is None:
        return Page(code, title, sections)
    return Page(code, told["title"], (told[SECTIONS[0]], told[SECTIONS[1]], told[SECTIONS[2]], told[SECTIONS[3]]))


def _module(code: str) -> ModuleType:
    """The item's own module; what reads scripts for it, alone or against a benchmark's, may stand beside it."""
    names = [one.module for one in all_checks() if one.code == code]
    return importlib.import_module(next((one for one in names if not one.endswith(_BESIDE)), names[0]))


def _parts(text: str) -> tuple[str, tuple[str, str, str, str]]:
    """The first line, and what stands under each heading; nothing where one is missing."""
    cuts = [re.search(rf"^{re.escape(heading)}\n-+\n", text, re.MULTILINE) for heading in HEADINGS]
    found = [one for one in cuts if one is not None]
    if len(found) < len(HEADINGS):
        return text.strip(), ("", "", "", "")
    ends = [*(one.start() for one in found[1:]), len(text)]
    parts = [text[one.end() : end].strip() for one, end in zip(found, ends, strict=True)]
    return text[: found[0].start()].strip(), (parts[0], parts[1], parts[2], parts[3])
