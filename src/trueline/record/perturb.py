"""A run repeated for its noise: values moved by one rounding unit, and an end after the steps that are needed.

Nothing here imports NumPy or a framework: the script must find the same world as in the run it repeats.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from trueline.record.run_mode import Perturbation

if TYPE_CHECKING:
    from trueline.adapters.observer import Observer
    from trueline.adapters.protocol import Adapter, Installed, Perturbing
    from trueline.model.message import Message

_TOLD = "perturbed.json"
_MOST_TOLD = 1 << 16


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
        told = {name: one.perturbing.told() for name, one in self._adapters.items() if one.perturbing is not None}
        (folder / _TOLD).write_text(json.dumps(told), encoding="utf-8")


def read_told(folder: Path) -> Mapping[str, Any]:
    """What was moved in a repeated run, by framework; empty where it left no word."""
    try:
        with (folder / _TOLD).open("rb") as file:
            found = json.loads(file.read(_MOST_TOLD))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
