"""A run repeated for its noise: values moved by one rounding unit, and an end after the steps that are needed.

Nothing here imports NumPy or a framework: the script must find the same world as in the run it repeats.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from trueline.model.json_value import JsonObject
from trueline.record.companion import Companion
from trueline.record.run_mode import Perturbation

if TYPE_CHECKING:
    from trueline.adapters.protocol import Adapter, Installed, Perturbing

_FILE: Final = "perturbed.json"
_MAX_BYTES: Final = 1 << 16


class Perturbed(Companion):
    """Puts a perturbation between the hooks and the network, and ends the process after its last step."""

    def __init__(self, perturbation: Perturbation) -> None:
        self._perturbation = perturbation
        self._perturbing: dict[str, Perturbing] = {}

    def install(self, adapter: Adapter, hooks: Callable[[], Installed]) -> Installed:
        """The hooks, and the perturbation; none in a control."""
        asked = self._perturbation
        if asked.seed is None:
            return hooks()
        placed = self._perturbing[adapter.name] = adapter.perturb.install(asked.seed, hooks, ulps=asked.ulps)
        return placed

    def is_last(self, step: int) -> bool:
        """Whether no further training step is needed."""
        return step + 1 >= self._perturbation.steps

    def finish(self, folder: Path) -> None:
        """Write down what was moved."""
        moved = {name: perturbing.counts() for name, perturbing in self._perturbing.items()}
        (folder / _FILE).write_text(json.dumps(moved), encoding="utf-8")


def read_moved(folder: Path) -> JsonObject:
    """What was moved in a repeated run, by framework; empty where that was not written down."""
    try:
        with (folder / _FILE).open("rb") as file:
            found = json.loads(file.read(_MAX_BYTES))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
