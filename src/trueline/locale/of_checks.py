"""The sentences of the checklist: a file per item with its messages and the translation of its page."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib import resources
from typing import Any

_FOLDER = "checks"
_SECTION = re.compile(r"[a-z0-9_]{1,40}")


def _file(section: str) -> dict[str, Any]:
    # Ids come from foreign files too, a manifest's notes: none of them is to lead to another file.
    return _read(section) if _SECTION.fullmatch(section) else {}


@cache
def _read(section: str) -> dict[str, Any]:
    path = resources.files("trueline.locale").joinpath(_FOLDER, f"{section}.toml")
    return tomllib.loads(path.read_text("utf-8")) if path.is_file() else {}


def sections() -> list[str]:
    """The items that have a file: ``dp_03`` and so on."""
    folder = resources.files("trueline.locale").joinpath(_FOLDER)
    return sorted(one.name.removesuffix(".toml") for one in folder.iterdir() if one.name.endswith(".toml"))


def sentence_of(id: str, lang: str) -> str | None:
    """The sentence of a message of an item, ``dp_03.not_shuffled``."""
    section, _, name = id.partition(".")
    found = _file(section).get(lang, {}).get(name)
    return str(found) if found is not None else None


def page_of(code: str, lang: str) -> dict[str, str] | None:
    """An item's page in a language other than English, where it is there: title and the four sections."""
    pages: dict[str, dict[str, str]] = _file(code.replace(".", "_")).get("page", {})
    return pages.get(lang)


def messages(lang: str) -> dict[str, str]:
    """All sentences of all items in a language, by id."""
    return {f"{one}.{name}": text for one in sections() for name, text in _file(one).get(lang, {}).items()}
