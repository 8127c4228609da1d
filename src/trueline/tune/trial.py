"""The script run once, in a process of its own, with an experiment in it: followed while it runs."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from trueline.model.trouble import BadScript
from trueline.record.again import Command, Ended
from trueline.record.wanted import Wanted
from trueline.tune.experiment import Experiment
from trueline.tune.told import Listener, Update, Word, updates

_EVERY: Final = 0.05
# How long a script may take to end after nothing more is heard of it.
_PATIENCE: Final = 20.0
_TOLD: Final = ".told.jsonl"


@dataclass(frozen=True, slots=True)
class Trial:
    """What was told, and how the process ended.

    ``stopped``: whoever followed it had enough. ``interrupted``: the user had. In both cases ``ended`` says nothing.
    """

    experiment: Experiment
    folder: Path
    words: Sequence[Word]
    ended: Ended
    stopped: bool = False
    interrupted: bool = False

    @property
    def enough(self) -> bool:
        """Whether it came to the last update that was asked for."""
        return any(word["told"] == "enough" for word in self.words)

    @property
    def ended_early(self) -> bool:
        """Whether the script came to its own end, or to an error, before that."""
        return not (self.enough or self.stopped or self.interrupted)

    @property
    def updates(self) -> list[Update]:
        """Its updates, in order."""
        return updates(self.words)

    def of(self, told: str) -> list[Word]:
        """The words of a kind."""
        return [word for word in self.words if word["told"] == told]


def run_trial(
    command: Command, folder: Path, experiment: Experiment, heard: Callable[[Word], bool] = lambda _: False
) -> Trial:
    """Run it, recorded into ``folder``; ``heard`` is told every word at once, and ends the run by returning True.

    Ctrl-C ends the run too, and what was told by then is returned. A BadScript where something trained unheard.
    """
    told = folder.with_name(folder.name + _TOLD)
    listener = Listener(told)
    words: list[Word] = []
    stopped = interrupted = False
    with command.started(Wanted(folder, source=False), experiment.environment(str(told))) as running:
        try:
            over, until = False, math.inf
            while not (over or stopped or time.monotonic() > until):
                over = running.is_over(_EVERY)
                for word in listener.more():
                    words.append(word)
                    if word["told"] == "unheard":
                        until = time.monotonic() + _PATIENCE
                    if heard(word):
                        stopped = True
                        break
        except KeyboardInterrupt:
            interrupted = True
            words += listener.more()
    for word in words:
        if word["told"] == "unseen":
            raise BadScript("tune.in_part", what=word["reason"])
    return Trial(experiment, folder, words, running.ended(), stopped, interrupted)
