"""The checklist while a training runs: what its first steps show is told at once, and the training goes on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from trueline.checks.engine.check import Check
from trueline.checks.engine.checklist import fill_in
from trueline.checks.engine.listing import during_run
from trueline.checks.engine.running import Limits
from trueline.formats.run_folder.reader import Run, open_run
from trueline.model.finding import Evidence, Finding
from trueline.model.key import Phase
from trueline.model.message import Message, message

# Training steps after which the checks are asked, whatever that costs: most faults show in the first ones.
FIRST_STEPS: Final = (2, 5, 20)
# After those, each time after so many times as many steps.
STEP_FACTOR: Final = 5
# The share of the training's time that asking later may take.
MAX_SHARE_OF_TIME: Final = 0.02
Clock = Callable[[], float]


class During:
    """Asks what a run alone decides, again and again while the run grows, and says every problem once."""

    def __init__(
        self,
        folder: Path,
        checks: Sequence[Check],
        limits: Limits,
        say: Callable[[Message], None],
        clock: Clock = time.process_time,
    ) -> None:
        self._folder = folder
        self._checks = list(checks)
        self._limits = limits
        self._say = say
        self._clock = clock
        self._began = clock()
        self._cost = 0.0
        self._asked_at = 0
        self._marks = _marks()
        self._next = next(self._marks)
        self._evaluating = self._evaluated = False
        self._said: set[tuple[str | int | None, ...]] = set()
        self.on = True

    def step_finished(self, phase: Phase, step: int, _events: object) -> None:
        """A step is in the folder: what a recorder calls."""
        if not self.on:
            return
        if phase is Phase.EVAL:
            self._evaluating = True
            return
        # Right after the first evaluation what it did to the network is known.
        evaluated = self._evaluating and not self._evaluated
        self._evaluated = self._evaluated or self._evaluating
        if step + 1 >= self._next or evaluated:
            self._ask_at(step + 1)

    def look(self) -> None:
        """How far the run has come is seen in the folder: for a training in other processes."""
        if not self.on or not self._folder.is_dir():
            return
        try:
            run = open_run(self._folder)
            done = min((run.rank(rank).finished for rank in run.ranks), default=0)
        except Exception as error:  # noqa: BLE001 - whatever it is, training goes on
            self._turn_off(error)
            return
        if done >= self._next:
            self._ask_at(done)

    def _ask_at(self, done: int) -> None:
        while self._next <= done:
            self._next = next(self._marks)
        now = self._clock()
        # What has to be read grows with the steps.
        expected = self._cost * done / max(self._asked_at, 1)
        if done > FIRST_STEPS[-1] and expected > MAX_SHARE_OF_TIME * (now - self._began):
            return
        self._asked_at = done
        try:
            self._ask(open_run(self._folder), done)
        except Exception as error:  # noqa: BLE001 - whatever it is, training goes on
            self._turn_off(error)
        self._cost = self._clock() - now

    def _ask(self, run: Run, done: int) -> None:
        ways = [way for way in self._checks if may_be_asked(way, done)]
        for finding in fill_in(ways, {"run": run}, self._limits).problems:
            where = finding.where
            key = (finding.code, where.file, where.line, where.module, where.rank)
            if key not in self._said and not is_provisional(finding):
                self._said.add(key)
                self._say(_line(finding, done))

    def _turn_off(self, error: Exception) -> None:
        self.on = False
        self._say(message("check.during_off", kind=type(error).__name__, reason=str(error)[:300]))


def may_be_asked(way: Check, done: int) -> bool:
    """Whether so many steps of a run that goes on are enough for a check, as far as they can be."""
    item = during_run(way.code)
    return way.evidence == (Evidence.RUN,) and item.asked and done >= item.min_steps


def is_provisional(finding: Finding) -> bool:
    """Whether later steps may set it right: then it is said when the run has ended."""
    return finding.message.id in during_run(finding.code).provisional


def _marks() -> Iterator[int]:
    yield from FIRST_STEPS
    mark = FIRST_STEPS[-1]
    while True:
        mark *= STEP_FACTOR
        yield mark


def _line(finding: Finding, done: int) -> Message:
    """One line: after how many steps, the code, the place and what was found."""
    where = finding.where
    place = f"{where.file}:{where.line}: " if where.file and where.line else ""
    return message("check.during_found", done=done, code=finding.code, place=place, said=finding.message)
