from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from trueline.model.curve import Curve
from trueline.report.plot import Cell, plot, scale_of, sparkline


def text(rows: list[list[Cell]]) -> list[str]:
    return ["".join(cell.character for cell in row) for row in rows]


def curve(values: list[float], name: str = "loss") -> Curve:
    return Curve(name, list(range(len(values))), values)


numbers = st.floats(allow_nan=True, allow_infinity=True)


@given(st.lists(st.lists(numbers, max_size=40), min_size=1, max_size=5), st.integers(20, 120), st.booleans())
def test_any_numbers_can_be_drawn_and_every_row_fits(values: list[list[float]], width: int, ascii: bool) -> None:
    rows = text(plot([curve(one) for one in values], width=width, ascii=ascii, marks={3: "3"}))
    assert all(len(row) <= max(width, 30) for row in rows)
    assert not ascii or all(row.isascii() for row in rows)
    assert bool(rows) == any(math.isfinite(value) for one in values for value in one)


@given(st.lists(numbers, max_size=50), st.integers(1, 30), st.booleans())
def test_a_sparkline_is_never_wider_than_asked(values: list[float], width: int, ascii: bool) -> None:
    line = sparkline(curve(values), width, ascii=ascii)
    assert len(line) == min(width, len(values))
    assert ("!" in line) == any(not math.isfinite(value) for value in values)


def test_a_falling_curve_falls() -> None:
    rows = text(plot([curve([float(value) for value in range(50, 0, -1)])], width=60, ascii=True))
    columns = [row.index("*") for row in rows if "*" in row]
    assert columns == sorted(columns)
    assert sparkline(curve([3.0, 2.0, 1.0]), 10) == "█▄▁" or sparkline(curve([3.0, 2.0, 1.0]), 10) == "█▅▁"


def test_two_curves_are_told_apart_where_they_part() -> None:
    same = [float(10 - step) for step in range(10)]
    rows = text(plot([curve(same), curve([*same[:5], *([9.0] * 5)])], width=40, ascii=True))
    field = [row[row.index("|") + 1 :] for row in rows if "|" in row]
    left = "".join(line[:14] for line in field)
    right = "".join(line[20:] for line in field)
    assert "#" in left
    assert "o" not in left
    assert {"*", "o"} <= set(right)


def test_non_finite_steps_are_marked_and_not_bridged() -> None:
    values = [1.0] * 20 + [math.nan] * 20 + [1.0] * 20
    rows = text(plot([curve(values)], width=70))
    axis = next(row for row in rows if "└" in row)
    bad = [place for place, character in enumerate(axis) if character == "!"]
    assert bad
    line = next(row for row in rows if any("\u2801" <= character <= "\u28ff" for character in row))
    assert all(place >= len(line) or line[place] == " " for place in bad[1:-1])


def test_the_marked_step_points_at_its_column() -> None:
    rows = text(plot([curve([1.0, 2.0, 3.0])], width=40, marks={1: "1"}, ascii=True))
    field = 40 - rows[0].index("|") - 1
    assert rows[-1].index("^") == rows[0].index("|") + 1 + (field - 1) // 2
    assert rows[-1].endswith("^ 1")


def test_a_wide_range_of_positive_values_is_logarithmic() -> None:
    wide, flat, negative = (scale_of([curve(values)]) for values in ([1e-3, 1.0], [1.0, 2.0], [-1.0, 1000.0]))
    assert wide is not None and wide.log
    assert flat is not None and not flat.log
    assert negative is not None and not negative.log


def test_the_smallest_numbers_there_are_can_be_drawn() -> None:
    assert text(plot([curve([0.0, 5e-324])], width=40))
    assert sparkline(curve([0.0, 5e-324]), 8)


def test_other_numbers_stand_for_steps_and_marks_say_what_is_there() -> None:
    values = [float(value) for value in range(50, 0, -1)]
    axis = {step: 10.0 ** (step / 10 - 5) for step in range(50)}
    rows = text(plot([curve(values)], width=60, marks={20: "lower 0.001", 48: "upper 0.6"}, axis=axis, ascii=True))
    assert rows[-3].split() == ["1e-05", "0.79433"]
    assert rows[-2].strip() == "^ lower 0.001"
    assert rows[-1].strip() == "upper 0.6 ^"
