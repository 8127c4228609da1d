"""Programs that go non-finite in known places, and healthy ones: a part of the table that make eval runs whole."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import pytest
import warm

sys.path.insert(0, str(Path(__file__).parents[1] / "eval" / "watch"))

from programs import Program, programs, watched, wrong

# One after the other of both frameworks, faulty and healthy: whatever part is taken has something of each.
ALL = sorted(programs(), key=lambda one: one.name[::-1])


@pytest.mark.parametrize("program", ALL, ids=lambda one: one.name)
def test_the_operator_and_line_are_named_and_healthy_programs_left_alone(program: Program, tmp_path: Path) -> None:
    framework = warm.framework_of([program.told["script"]], program.folder)
    answer = watched(program, tmp_path / "answer.json", partial(warm.python, framework))
    assert wrong(program, answer) == []
