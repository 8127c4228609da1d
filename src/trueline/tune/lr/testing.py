"""The range test: the script run with its learning rate rising from step to step, planned anew where it is short."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from trueline.model.trouble import BadScript
from trueline.record.command import Command
from trueline.record.run_mode import Experiment
from trueline.tune.lr.bounds import MIN_POINTS
from trueline.tune.lr.divergence import Divergence
from trueline.tune.lr.tested import Tested, tested
from trueline.tune.told import Update, Word, update_of
from trueline.tune.trial import Trial, run_trial

KIND: Final = "rates"

# Told of every update: the update, how many there will be, and the number of the run.
Heard = Callable[[Update, int, int], None]


@dataclass(frozen=True, slots=True)
class Wish:
    """What is asked for: the first and last rate (None: by the script's own), the updates, the shape, how many runs.

    ``accuracy``: the bounds may be read from an accuracy that the script prints.
    """

    low: float | None
    high: float | None
    updates: int
    shape: str
    runs: int = 1
    accuracy: bool = True


def run_test(command: Command, room: Path, wish: Wish, heard: Heard) -> Tested:
    """Run the script as often as wished for; Ctrl-C ends it with what there is by then."""
    trial = _run(command, room / "range-1", wish, heard, 1)
    shorter_than = None
    if trial.ended_early and trial.ended.code == 0 and MIN_POINTS < len(trial.updates) < wish.updates:
        shorter_than, wish = wish.updates, replace(wish, updates=len(trial.updates))
        trial = _run(command, room / "shorter-1", wish, heard, 1)
    trials = [trial]
    while len(trials) < wish.runs and not trials[-1].interrupted:
        number = len(trials) + 1
        trials.append(_run(command, room / f"range-{number}", wish, heard, number))
    if trials[-1].interrupted and len(trials) > 1:
        # The runs before are whole.
        trials[-1] = replace(trials[0], interrupted=True)
    return tested(trials, accuracy=wish.accuracy, shorter_than=shorter_than)


def _run(command: Command, folder: Path, wish: Wish, heard: Heard, number: int) -> Trial:
    settings = {"shape": wish.shape, "from": wish.low, "to": wish.high}
    divergence = Divergence()

    def listen(word: Word) -> bool:
        update = update_of(word)
        if update is None:
            return False
        heard(update, wish.updates, number)
        return update.loss is not None and divergence.shows(update.loss)

    trial = run_trial(command, folder, Experiment(KIND, wish.updates, settings), listen)
    _check(trial)
    return trial


def _check(trial: Trial) -> None:
    """A BadScript where there is nothing to look at."""
    updates = trial.updates
    if trial.interrupted and not updates:
        raise KeyboardInterrupt
    for failed in trial.of("failed"):
        raise BadScript("tune.failed", kind=failed["kind"], reason=failed["reason"])
    line = trial.ended.last_line[:300]
    if not updates:
        raise BadScript(f"tune.never_trains{'' if line else '_silent'}", code=trial.ended.code, line=line)
    if trial.ended_early and trial.ended.code and len(updates) <= MIN_POINTS:
        raise BadScript("tune.script_failed", code=trial.ended.code, updates=len(updates), line=line)
    if all(update.loss is None for update in updates):
        raise BadScript("tune.no_loss")
