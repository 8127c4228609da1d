"""A file's budget grows with its size and is refused before it is spent."""

from __future__ import annotations

import pytest

from trueline.model.budget import MEMORY_BASE, MEMORY_PER_BYTE, WORK_BASE, Budget, OverBudget


def test_memory_is_refused_before_it_is_taken() -> None:
    budget = Budget("a.pth", 1000)
    budget.hold(MEMORY_BASE)
    budget.hold(MEMORY_PER_BYTE * 1000)
    with pytest.raises(OverBudget, match=r"a\.pth: .*1000 bytes"):
        budget.hold(1)


def test_memory_that_is_given_back_can_be_taken_again() -> None:
    budget = Budget("a.pth", 0)
    for _ in range(3):
        budget.hold(MEMORY_BASE)
        budget.release(MEMORY_BASE)


def test_work_grows_with_the_file() -> None:
    small, large = Budget("a", 0), Budget("a", 10 * WORK_BASE)
    large.spend(WORK_BASE + 1)
    with pytest.raises(OverBudget, match="work"):
        small.spend(WORK_BASE + 1)
