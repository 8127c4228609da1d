"""Every item has scripts that show its fault and scripts that come close to it, for each framework."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Final

import pytest
from checks.fixtures import all_fixtures

from trueline.checks.engine.listing import all_checks, codes

FRAMEWORKS: Final = ("torch", "mindspore")
AT_LEAST: Final = 2
# Faults that a run could show and does not in a framework, with the reason.
NOT_BY_RUN: Final[dict[tuple[str, str], str]] = {
    ("tr.01", "mindspore"): "gradients are handed out anew; sums of the script's own are values like any other",
    ("mp.04", "mindspore"): "what is done with a slope inside a differentiated function is not seen",
}

# What a framework does not have, so that nothing can be wrong with it.
NOT_THERE: Final[dict[tuple[str, str], str]] = {
    ("tr.30", "mindspore"): "mixed precision is a matter of cells, not of threads",
    ("tr.31", "mindspore"): "no normaliser of weights",
}

COUNTS: Final = Counter((one.code, one.framework, one.good) for one in all_fixtures())
BY_RUN: Final = Counter((one.code, one.framework) for one in all_fixtures() if one.run and one.code in one.run.codes)
FROM_RUN: Final = sorted({one.code for one in all_checks() if one.evidence == ("run",)})


@pytest.mark.parametrize(
    ("code", "framework"), [pair for pair in itertools.product(codes(), FRAMEWORKS) if pair not in NOT_THERE]
)
def test_an_item_has_bad_and_good_scripts(code: str, framework: str) -> None:
    for good in (False, True):
        kind = "good" if good else "bad"
        assert COUNTS[code, framework, good] >= AT_LEAST, f"{kind} scripts of {code} in {framework}"


@pytest.mark.parametrize(
    ("code", "framework"),
    [pair for pair in itertools.product(FROM_RUN, FRAMEWORKS) if pair not in {**NOT_BY_RUN, **NOT_THERE}],
)
def test_an_item_that_runs_decide_has_runs_that_show_it(code: str, framework: str) -> None:
    assert BY_RUN[code, framework] >= AT_LEAST, f"bad scripts of {code} in {framework} with a mark of their run"


def test_exceptions_are_still_needed() -> None:
    for code, framework in {**NOT_BY_RUN, **NOT_THERE}:
        assert BY_RUN[code, framework] < AT_LEAST, (code, framework)


def test_every_fixture_is_an_items() -> None:
    assert {one.code for one in all_fixtures()} == set(codes())
