"""All checks there are, and the page that each has about itself."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import pkgutil
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Final

from trueline import checks
from trueline.checks.bench_script.claim import Claims
from trueline.checks.bench_script.findings import add_ways
from trueline.checks.engine.check import Check, known_checks
from trueline.checks.engine.following import Rule
from trueline.locale import language
from trueline.locale.of_checks import add_place, page_of
from trueline.model.finding import Evidence

HEADINGS: Final = ("What it looks at", "Why it hurts", "What to do", "When it is wrong")
SECTIONS: Final = ("looks_at", "why", "todo", "wrong_when")
_ORDER: Final = tuple(Evidence)
_ITEM: Final = re.compile(r"([a-z]{2,3})_(\d\d)_\w+")


@dataclass(frozen=True, slots=True)
class Page:
    """What an item's file says about it: a sentence, and a paragraph under each of the four headings."""

    code: str
    title: str
    sections: tuple[str, str, str, str]


@cache
def all_checks() -> Sequence[Check]:
    """Every way to decide every item, in the order of codes, then of the evidence that each asks for."""
    for package in item_packages():
        for module in pkgutil.iter_modules(importlib.import_module(package).__path__, f"{package}."):
            importlib.import_module(module.name)
    add_ways(all_claims())
    return sorted(known_checks(), key=lambda way: (way.code, [_ORDER.index(kind) for kind in way.evidence], way.name))


def add_items(folder: Path) -> None:
    """Items stand in this folder too, a folder each."""
    checks.__path__.append(str(folder))
    add_place(folder)
    for known in (all_checks, all_rules, item_packages, during_run):
        known.cache_clear()


@cache
def item_packages() -> Sequence[str]:
    """The folders of items, by name."""
    names = sorted(module.name for module in pkgutil.iter_modules(checks.__path__))
    return [f"{checks.__name__}.{name}" for name in names if _ITEM.fullmatch(name)]


@cache
def all_rules() -> Mapping[str, Sequence[Rule]]:
    """What the findings of each item can follow from; nearer causes stand before farther ones."""
    return {code: module.FOLLOWS for code, module in _modules("follows")}


def all_claims() -> Claims:
    """What each item claims of the differences between two scripts."""
    return {code: module.CLAIMS for code, module in _modules("bench_script")}


def _modules(name: str) -> Iterator[tuple[str, ModuleType]]:
    """The modules of this name in the folders of items, by code."""
    for package in item_packages():
        if importlib.util.find_spec(f"{package}.{name}") is not None:
            family, number = package.rpartition(".")[2].split("_")[:2]
            yield f"{family}.{number}", importlib.import_module(f"{package}.{name}")


def experiment_of(code: str) -> str | None:
    """The command whose answer decides an item that no evidence at rest does: its folder's ``DECIDED_BY``."""
    command = getattr(_package(code), "DECIDED_BY", None)
    return command if isinstance(command, str) else None


@dataclass(frozen=True, slots=True)
class DuringRun:
    """What an item's folder says of a run that goes on."""

    # Before the end its answer is not known.
    asked: bool = True
    # Training steps before which it is not asked.
    min_steps: int = 0
    # Ids of messages that later steps may set right.
    provisional: frozenset[str] = frozenset()


@cache
def during_run(code: str) -> DuringRun:
    """An item's ``ASKED_DURING_RUN``, ``MIN_STEPS`` and ``PROVISIONAL``."""
    package = _package(code)
    return DuringRun(
        getattr(package, "ASKED_DURING_RUN", True),
        getattr(package, "MIN_STEPS", 0),
        frozenset(getattr(package, "PROVISIONAL", ())),
    )


def codes() -> list[str]:
    """The codes of all items."""
    return list(dict.fromkeys(way.code for way in all_checks()))


def page(code: str, lang: str | None = None) -> Page:
    """An item's page in a language: English is its folder's docstring, others are its translation."""
    title, sections = _parts(inspect.getdoc(_package(code)) or "")
    if (lang or language()) == "en":
        return Page(code, title, sections)
    translated = page_of(code, lang or language())
    if translated is None:
        return Page(code, title, sections)
    return Page(
        code,
        translated["title"],
        (translated[SECTIONS[0]], translated[SECTIONS[1]], translated[SECTIONS[2]], translated[SECTIONS[3]]),
    )


def _package(code: str) -> ModuleType:
    """The item's folder."""
    start = f"{checks.__name__}.{code.replace('.', '_')}_"
    return importlib.import_module(next(name for name in item_packages() if name.startswith(start)))


def _parts(text: str) -> tuple[str, tuple[str, str, str, str]]:
    """The first line, and what stands under each heading; nothing where one is missing."""
    cuts = [re.search(rf"^{re.escape(heading)}\n-+\n", text, re.MULTILINE) for heading in HEADINGS]
    headings = [heading for heading in cuts if heading is not None]
    if len(headings) < len(HEADINGS):
        return text.strip(), ("", "", "", "")
    ends = [*(heading.start() for heading in headings[1:]), len(text)]
    parts = [text[heading.end() : end].strip() for heading, end in zip(headings, ends, strict=True)]
    return text[: headings[0].start()].strip(), (parts[0], parts[1], parts[2], parts[3])
