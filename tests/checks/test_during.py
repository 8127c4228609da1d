"""While a run grows its checks are asked at the first steps, seldom later, and never to the training's harm."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from trueline.checks.engine.check import Check, found, none
from trueline.checks.engine.during import During
from trueline.formats.run_folder.reader import Run
from trueline.formats.run_folder.writer import RankWriter
from trueline.model.finding import Finding
from trueline.model.key import Phase
from trueline.model.location import Location
from trueline.model.message import Message
from trueline.model.run import RunInfo

CUT = "tr_02.script.cut"


class Training:
    """A run that grows step by step, with a clock of its own, and checks that cost so many seconds."""

    def __init__(self, folder: Path, *, cost: float = 0.0, bad_from: int | None = None) -> None:
        self.folder = folder / "run"
        self.writer = RankWriter(self.folder)
        self.writer.write_info(RunInfo(id="one"))
        self.asked: list[int] = []
        self.said: list[str] = []
        self.now = 0.0
        self._cost = cost
        self._bad_from = bad_from
        check = Check("tr.02", "a title", self._ask, ("run",), {}, __name__)
        self.during = During(self.folder, [check], {}, self._say, clock=lambda: self.now)

    def _ask(self, run: Run) -> Iterator[Finding]:
        done = run.rank(0).finished
        self.asked.append(done)
        self.now += self._cost
        if self._bad_from is not None and done >= self._bad_from:
            yield found(CUT, Location(file="train.py", line=3, step=done), by="x", backward=done)
        else:
            yield none(CUT, evidence=[done], by="x", backward=done)

    def _say(self, said: Message) -> None:
        self.said.append(said.text("en"))

    def step(self, number: int, phase: Phase = Phase.TRAIN, seconds: float = 1.0) -> None:
        self.now += seconds
        end: dict[str, Any] = {"event": "end", "t": self.now, "seconds": seconds}
        self.writer.finish_step(number, phase.value, [end])
        self.during.step_finished(phase, number, [end])


def test_it_is_asked_in_the_first_steps_and_then_ever_more_seldom(tmp_path: Path) -> None:
    training = Training(tmp_path)
    for number in range(600):
        training.step(number)
    assert training.asked == [2, 5, 20, 100, 500]


def test_later_it_is_asked_only_where_it_costs_next_to_nothing(tmp_path: Path) -> None:
    training = Training(tmp_path, cost=10.0)
    for number in range(600):
        training.step(number)
    assert training.asked == [2, 5, 20]


def test_it_is_asked_after_the_first_evaluation_too(tmp_path: Path) -> None:
    training = Training(tmp_path)
    for number in range(8):
        training.step(number)
    for number in range(3):
        training.step(number, Phase.EVAL)
    training.step(8)
    training.step(9)
    assert training.asked == [2, 5, 9]


def test_a_problem_is_said_once_with_its_step_and_line(tmp_path: Path) -> None:
    training = Training(tmp_path, bad_from=5)
    for number in range(30):
        training.step(number)
    (line,) = training.said
    assert line.startswith("after 5 steps: tr.02 train.py:3: ")


def test_a_training_in_other_processes_is_looked_at_in_its_folder(tmp_path: Path) -> None:
    training = Training(tmp_path)
    step_finished, training.during.step_finished = training.during.step_finished, lambda *_: None  # type: ignore[method-assign]
    for number in range(30):
        training.step(number)
        if number % 3 == 0:
            training.during.look()
    assert step_finished is not None and training.asked == [4, 7, 22]


@pytest.mark.parametrize("way", ["told", "looking"])
def test_a_folder_that_cannot_be_read_is_told_once_and_disturbs_nothing(tmp_path: Path, way: str) -> None:
    training = Training(tmp_path)
    (training.folder / "run.json").write_text(json.dumps({"format": 10**6}))
    for number in range(30):
        if way == "told":
            training.step(number)
        else:
            training.during.look()
    assert len(training.said) == 1 and "not asked any more" in training.said[0] and training.asked == []
