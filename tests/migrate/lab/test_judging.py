"""What is rounding and what is not."""

from __future__ import annotations

import numpy as np
import pytest

from trueline.adapters.lab.call import Answer
from trueline.migrate.lab.judging import Verdict, What, judged, precise


def _gave(*values: object, dtype: str = "float32", **gradients: object) -> Answer:
    outputs = [np.asarray(value, dtype) for value in values]
    return Answer(outputs, ["tensor"] * len(outputs), {name: np.asarray(g, dtype) for name, g in gradients.items()})


def test_a_rounding_is_no_difference() -> None:
    verdict = judged(_gave([1.0, 2.0]), _gave([1.0, 2.0000002]), _gave([1.0, 2.0], dtype="float64"))
    assert verdict.what is What.NOTHING


def test_torchs_own_distance_from_double_precision_is_allowed_to_mindspore_too() -> None:
    ours, theirs, exact = _gave([1.0, 100.001]), _gave([1.0, 99.999]), _gave([1.0, 100.0], dtype="float64")
    assert judged(ours, theirs, exact).what is What.NOTHING
    assert judged(ours, theirs, None).what is What.VALUES


@pytest.mark.parametrize(
    ("theirs", "what"),
    [
        (_gave([1.0, 2.5]), What.VALUES),
        (_gave([[1.0, 2.0]]), What.SHAPE),
        (_gave([1, 2], dtype="int64"), What.DTYPE),
        (_gave([1.0, 2.0], dtype="float64"), What.WIDTH),
        (_gave([1.0, np.nan]), What.VALUES),
        (_gave([1.0, 2.0], [3.0]), What.SHAPE),
        (Answer(error=("TypeError", "no")), What.RAISES),
        (Answer(error=("RuntimeError", "The kernel GeluExt unregistered.")), What.KERNEL),
    ],
)
def test_what_differs_is_named(theirs: Answer, what: What) -> None:
    assert judged(_gave([1.0, 2.0]), theirs, None).what is what


def test_a_call_that_torch_refuses_is_no_case() -> None:
    assert judged(Answer(error=("ValueError", "no")), _gave([1.0]), None).what is What.INVALID


def test_equal_values_with_other_gradients_differ() -> None:
    assert judged(_gave([1.0], x=[1.0]), _gave([1.0], x=[2.0]), None).what is What.GRADIENT


def test_a_gradient_that_is_zero_but_for_rounding_is_judged_by_the_largest() -> None:
    ours, theirs = _gave([1.0], x=[5.0], y=[1e-9]), _gave([1.0], x=[5.0], y=[-2e-9])
    assert judged(ours, theirs, None).what is What.NOTHING


def test_nan_in_the_same_places_is_equal_and_infinities_have_a_sign() -> None:
    assert judged(_gave([np.nan, np.inf]), _gave([np.nan, np.inf]), None).what is What.NOTHING
    assert judged(_gave([np.inf]), _gave([-np.inf]), None).what is What.VALUES


def test_a_small_difference_that_double_precision_keeps_is_one_of_values() -> None:
    small = Verdict(What.VALUES, 1e-4, small=True)
    exact = _gave([1.0], dtype="float64")
    assert precise(small, exact, _gave([1.0], dtype="float64")).what is What.PRECISION
    assert precise(small, exact, _gave([1.0001], dtype="float64")).what is What.VALUES


def test_random_answers_are_judged_by_shape_and_moments() -> None:
    rng = np.random.default_rng(0)
    ours, theirs = _gave(rng.normal(size=4000)), _gave(rng.normal(size=4000))
    assert judged(ours, theirs, None, random=True).what is What.NOTHING
    assert judged(ours, _gave(rng.normal(0.3, 1, 4000)), None, random=True).what is What.VALUES
    assert judged(ours, _gave(rng.normal(0, 2, 4000)), None, random=True).what is What.VALUES
