"""A script's training run in this process with an experiment in it: the frameworks' start-up is paid once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from trueline.record.again import Ended
from trueline.record.recording import Recording
from trueline.record.wanted import Wanted
from trueline.tune.child.adapters import ExperimentAdapters
from trueline.tune.experiment import Experiment
from trueline.tune.told import Listener, Word
from trueline.tune.trial import Trial

# Reaching the last update ends the process.
_ENDLESS = 10**9


@dataclass
class Here:
    """Runs a function instead of a script; all runs are kept."""

    folder: Path
    train: Callable[[], None]
    trials: dict[str, Trial] = field(default_factory=dict)

    def run(self, name: str, experiment: Experiment, heard: Callable[[Word], bool], args: object = None) -> Trial:
        """Once."""
        del args
        told = self.folder / f"{name}.told.jsonl"
        adapters = ExperimentAdapters(replace(experiment, updates=_ENDLESS, told=str(told)))
        recording = Recording(
            Wanted(self.folder / name, source=False), lambda said: _fail(said.text()), perturbed=adapters
        )
        recording.begin()
        try:
            self.train()
        finally:
            recording.finish(0)
        words = Listener(told).more()
        for word in words:
            heard(word)
        self.trials[name] = Trial(experiment, self.folder / name, words, Ended(0, ""))
        return self.trials[name]


def _fail(said: str) -> None:
    raise AssertionError(said)
