"""The frameworks of a script with an experiment in it: their observer is heard first by the experiment."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from trueline.model.message import Message
from trueline.record.perturb import PerturbedAdapters
from trueline.record.run_mode import Experiment, Perturbation
from trueline.tune.child.lines import stamp_output
from trueline.tune.child.teller import Teller

if TYPE_CHECKING:
    from trueline.adapters.observer import Observer
    from trueline.adapters.protocol import Adapter, Installed
    from trueline.tune.child.ear import Ear

# kind of experiment: the class that hears and does; loaded only where a framework has arrived.
EARS: Final = {
    "plain": "trueline.tune.child.ear:Ear",
    "rates": "trueline.tune.child.rates:RateEar",
    "scale": "trueline.tune.child.scale_ear:ScaleEar",
    "batch": "trueline.tune.child.batch_ear:BatchEar",
}


class ExperimentAdapters(PerturbedAdapters):
    """What a recording takes for its frameworks."""

    def __init__(self, experiment: Experiment) -> None:
        super().__init__(Perturbation(None, experiment.updates))
        self._experiment = experiment
        self._teller = Teller(experiment.told)
        self._ears: list[Ear] = []

    def begin(self) -> None:
        """Before the script."""
        stamp_output(lambda line: self._teller.tell("line", step=self._updates, text=line))

    @property
    def _updates(self) -> int:
        return max((ear.updates for ear in self._ears), default=0)

    def of(self, adapter: Adapter) -> Adapter:
        """The adapter to record with."""
        return cast("Adapter", _Heard(adapter, self))

    def hear(self, adapter: Adapter, observer: Observer) -> Observer:
        """The observer with the experiment in front."""
        module, _, name = EARS[self._experiment.kind].partition(":")
        ear: Ear = getattr(import_module(module), name)(observer, adapter, self._experiment, self._teller)
        self._ears.append(ear)
        return cast("Observer", ear)

    def is_last(self, step: int) -> bool:  # noqa: ARG002 - what is counted is updates
        """Whether the experiment has what it was made for; the process then ends."""
        if max((ear.done for ear in self._ears), default=0) < self._experiment.updates:
            return False
        self._tell_open()
        self._teller.tell("enough")
        return True

    def write_told(self, folder: Path) -> None:
        """The last update."""
        del folder
        self._tell_open()
        for ear in self._ears:
            ear.leave()

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
        for ear in self._ears:
            ear.tell_open()


class _Hooks:
    """Hooks in place, which say so when they are taken away: nothing is heard then, and the script would not end."""

    def __init__(self, installed: Installed, adapters: ExperimentAdapters) -> None:
        self._installed = installed
        self._adapters = adapters

    def remove(self) -> None:
        """Take them away."""
        self._installed.remove()
        self._adapters.unheard()


class _Heard:
    """A framework's folder whose observer is heard first."""

    def __init__(self, adapter: Adapter, adapters: ExperimentAdapters) -> None:
        self._adapter = adapter
        self._adapters = adapters
        self.hooks = self

    def __getattr__(self, name: str) -> Any:
        return getattr(self._adapter, name)

    def install(self, observer: Observer) -> Installed:
        """The hooks."""
        return _Hooks(self._adapter.hooks.install(self._adapters.hear(self._adapter, observer)), self._adapters)

    def on_gradient(self, tensor: Any, tell: Any) -> None:
        """The framework's own."""
        self._adapter.hooks.on_gradient(tensor, tell)
