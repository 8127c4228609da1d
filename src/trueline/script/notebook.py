"""A notebook as a source file: its code cells in order, without what is not Python."""

from __future__ import annotations

import ast
import re
import warnings
from bisect import bisect_right
from pathlib import Path
from typing import Final

import msgspec

from trueline.model.budget import OverBudget
from trueline.model.message import message
from trueline.script.source import SourceFile, comments_of, content_of

ENDING: Final = ".ipynb"
_MAX_BYTES: Final = 128 << 20
# Magics, shell commands and questions: ``%time``, ``!pip install``, ``?print``, ``print?``.
_LINE: Final = re.compile(r"^(\s*)(?:[%!?].*|\S.*\?\s*)$")
_ASSIGNED: Final = re.compile(r"^(\s*[\w., ]+=\s*)[%!].*$")
# Cell magics after which the rest is Python.
_TIMED: Final = frozenset(("time", "timeit", "capture", "prun"))


class _Cell(msgspec.Struct):
    cell_type: str = ""
    source: str | list[str] = ""


class _Notebook(msgspec.Struct):
    cells: list[_Cell]


class Cells(msgspec.Struct, frozen=True):
    """Where the cells of a notebook begin in the text that was made of it: line, and number of the cell from 1."""

    lines: tuple[int, ...]
    numbers: tuple[int, ...]
    left_out: tuple[int, ...] = ()

    def place(self, line: int) -> tuple[int, int]:
        """The cell of a line, and the line in it."""
        at = max(0, bisect_right(self.lines, line) - 1)
        return self.numbers[at], line - self.lines[at] + 1


def read_notebook(path: Path, shown: str) -> tuple[SourceFile, Cells]:
    """Read a notebook; whatever is wrong with it is told, and nothing is raised."""
    source = SourceFile(path, shown)
    try:
        found = msgspec.json.decode(content_of(path, _MAX_BYTES), type=_Notebook)
    except OverBudget:
        source.trouble = message("script.too_large").text()
    except OSError as error:
        source.trouble = error.strerror or str(error)
    except (msgspec.DecodeError, RecursionError):
        source.trouble = message("script.no_notebook").text()
    else:
        return _joined(source, found)
    return source, Cells((), ())


def _joined(source: SourceFile, notebook: _Notebook) -> tuple[SourceFile, Cells]:
    """All code cells as one text; a cell that is no Python is left empty."""
    lines: list[str] = []
    begin: list[int] = []
    numbers: list[int] = []
    left_out: list[int] = []
    for number, cell in enumerate(notebook.cells, 1):
        if cell.cell_type != "code":
            continue
        text = cell.source if isinstance(cell.source, str) else "".join(cell.source)
        kept = [_python(line) for line in text.splitlines()]
        if text.startswith("%%") and text[2:].split(None, 1)[0:1] and text[2:].split(None, 1)[0] not in _TIMED:
            kept = [""] * len(kept)
        elif not _parses("\n".join(kept)):
            left_out.append(number)
            kept = [""] * len(kept)
        begin.append(len(lines) + 1)
        numbers.append(number)
        lines += kept or [""]
    source.text = "\n".join(lines) + "\n"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            source.tree = ast.parse(source.text, filename=source.shown)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            source.trouble = message("script.no_notebook").text()
    source.ignored = comments_of(source.text)
    return source, Cells(tuple(begin), tuple(numbers), tuple(left_out))


def _python(line: str) -> str:
    if match := _ASSIGNED.match(line):
        return f"{match[1]}None"
    if match := _LINE.match(line):
        return "" if line.lstrip().startswith("%%") else f"{match[1]}pass"
    return line


def _parses(text: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
    return True
