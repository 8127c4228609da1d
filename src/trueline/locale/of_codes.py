"""The pages of codes that are no item of the checklist: each room that prints such codes has a file of them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Final

FILE: Final = "codes.toml"
# A language's title and four sections, by name.
Texts = Mapping[str, str]


@cache
def pages_of_codes() -> Mapping[str, Mapping[str, Texts]]:
    """The page of every such code, by code and language."""
    return {code: page for file in code_files() for code, page in tomllib.loads(file.read_text("utf-8")).items()}


def code_files() -> list[Traversable]:
    """The files of all rooms, found by walking."""
    return list(_below(resources.files("trueline")))


def _below(folder: Traversable) -> Iterator[Traversable]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _below(entry)
        elif entry.name == FILE:
            yield entry
