"""Two ways of writing a padding that mean the same always, sometimes, or never."""

from __future__ import annotations

from typing import Any

import pytest

from trueline.pair.attributes.padding import differing_sizes

ONE = [[1, 1], [1, 1]]


def _window(padding: Any, **more: Any) -> dict[str, Any]:
    return {"kernel_size": 3, "stride": 1, "padding": padding, **more}


@pytest.mark.parametrize(
    ("bench", "port"),
    [
        (_window(ONE), _window("same")),
        (_window([[2, 2], [2, 2]], kernel_size=5), _window("same", kernel_size=5)),
        (_window([[2, 2], [2, 2]], dilation=2), _window("same")),
        (_window([[0, 0], [0, 0]], kernel_size=1, stride=2), _window("same")),
    ],
)
def test_the_same_for_every_size(bench: dict[str, Any], port: dict[str, Any]) -> None:
    assert differing_sizes(bench, port, 2, (8, 8), transposed=False) == []


def test_a_step_of_two_pads_another_side_of_even_sizes_only() -> None:
    found = differing_sizes(_window(ONE, stride=2), _window("same"), 2, (7, 7), transposed=False)
    assert found and all(size % 2 == 0 for size in found)


def test_a_transposed_window_of_four_is_the_same_and_one_of_three_is_not() -> None:
    four, three = ({"kernel_size": size, "stride": 2, "padding": ONE} for size in (4, 3))
    assert differing_sizes(four, {"padding": "same"}, 2, (8, 8), transposed=True) == []
    assert differing_sizes(three, {"padding": "same"}, 2, (8, 8), transposed=True)
