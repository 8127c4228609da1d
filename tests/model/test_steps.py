"""Which steps a user asked for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueline.model.steps import Steps


@pytest.mark.parametrize(
    ("text", "chosen"),
    [
        ("0", [0]),
        ("0,1,10:13", [0, 1, 10, 11, 12]),
        ("3:", list(range(3, 20))),
        (":3", [0, 1, 2]),
        ("::5", [0, 5, 10, 15]),
        ("2:12:4", [2, 6, 10]),
        ("all", list(range(20))),
        (" 1 , 4:6 ", [1, 4, 5]),
        ("5:5", []),
        ("7,7", [7]),
    ],
)
def test_a_selection_is_written_as_in_python(text: str, chosen: list[int]) -> None:
    steps = Steps.parse(text)
    assert [step for step in range(20) if step in steps] == chosen


@pytest.mark.parametrize("text", ["", ",", "1,", "a", "-1", "1:-2", "1.5", "1:2:0", "1 2", "all,1", "1:2:3:4"])
def test_what_cannot_be_meant_is_refused_with_the_text_and_the_reason(text: str) -> None:
    with pytest.raises(ValueError, match="not a selection of steps"):
        Steps.parse(text)


@given(st.integers(0, 50), st.one_of(st.none(), st.integers(0, 50)), st.integers(1, 7), st.integers(0, 60))
def test_a_part_is_python_s_range(start: int, stop: int | None, stride: int, step: int) -> None:
    text = f"{start}:{'' if stop is None else stop}:{stride}"
    assert (step in Steps.parse(text)) == (step in range(start, 100 if stop is None else stop, stride))


def test_none_is_false_and_every_is_all() -> None:
    assert not Steps.none()
    assert 0 not in Steps.none()
    assert Steps.every()
    assert Steps.every() == Steps.parse("all")
    assert 10**9 in Steps.every()
    assert -1 not in Steps.every()
