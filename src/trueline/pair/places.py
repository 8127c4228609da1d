"""Where causes are: a line on each side, and files in as few words as a reader needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final

from trueline.model.location import Location
from trueline.model.message import Message
from trueline.pair.aligning.aligned import Aligned
from trueline.pair.blame import Blame, Stage

# What is about modules, and not about what the file with parts has.
_OF_MODULES: Final = frozenset({Stage.PARAMETERS, Stage.WEIGHTS, Stage.FORWARD, Stage.INITIAL, Stage.BACKWARD})


def placed(blame: Blame, aligned: Aligned) -> Blame:
    """A cause in a module, with the line that built the module on each side where none says more."""
    if blame.stage not in _OF_MODULES or (blame.line is not None and blame.other_line is not None):
        return blame
    other = blame.other_module or aligned.modules.get(blame.module, "")
    return replace(
        blame,
        line=blame.line or aligned.port.place_of(blame.module),
        other_line=blame.other_line or aligned.bench.place_of(other),
    )


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
