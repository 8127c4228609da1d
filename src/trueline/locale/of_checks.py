"""The sentences of the checklist: each item's folder has a file with its messages and the translation of its page."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Final

_FILE: Final = "messages.toml"
_FOLDER: Final = re.compile(r"([a-z]{2,3}_\d\d)_\w+")
# Where items stand besides the product's own folder of them.
_more_places: list[Path] = []


def add_place(folder: Path) -> None:
    """Items stand in this folder too."""
    _more_places.append(folder)
    _places.cache_clear()
    _file.cache_clear()


@cache
def _places() -> dict[str, Traversable]:
    """The file of each item, ``dp_03`` and so on."""
    own = resources.files("trueline").joinpath("checks")
    folders = [entry for place in (own, *_more_places) for entry in place.iterdir()]
    named = [(_FOLDER.fullmatch(entry.name), entry.joinpath(_FILE)) for entry in folders]
    return {item[1]: path for item, path in sorted(named, key=lambda pair: str(pair[1])) if item and path.is_file()}


@cache
def _file(item: str) -> dict[str, Any]:
    # Ids come from foreign files too, a manifest's notes: only what was found by walking is read.
    place = _places().get(item)
    return {} if place is None else tomllib.loads(place.read_text("utf-8"))


def sentence_of(id: str, lang: str) -> str | None:
    """The sentence of a message of an item, ``dp_03.shuffled`` or ``dp_03.script.shuffled``."""
    item, *names = id.split(".")
    found: Any = _file(item).get(lang, {})
    for name in names:
        found = found.get(name) if isinstance(found, Mapping) else None
    return found if isinstance(found, str) else None


def page_of(code: str, lang: str) -> dict[str, str] | None:
    """An item's page in a language other than English, where it is there: title and the four sections."""
    pages: dict[str, dict[str, str]] = _file(code.replace(".", "_")).get("page", {})
    return pages.get(lang)


def messages(lang: str) -> dict[str, str]:
    """All sentences of all items in a language, by id."""
    return {id: text for item in _places() for id, text in _flat(item, _file(item).get(lang, {}))}


def _flat(prefix: str, table: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    for name, entry in table.items():
        if isinstance(entry, Mapping):
            yield from _flat(f"{prefix}.{name}", entry)
        else:
            yield f"{prefix}.{name}", str(entry)
