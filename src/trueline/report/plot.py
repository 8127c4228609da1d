"""Curves drawn with characters: one as a braille line, several over each other with a mark for each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType

from rich.cells import cell_len

from trueline.model.curve import Curve
from trueline.report.shown import number

MARKS = "●○×+"
ASCII_MARKS = "*ox+"
TOGETHER, ASCII_TOGETHER = "◆", "#"
_BLOCKS, _ASCII_BLOCKS = "▁▂▃▄▅▆▇█", "_.:-=+*#"
_DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
_LOG_FROM = 100.0


@dataclass(frozen=True, slots=True)
class Cell:
    """One character, and which curve it belongs to (None: the frame or several)."""

    character: str
    curve: int | None = None


@dataclass(frozen=True, slots=True)
class Scale:
    """The range of values, and whether it is drawn logarithmically."""

    low: float
    high: float
    log: bool

    def share(self, value: float) -> float:
        """How far up a value lies: 0 at the bottom, 1 at the top."""
        low, high, at = (math.log(one) if self.log else one for one in (self.low, self.high, value))
        # Halves first: the difference of two finite numbers may not be finite.
        span = high / 2 - low / 2
        return (at / 2 - low / 2) / span if span > 0 else 0.5

    def place(self, value: float, size: int) -> int:
        """The row of a value, 0 at the bottom."""
        if self.high <= self.low:
            return size // 2
        return min(size - 1, max(0, round(self.share(value) * (size - 1))))

    def at(self, share: float) -> float:
        """The value at a share of the height."""
        if self.log:
            return math.exp(math.log(self.low) + share * (math.log(self.high) - math.log(self.low)))
        return self.low * (1 - share) + self.high * share


def scale_of(curves: Sequence[Curve]) -> Scale | None:
    """The scale that all finite values fit; None where there are none."""
    values = [value for curve in curves for value in curve.values if math.isfinite(value)]
    if not values:
        return None
    low, high = min(values), max(values)
    return Scale(low, high, low > 0 and high / low >= _LOG_FROM)


def plot(
    curves: Sequence[Curve],
    *,
    width: int,
    height: int = 8,
    marks: Mapping[int, str] = MappingProxyType({}),
    axis: Mapping[int, float] | None = None,
    ascii: bool = False,
) -> list[list[Cell]]:
    """Rows of cells: the curves, an axis with ``!`` where a value is not finite, and the marked steps below it.

    ``axis`` has the numbers that stand for steps, ``marks`` what is said of steps.
    """
    scale = scale_of(curves)
    steps = [step for curve in curves for step in curve.steps]
    if scale is None or not steps:
        return []
    first, last = min(steps), max(steps)
    labels = {height - 1: number(scale.at(1)), 0: number(scale.at(0))}
    if height > 4 and scale.high > scale.low:
        labels[height // 2] = number(scale.at((height // 2) / (height - 1)))
    margin = max(len(label) for label in labels.values())
    room = max(10, width - margin - 2)
    if len(curves) == 1 and not ascii:
        field = _braille(curves[0], scale, first, last, room, height)
    else:
        field = _marks(curves, scale, first, last, room, height, ascii)
    side, corner, line, pointer = ("|", "+", "-", "^") if ascii else ("│", "└", "─", "▲")
    rows = [_cells(f"{labels.get(row, ''):>{margin}} {side}") + field[row] for row in range(height - 1, -1, -1)]
    bad = set[int]().union(*(_broken(curve, first, last, room) for curve in curves))
    rows.append(_cells(" " * (margin + 1) + corner + "".join("!" if at in bad else line for at in range(room))))
    left, right = (str(step) if axis is None else number(axis[step]) for step in (first, last))
    rows.append(_cells(" " * (margin + 2) + f"{left}{right:>{max(1, room - len(left))}}"))
    for step, note in sorted(marks.items()):
        if first <= step <= last:
            at = _column(step, first, last, room)
            before = at + cell_len(note) + 1 >= room
            text = (" " * (at - cell_len(note) - 1) + f"{note} {pointer}") if before else f"{' ' * at}{pointer} {note}"
            rows.append(_cells(" " * (margin + 2) + text))
    return rows


def sparkline(curve: Curve, width: int, *, ascii: bool = False) -> str:
    """A curve as one short line of blocks, ``!`` where a value is not finite."""
    scale = scale_of([curve])
    if not curve.steps:
        return ""
    blocks = _ASCII_BLOCKS if ascii else _BLOCKS
    first, last = curve.steps[0], curve.steps[-1]
    room = min(width, len(curve))
    means = _means(curve, first, last, room)
    bad = _broken(curve, first, last, room)
    characters = []
    for at in range(room):
        if at in bad:
            characters.append("!")
        elif scale is None or at not in means:
            characters.append(" ")
        else:
            characters.append(blocks[scale.place(means[at], len(blocks))])
    return "".join(characters)


def _cells(text: str) -> list[Cell]:
    return [Cell(character) for character in text]


def _column(step: int, first: int, last: int, room: int) -> int:
    return (step - first) * (room - 1) // (last - first) if last > first else 0


def _means(curve: Curve, first: int, last: int, room: int) -> dict[int, float]:
    """The mean of the finite values that share a column."""
    found: dict[int, list[float]] = {}
    for step, value in zip(curve.steps, curve.values, strict=True):
        if math.isfinite(value):
            found.setdefault(_column(step, first, last, room), []).append(value)
    return {column: sum(value / len(values) for value in values) for column, values in found.items()}


def _broken(curve: Curve, first: int, last: int, room: int) -> set[int]:
    """The columns with a value that is not finite."""
    return {
        _column(step, first, last, room)
        for step, value in zip(curve.steps, curve.values, strict=True)
        if not math.isfinite(value)
    }


def _stretches(curve: Curve, first: int, last: int, room: int) -> Iterator[list[tuple[int, float]]]:
    """The points of a curve by column, cut where values are not finite: no line crosses those."""
    means = _means(curve, first, last, room)
    stretch: list[tuple[int, float]] = []
    for column in sorted(means.keys() | _broken(curve, first, last, room)):
        if column in means:
            stretch.append((column, means[column]))
        else:
            yield stretch
            stretch = []
    yield stretch


def _braille(curve: Curve, scale: Scale, first: int, last: int, room: int, height: int) -> list[list[Cell]]:
    dots = [[0] * room for _ in range(height)]
    for stretch in _stretches(curve, first, last, room * 2):
        before: tuple[int, int] | None = None
        for column, value in stretch:
            row = scale.place(value, height * 4)
            for x, y in _line(before, (column, row)):
                dots[y // 4][x // 2] |= _DOTS[x % 2][3 - y % 4]
            before = (column, row)
    return [[Cell(chr(0x2800 + bits) if bits else " ", 0) for bits in line] for line in dots]


def _line(before: tuple[int, int] | None, to: tuple[int, int]) -> list[tuple[int, int]]:
    """The dots from one point to the next, without the first."""
    if before is None:
        return [to]
    (x0, y0), (x1, y1) = before, to
    length = max(x1 - x0, abs(y1 - y0), 1)
    return [(x0 + (x1 - x0) * part // length, y0 + round((y1 - y0) * part / length)) for part in range(1, length + 1)]


def _marks(
    curves: Sequence[Curve], scale: Scale, first: int, last: int, room: int, height: int, ascii: bool
) -> list[list[Cell]]:
    marks, together = (ASCII_MARKS, ASCII_TOGETHER) if ascii else (MARKS, TOGETHER)
    field = [[Cell(" ")] * room for _ in range(height)]
    for place, curve in enumerate(curves):
        for stretch in _stretches(curve, first, last, room):
            for column, row in _filled([(column, scale.place(value, height)) for column, value in stretch]):
                taken = field[row][column].curve not in (None, place)
                field[row][column] = Cell(together) if taken else Cell(marks[place % len(marks)], place)
    return field


def _filled(points: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """A place in every column from the first point to the last."""
    for (x0, y0), (x1, y1) in pairwise(points):
        for x in range(x0, x1):
            yield x, y0 + round((y1 - y0) * (x - x0) / (x1 - x0))
    yield from points[-1:]


def bar_text(share: float, width: int, *, ascii: bool = False) -> str:
    """A bar of a share of some columns; what is not nothing is never shown as nothing."""
    if not share > 0:
        return ""
    if ascii:
        return "#" * max(1, round(min(1.0, share) * width))
    eighths = max(1, round(min(1.0, share) * width * 8))
    return "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()
