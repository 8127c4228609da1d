"""A script's training run in this process with an experiment in it: the frameworks' start-up is paid once."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from unittest.mock import patch

from launching import IN_ORDER

from trueline.record.command import Ended
from trueline.record.launch import ScriptEnded
from trueline.record.recording import Recording
from trueline.record.run_mode import Experiment
from trueline.record.wanted import Wanted
from trueline.tune.child.companion import Experimenting
from trueline.tune.child.teller import Teller
from trueline.tune.told import Listener, Word
from trueline.tune.trial import Trial

# Reaching the last update ends the process.
_ENDLESS = 10**9
_END = "trueline.tune.child.batch_observer.end_here"


@dataclass
class Here:
    """Runs a function instead of a script; all runs are kept."""

    folder: Path
    train: Callable[..., None]
    trials: dict[str, Trial] = field(default_factory=dict)

    def run(
        self, name: str, experiment: Experiment, heard: Callable[[Word], bool], args: Sequence[str] | None = None
    ) -> Trial:
        """Once; the function gets the arguments, if there are any."""
        told = self.folder / f"{name}.told.jsonl"
        experimenting = Experimenting(replace(experiment, updates=_ENDLESS, told=str(told)))
        recording = Recording(
            Wanted(self.folder / name, source=False), lambda said: _fail(said.text()), companions=[experimenting]
        )
        recording.begin()
        with in_order(), redirect_stdout(sys.stdout), redirect_stderr(sys.stderr), patch(_END, _end):
            experimenting.begin()
            with suppress(ScriptEnded):
                self.train(*(args or ()))
            recording.finish(0)
        words = Listener(told).more()
        for word in words:
            heard(word)
        self.trials[name] = Trial(experiment, self.folder / name, words, Ended(0, ""))
        return self.trials[name]


@contextmanager
def in_order() -> Iterator[None]:
    """MindSpore's operators one after the other, as IN_ORDER has it for processes."""
    if "mindspore" not in sys.modules or not IN_ORDER:
        yield
        return
    import mindspore as ms

    before = ms.get_context("pynative_synchronize")
    ms.set_context(pynative_synchronize=True)
    try:
        yield
    finally:
        ms.set_context(pynative_synchronize=before)


def _end(teller: Teller) -> None:
    teller.tell("enough")
    raise ScriptEnded


def _fail(said: str) -> None:
    raise AssertionError(said)
