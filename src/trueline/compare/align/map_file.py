"""The user's file of names: TOML, JSON, or plain lines ``name here = name there``."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from trueline.formats.files import map_file
from trueline.model.message import message
from trueline.model.toml_text import parse_toml
from trueline.model.trouble import BadFile

_LARGEST: Final = 16 << 20
_MOST_STARS: Final = 8


def read_map(path: Path) -> tuple[tuple[str, str], ...]:
    """The pairs of names; every fault is a BadFile in one line."""
    content = map_file(path)
    if len(content) > _LARGEST:
        raise BadFile(path, message("align.map_too_large", limit=_LARGEST >> 20).text())
    try:
        text = bytes(content).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadFile(path, message("align.map_not_text").text()) from None
    pairs = tuple(_parsers().get(path.suffix.lower(), _lines)(path, text))
    if not pairs:
        raise BadFile(path, message("align.map_empty").text())
    for rule in pairs:
        if not rule[0] or not rule[1] or rule[0].count("*") != rule[1].count("*") or rule[0].count("*") > _MOST_STARS:
            raise BadFile(path, message("align.map_stars", rule=" = ".join(rule)[:200], most=_MOST_STARS).text())
    return pairs


def _parsers() -> dict[str, Callable[[Path, str], Iterator[tuple[str, str]]]]:
    return {".toml": _toml, ".json": _json}


def _toml(path: Path, text: str) -> Iterator[tuple[str, str]]:
    try:
        found = parse_toml(text)
    except ValueError as error:
        raise BadFile(path, message("align.map_broken", format="TOML", reason=_short(error)).text()) from None
    yield from _entries(path, found)


def _json(path: Path, text: str) -> Iterator[tuple[str, str]]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadFile(path, message("align.map_broken", format="JSON", reason=_short(error)).text()) from None
    if isinstance(found, list) and all(isinstance(one, list) and len(one) == 2 for one in found):
        yield from (pair for a, b in found for pair in _entries(path, {str(a): b}))
    elif isinstance(found, dict):
        yield from _entries(path, found)
    else:
        raise BadFile(path, message("align.map_entry", name=_short(text)).text())


def _entries(path: Path, table: dict[str, object]) -> Iterator[tuple[str, str]]:
    """Names by names; an unquoted dotted name of TOML is a table in a table."""
    waiting = [(name, value) for name, value in reversed(table.items())]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, dict):
            waiting.extend((f"{name}.{inner}", below) for inner, below in reversed(value.items()))
        elif isinstance(value, str):
            yield name.strip(), value.strip()
        else:
            raise BadFile(path, message("align.map_entry", name=_short(name)).text())


def _lines(path: Path, text: str) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(text.splitlines(), start=1):
        line = line.partition("#")[0].strip()
        if not line:
            continue
        name_a, equals, name_b = (part.strip().strip("\"'") for part in line.partition("="))
        if not equals or "=" in name_b:
            raise BadFile(path, message("align.map_line", number=number, line=_short(line)).text())
        yield name_a, name_b


def _short(thing: object) -> str:
    return " ".join(str(thing).split())[:120]
