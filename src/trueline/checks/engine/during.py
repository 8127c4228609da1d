"""The checklist while a training runs: what its first steps show is told at once, and the training goes on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from trueline.checks.engine.check import Check
from trueline.checks.engine.checklist import fill_in
from trueline.checks.engine.running import Limits
from trueline.formats.run_folder.reader import Run, open_run
from trueline.model.finding import Finding
from trueline.model.key import Phase
from trueline.model.message import Message, message

# After so many training steps the checks are asked; later ones only where they cost next to nothing.
_ALWAYS: Final = (2, 5, 20)
_FACTOR: Final = 5
_SHARE: Final = 0.02
# These ask whether something ever happens, or how the whole went: before the end nobody knows.
AT_THE_END: Final = frozenset(("hp.02", "hp.03", "tr.04"))
# What may be set right later, as layers that are unfrozen after some epochs, is told when the run has ended.
MAY_CHANGE: Final = frozenset(("cg_02.frozen",))
# A loss swings in its first steps.
_NOT_BEFORE: Final = {"hp.01": _ALWAYS[-1]}
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
        self._told: set[tuple[str | int | None, ...]] = set()
        self.on = True

    def step_finished(self, phase: Phase, step: int, _events: Sequence[Mapping[str, Any]]) -> None:
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
            done = min((run.rank(one).finished for one in run.ranks), default=0)
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
        if done > _ALWAYS[-1] and expected > _SHARE * (now - self._began):
            return
        self._asked_at = done
        try:
            self._ask(open_run(self._folder), done)
        except Exception as error:  # noqa: BLE001 - whatever it is, training goes on
            self._turn_off(error)
        self._cost = self._clock() - now

    def _ask(self, run: Run, done: int) -> None:
        checks = [one for one in self._checks if may_be_asked(one, done)]
        for one in fill_in(checks, {"run": run}, self._limits).problems:
            key = (one.code, one.where.file, one.where.line, one.where.module, one.where.rank)
            if key not in self._told and one.message.id not in MAY_CHANGE:
                self._told.add(key)
                self._say(_line(one, done))

    def _turn_off(self, error: Exception) -> None:
        self.on = False
        self._say(message("check.during_off", kind=type(error).__name__, reason=str(error)[:300]))


def may_be_asked(one: Check, done: int) -> bool:
    """Whether so many steps of a run that goes on are enough for a check, as far as they can be."""
    return one.evidence == ("run",) and one.code not in AT_THE_END and done >= _NOT_BEFORE.get(one.code, 0)


def _marks() -> Iterator[int]:
    yield from _ALWAYS
    mark = _ALWAYS[-1]
    while True:
        mark *= _FACTOR
        yield mark


def _line(one: Finding, done: int) -> Message:
    """One line: after how many steps, the code, the place and what was found."""
    where = one.where
    place = f"{where.file}:{where.line}: " if where.file and where.line else ""
    return message("check.during_found", done=done, code=one.code, place=place, said=one.message)
