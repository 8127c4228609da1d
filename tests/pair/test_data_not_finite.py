"""Data of two pipelines that are not finite: the same in both is no difference, anything else is one."""

from __future__ import annotations

import numpy as np

from trueline.pair.data.forms import alike, apart, relate

FINE = np.array([1.0, 2.0, 3.0])
ODD = np.array([1.0, np.nan, -np.inf])


def test_the_same_nan_in_both_is_alike() -> None:
    assert alike([ODD], [ODD.copy()])
    assert apart([ODD], [ODD.copy()]) == 0.0


def test_nan_on_one_side_only_is_a_difference_that_nothing_explains() -> None:
    for other in (FINE, np.array([1.0, np.nan, np.inf])):
        assert not alike([ODD], [other])
        assert apart([ODD], [other]) == np.inf
        assert relate([ODD], [other]) is None
