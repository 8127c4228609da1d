"""Pipelines with a fault in a known place, and healthy ones: a part of the table that make eval runs whole."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "eval" / "pipelines"))

from cases import FRAMEWORKS, Case, cases, wrong

from trueline.adapters.guest.entry import Entry
from trueline.data.pipeline.judged import judged
from trueline.data.pipeline.looking import Wish, look_at_several
from trueline.data.pipeline.report import result

pytestmark = pytest.mark.usefixtures("warm_guests")

# One after the other, faulty and healthy: whatever part is taken has something of each.
PART = 1 if os.environ.get("TRUELINE_WHOLE") else 5
# Each takes seconds of its own: workers that are spawned, or many of them.
SLOW = ("global_missing_in_worker", "lambda_not_picklable", "slow_median")


def chosen(framework: str) -> list[Case]:
    own = [one for one in cases() if one.framework == framework and one.name not in SLOW]
    return sorted(own, key=lambda one: one.name[::-1])[::PART]


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_faults_are_named_with_operator_sample_and_line_and_healthy_ones_left_alone(framework: str) -> None:
    some = chosen(framework)
    entries = [(Entry.parse(f"{one.file.name}:make"), one.file.parent) for one in some]
    wrongs: dict[str, Any] = {}
    for case, evidence in zip(some, look_at_several(entries, Wish()), strict=True):
        answer = result(case.name, evidence, judged(evidence)).to_json("en")
        wrongs[case.name] = wrong(case, answer)
    assert {name: one for name, one in wrongs.items() if one} == {}
    assert len(wrongs) > 8
