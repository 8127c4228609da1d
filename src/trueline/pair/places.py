"""Where a file is, in as few words as a reader needs: what its code is imported as."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from trueline.model.location import Location
from trueline.model.message import Message


def by_file(lines: Sequence[Location]) -> dict[str, list[int]]:
    """Line numbers by short file, in the order of the file."""
    found: dict[str, set[int]] = {}
    for line in lines:
        found.setdefault(short_file(line.file), set()).add(line.line)
    return {file: sorted(numbers) for file, numbers in found.items()}


@cache
def short_file(file: str) -> str:
    """A file below the current folder from there on, one of a package with its package, else the whole path."""
    path = Path(file)
    if not path.is_absolute():
        return file
    if path.is_relative_to(Path.cwd()):
        return path.relative_to(Path.cwd()).as_posix()
    top = path.parent
    while (top / "__init__.py").is_file() and top.parent != top:
        top = top.parent
    return path.relative_to(top).as_posix() if top != path.parent else file


def with_short_files(said: Message) -> Message:
    """A sentence in which files are short."""
    return Message(said.id, {name: _short(name, value) for name, value in said.params.items()})


def _short(name: str, value: object) -> object:
    if isinstance(value, Message):
        return with_short_files(value)
    return short_file(value) if name == "file" and isinstance(value, str) else value
