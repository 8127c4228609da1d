"""A script with an experiment in it: what the experiment hears of each framework, and when the script ends."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final

from trueline.model.message import Message
from trueline.record.companion import Companion
from trueline.record.run_mode import Experiment
from trueline.tune.child.lines import stamp_output
from trueline.tune.child.teller import Teller

if TYPE_CHECKING:
    from trueline.adapters.protocol import Adapter, Installed
    from trueline.record.observers import Observers
    from trueline.record.recorded import Recorded
    from trueline.tune.child.observer import ExperimentObserver

# kind of experiment: the class that observes and acts; loaded only where a framework has arrived.
OBSERVERS: Final = {
    "plain": "trueline.tune.child.observer:ExperimentObserver",
    "rates": "trueline.tune.child.rate_observer:RateObserver",
    "scale": "trueline.tune.child.scale_observer:ScaleObserver",
    "batch": "trueline.tune.child.batch_observer:BatchObserver",
}


class Experimenting(Companion):
    """An experiment in the script of this process."""

    def __init__(self, experiment: Experiment) -> None:
        self._experiment = experiment
        self._teller = Teller(experiment.told)
        self._observers: list[ExperimentObserver] = []

    def begin(self) -> None:
        """Tell of what the script prints."""
        stamp_output(lambda line: self._teller.tell("line", step=self._updates, text=line))

    @property
    def _updates(self) -> int:
        return max((observer.updates for observer in self._observers), default=0)

    def observe(self, observers: Observers, recorded: Recorded) -> None:
        """The experiment is heard first: what it sets counts for the recording too."""
        module, _, name = OBSERVERS[self._experiment.kind].partition(":")
        kind: type[ExperimentObserver] = getattr(import_module(module), name)
        observer = kind(recorded.adapter, self._experiment, self._teller)
        self._observers.append(observer)
        observers.put_first(observer)

    def install(self, adapter: Adapter, hooks: Callable[[], Installed]) -> Installed:
        """Hooks that say so when they are taken away."""
        del adapter
        return _Hooks(hooks(), self)

    def is_last(self, step: int) -> bool:
        """Whether the experiment has what it was made for; what is counted is updates."""
        del step
        if max((observer.done for observer in self._observers), default=0) < self._experiment.updates:
            return False
        self._tell_open()
        self._teller.tell("enough")
        return True

    def finish(self, folder: Path) -> None:
        """The last update."""
        del folder
        self._tell_open()
        for observer in self._observers:
            observer.leave()

    def went_off(self, said: Message) -> None:
        """What was heard so far is not the whole experiment."""
        self._teller.tell("failed", kind=str(said.params.get("kind", "OSError")), reason=said.text())

    def unseen(self, said: Message) -> None:
        """What was heard is not all that was trained."""
        self._teller.tell("unseen", reason=said.text())

    def unheard(self) -> None:
        """The recording is over: the script has ended, or something went wrong with it."""
        self._tell_open()
        self._teller.tell("unheard")

    def _tell_open(self) -> None:
        for observer in self._observers:
            observer.tell_open()


class _Hooks:
    """Hooks in place, which say so when they are taken away: nothing is heard then, and the script would not end."""

    def __init__(self, installed: Installed, experimenting: Experimenting) -> None:
        self._installed = installed
        self._experimenting = experimenting

    def remove(self) -> None:
        """Take them away."""
        self._installed.remove()
        self._experimenting.unheard()
