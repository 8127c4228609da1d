"""The conditions of a call that can be seen from its values."""

from __future__ import annotations

import numpy as np
import pytest

from trueline.migrate.lab.conditions import conditions_of
from trueline.migrate.lab.draw import Draw, Strided

ORDINARY = np.array([1.5, -2.25], np.float32)


@pytest.mark.parametrize(
    ("value", "conditions"),
    [
        (ORDINARY, set()),
        (np.float32([[1.5]]), {"one_element"}),
        (np.array(1.5, np.float32), {"0-d"}),
        (np.float32([]), {"empty"}),
        (np.float32([0.0, 1.0]), set()),
        (np.float32([-0.0, 1.0]), {"negative_zero"}),
        (np.float32([np.nan, np.inf]), {"nan", "inf"}),
        (np.float16([1, 2]), {"float16"}),
        (np.float32([1e9, 1]), {"large"}),
        (Strided(ORDINARY), {"strided"}),
        ([ORDINARY, np.complex64([1j, 2])], {"complex"}),
    ],
)
def test_conditions_are_seen_from_values(value: object, conditions: set[str]) -> None:
    assert conditions_of(Draw({"input": value})) == conditions


def test_a_weight_of_one_element_beside_a_larger_input_is_ordinary() -> None:
    assert conditions_of(Draw({"input": ORDINARY, "weight": np.float32([0.25])})) == frozenset()
