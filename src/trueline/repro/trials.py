"""Running the first steps of a script again and again, each time with its randomness as planned."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from trueline.formats.run_folder.reader import RankFolder, Run, open_run
from trueline.model.events import StepEvent
from trueline.model.message import Message
from trueline.model.run import RunInfo
from trueline.model.steps import Steps
from trueline.model.trouble import BadScript, Trouble
from trueline.record.command import Command, Ended
from trueline.record.run_mode import Perturbation, RandomnessPlan, RunMode
from trueline.record.wanted import Wanted
from trueline.repro.randomness_log import RandomnessLog, read_log

_LOG_SUFFIX: Final = ".randomness.jsonl"


@dataclass(frozen=True, slots=True)
class Trial:
    """One run: what it was to fix, how it ended, what it logged, and what was recorded of it (None: nothing)."""

    plan: RandomnessPlan
    ended: Ended
    log: RandomnessLog
    rank: RankFolder | None
    info: RunInfo | None

    @property
    def steps(self) -> int:
        """How many training steps it has finished."""
        return self.rank.finished if self.rank is not None else 0

    @property
    def crashed(self) -> bool:
        """Whether it ended with an error."""
        return self.ended.code != 0

    @property
    def whole(self) -> int:
        """How many of them are whole: the last one is not where an error came before its optimizer's step."""
        if not self.crashed or self.rank is None:
            return self.steps
        stepped = {event.step for event in self.rank.events(StepEvent, phase="train")}
        return self.steps - 1 if self.steps and stepped != set(range(self.steps)) else self.steps


@dataclass(frozen=True, slots=True)
class Trials:
    """Where the runs of a command go, and how many steps each takes."""

    command: Command
    room: Path
    steps: int
    say: Callable[[Message], None]

    def run(self, name: str, plan: RandomnessPlan, saying: Message) -> Trial:
        """Run it once."""
        self.say(saying)
        folder = self.room / name
        log = self.room / (name + _LOG_SUFFIX)
        plan = replace(plan, log=str(log))
        wanted = Wanted(
            folder, stats=True, inputs=True, grads=True, weights=True, steps=Steps(((0, self.steps, 1),)), source=False
        )
        ended = self.command.run(wanted, RunMode(perturbation=Perturbation(None, self.steps), randomness=plan))
        run = _opened(folder)
        rank, info = (run.rank(run.ranks[0]) if run.ranks else None, run.info) if run is not None else (None, None)
        if info is not None and info.off is not None:
            # Two runs of which only the beginning was seen are not known to be the same.
            raise BadScript("repro.cut_off", steps=rank.finished if rank is not None else 0, reason=info.off)
        for said in run.unseen() if run is not None else ():
            raise BadScript("repro.in_part", what=said)
        return Trial(plan, ended, read_log(log), rank, info)


def _opened(folder: Path) -> Run | None:
    try:
        return open_run(folder)
    except Trouble:
        return None
