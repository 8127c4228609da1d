"""A run repeated for its noise: values moved by one rounding unit, and an end after the steps that are needed.

Nothing here imports NumPy or a framework: the script must find the same world as in the run it repeats.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast

if TYPE_CHECKING:
    from trueline.adapters.observer import Observer
    from trueline.adapters.protocol import Adapter, Installed, Perturbing
    from trueline.model.message import Message

VARIABLE = "TRUELINE_PERTURB"
_TOLD = "perturbed.json"
_MOST_TOLD = 1 << 16


@dataclass(frozen=True, slots=True)
class Perturbation:
    """Which perturbation (None: none, the run is a control), how many training steps it takes, and how far it moves."""

    seed: int | None
    steps: int
    ulps: int = 1

    def packed(self) -> str:
        """For the environment of the process that is to run."""
        return f"{'' if self.seed is None else self.seed}:{self.steps}:{self.ulps}"

    @classmethod
    def in_environment(cls) -> Self | None:
        """What this process was started for; asked once, so that what it starts itself runs as usual."""
        found = os.environ.pop(VARIABLE, None)
        if found is None:
            return None
        seed, steps, ulps = found.split(":")
        end_with_parent()
        return cls(int(seed) if seed else None, int(steps), int(ulps))


def end_with_parent() -> None:
    """A process that nobody waits for any more would train on to its end."""
    import ctypes

    set_parent_death_signal = 1
    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    if prctl is not None:
        prctl(set_parent_death_signal, signal.SIGKILL)


class PerturbedAdapter:
    """A framework's folder whose hooks come with a perturbation between them and the network."""

    def __init__(self, adapter: Adapter, seed: int, ulps: int) -> None:
        self.adapter = adapter
        self.hooks = self
        self.perturbing: Perturbing | None = None
        self._seed = seed
        self._ulps = ulps

    def __getattr__(self, name: str) -> Any:
        return getattr(self.adapter, name)

    def install(self, observer: Observer) -> Installed:
        """The hooks, and the perturbation."""
        adapter = self.adapter
        self.perturbing = adapter.perturb.install(self._seed, lambda: adapter.hooks.install(observer), ulps=self._ulps)
        return self.perturbing

    def on_gradient(self, tensor: Any, tell: Any) -> None:
        """The framework's own."""
        self.adapter.hooks.on_gradient(tensor, tell)


class PerturbedAdapters:
    """The frameworks of a repeated run."""

    def __init__(self, perturbation: Perturbation) -> None:
        self._perturbation = perturbation
        self._adapters: dict[str, PerturbedAdapter] = {}

    def of(self, adapter: Adapter) -> Adapter:
        """The adapter to record with."""
        wanted = self._perturbation
        if wanted.seed is None:
            return adapter
        found = self._adapters[adapter.name] = PerturbedAdapter(adapter, wanted.seed, wanted.ulps)
        return cast("Adapter", found)

    def is_last(self, step: int) -> bool:
        """Whether no further training step is needed."""
        return step + 1 >= self._perturbation.steps

    def went_off(self, said: Message) -> None:
        """The recording has ended before the script: the folder itself says so."""

    def unseen(self, said: Message) -> None:
        """Something trained beside the recording: the folder itself says so."""

    def write_told(self, folder: Path) -> None:
        """Leave word of what was moved."""
        told = {name: one.perturbing.counts() for name, one in self._adapters.items() if one.perturbing is not None}
        (folder / _TOLD).write_text(json.dumps(told), encoding="utf-8")


def read_told(folder: Path) -> Mapping[str, Any]:
    """What was moved in a repeated run, by framework; empty where it left no word."""
    try:
        with (folder / _TOLD).open("rb") as file:
            found = json.loads(file.read(_MOST_TOLD))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
