"""What a file uses, the networks in it, and what of them graph mode has limits for."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from trueline.model.message import message
from trueline.script.notebook import ENDING, Cells, read_notebook
from trueline.script.source import SourceFile, read_source
from trueline.script.uses.imports import Imports
from trueline.script.uses.reader import Reader
from trueline.script.uses.use import Use
from trueline.script.uses.value import ClassInfo, ClassRef, FunctionInfo

_FORWARDS: Final = ("forward", "construct")


class Network(NamedTuple):
    """A class that derives from Module or Cell."""

    name: str
    path: str
    file: str
    line: int
    framework: str
    bases: tuple[tuple[str, str], ...]  # classes of the project that it derives from: name and path


class Making(NamedTuple):
    """A place where an object of a class of the project is made; ``within`` is the class around it."""

    name: str
    path: str
    within: str


class Remark(NamedTuple):
    """Something in a forward pass, or in what it calls, that graph mode has limits for."""

    kind: str
    line: int
    what: str
    scope: str


@dataclass(frozen=True, slots=True)
class FileUses:
    """All that was found in a file."""

    path: str
    file: str
    lines: int = 0
    uses: tuple[Use, ...] = ()
    networks: tuple[Network, ...] = ()
    made: tuple[Making, ...] = ()
    remarks: tuple[Remark, ...] = ()
    # The functions and methods that a forward pass runs.
    reached: frozenset[str] = frozenset()
    frameworks: frozenset[str] = frozenset()
    trouble: str | None = None
    cells: Cells | None = None

    def place(self, line: int) -> str:
        """A line as a reader finds it: ``12``, or ``cell 3, line 2`` of a notebook."""
        if self.cells is None or not self.cells.lines:
            return str(line)
        cell, within = self.cells.place(line)
        return f"[{cell}]:{within}"


def read_uses(path: Path, shown: str, imports: Imports) -> FileUses:
    """Read one file, script or notebook."""
    with _no_collecting():
        if path.suffix == ENDING:
            source, cells = read_notebook(path, shown)
        else:
            source, cells = read_source(path, shown), None
        if source.trouble is not None:
            return FileUses(str(path), shown, trouble=source.trouble, cells=cells)
        return found_in(source, imports, cells)


def found_in(source: SourceFile, imports: Imports, cells: Cells | None = None) -> FileUses:
    """What is found in a source."""
    reader = Reader(source, imports)
    lines = source.text.count("\n")
    try:
        reader.read(source.tree)
    except RecursionError:
        trouble = message("script.too_deep").text()
        return FileUses(str(source.path), source.shown, lines, trouble=trouble, cells=cells)
    uses = sorted(reader.found(), key=lambda use: (use.line, use.column, use.end))
    reached = _reached(reader)
    return FileUses(
        str(source.path),
        source.shown,
        lines,
        tuple(uses),
        tuple(_network(info, source.shown) for info in reader.classes if info.network),
        tuple(Making(*made) for made in reader.made),
        tuple(_remarks(reached)),
        frozenset(info.name for info in reached),
        frozenset(reader.frameworks),
        cells=cells,
    )


@contextmanager
def _no_collecting() -> Iterator[None]:
    """Trees of syntax are large and hold no garbage: looking for it takes a third of the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _network(info: ClassInfo, shown: str) -> Network:
    bases = tuple((base.info.name, base.info.file) for base in info.bases if isinstance(base, ClassRef))
    return Network(info.name, info.file, shown, info.line, info.network, bases)


def _reached(reader: Reader) -> list[FunctionInfo]:
    """The forward passes of the file's networks, and what they call."""
    by_name: dict[str, list[FunctionInfo]] = {}
    for info in reader.functions:
        by_name.setdefault(info.name, []).append(info)
    waiting = [
        info
        for info in reader.functions
        if info.owner is not None and info.owner.network and info.node.name in _FORWARDS
    ]
    found: dict[int, FunctionInfo] = {}
    while waiting:
        info = waiting.pop()
        if id(info) in found:
            continue
        found[id(info)] = info
        for name in info.calls:
            waiting += by_name.get(name, [])
    return list(found.values())


def _remarks(reached: list[FunctionInfo]) -> Iterator[Remark]:
    for info in reached:
        for kind, line, what in dict.fromkeys(info.remarks):
            yield Remark(kind, line, what, info.name)
