"""A step done again in a fresh process is the same bit for bit, by what the script itself prints."""

from __future__ import annotations

from pathlib import Path

import pytest
from replay.replaying import Recorded, recorded

HERE = Path(__file__).parent
EVERY = ["--keep-state", "18"]
CASES = [
    ("torch", "--optimizer=adam", "--workers=2"),
    ("torch", "--optimizer=momentum", "--workers=0"),
    ("torch", "--optimizer=adam", "--accumulate=3"),
    ("mindspore", "--optimizer=momentum", "--workers=2"),
    ("mindspore", "--optimizer=adam", "--workers=1"),
]


@pytest.fixture(scope="module", params=CASES, ids=lambda case: " ".join(case))
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    framework, *arguments = request.param
    program = (HERE / f"{framework}_program.py").read_text("utf-8")
    keep = [*EVERY, "--deterministic", "5"] if framework == "mindspore" else EVERY
    return recorded(tmp_path_factory.mktemp("replay"), program, keep, *arguments)


def test_steps_within_an_epoch_and_across_its_end(run: Recorded) -> None:
    # Epochs have six steps: 8 is in the middle of one, 12 the first of another.
    assert len(run.lines) == 18
    for step, more, afresh in ((8, 0, False), (12, 1, True)):
        found, printed = run.replay("--step", str(step), "--more", str(more), afresh=afresh)
        assert printed == run.lines[step - 1 : step + more + 1]
        assert found["bitwise"] is True
        assert {one["same"] for one in found["steps"]} == {True}
        assert (found["from"], found["exit"]) == (step - 1, 0)
