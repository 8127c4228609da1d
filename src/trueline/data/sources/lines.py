"""Lines of a file by number, for rows that DuckDB numbers otherwise: a row may have several lines, a line no row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from trueline.formats.files import open_file
from trueline.kernel.array import Array

_PIECE: Final = 1 << 20
_LINE_END, _RETURN = 10, 13


def lines_at(path: Path, starts: Sequence[int], line_end: str = "\n") -> list[tuple[int, int]]:
    """Of rows that start at some bytes: the line, and how many empty lines come before; all counted from 1."""
    # Where lines end in two characters, DuckDB tells the second of them as the start of the next row.
    wanted = np.asarray(starts, np.int64)
    lines = np.ones(len(wanted), np.int64)
    empty = np.zeros(len(wanted), np.int64)
    for ends, is_empty in _line_ends(path, ord(line_end)):
        lines += np.searchsorted(ends, wanted, side="left")
        empty += np.searchsorted(ends[is_empty], wanted - 1, side="left")
    return list(zip(lines.tolist(), empty.tolist(), strict=True))


def lines_of_rows(path: Path, rows: Sequence[int], line_end: str = "\n") -> list[int]:
    """Of a file whose rows are the lines that are not empty: the lines, from 1, of some rows, from 0, in order."""
    found: list[int] = []
    wanted = list(rows)
    lines = filled = 0
    for ends, is_empty in _line_ends(path, ord(line_end)):
        numbers = np.flatnonzero(~is_empty)
        while len(found) < len(wanted) and wanted[len(found)] < filled + len(numbers):
            found.append(lines + int(numbers[wanted[len(found)] - filled]) + 1)
        lines += len(ends)
        filled += len(numbers)
    # The last line may lack its end.
    return found + [lines + 1] * (len(wanted) - len(found))


def _line_ends(path: Path, line_end: int = _LINE_END) -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]]:
    """Piece by piece: where lines end, and which of them are empty."""
    at, last_end, last_byte = 0, -1, 0
    with open_file(path) as file:
        while piece := file.read(_PIECE):
            found: Array = np.frombuffer(piece, np.uint8)
            places = np.flatnonzero(found == line_end)
            before = np.where(places > 0, found[places - 1], last_byte)
            ends = places.astype(np.int64) + at
            lengths = np.diff(ends, prepend=last_end)
            yield ends, (lengths == 1) | ((lengths == 2) & (before == _RETURN))
            at += len(found)
            last_end = int(ends[-1]) if len(ends) else last_end
            last_byte = int(found[-1])
