"""A repeated run from within: its randomness tapped and fixed as planned, before the script begins."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from trueline.record.arrival import on_import
from trueline.record.companion import Companion
from trueline.record.recording import FRAMEWORKS
from trueline.record.run_mode import Perturbation, RandomnessPlan
from trueline.repro import generators
from trueline.repro.tap import Tap

if TYPE_CHECKING:
    from trueline.record.observers import Observers
    from trueline.record.recorded import Recorded


class Repeated(Companion):
    """One of the repeated runs: its generators tapped and fixed as planned."""

    def __init__(self, plan: RandomnessPlan, perturbation: Perturbation) -> None:
        self._perturbation = perturbation
        self._tap = Tap(plan)

    def begin(self) -> None:
        """Tap and fix what is there, and the others when they arrive."""
        generators.tap_warnings(self._tap)
        generators.tap_clock(self._tap)
        generators.tap_python(self._tap)
        on_import(("numpy", *FRAMEWORKS), self._arrived)

    def _arrived(self, name: str) -> None:
        if name == "numpy":
            generators.tap_numpy(self._tap)
            return
        from trueline.adapters import adapter_of

        streams = adapter_of(name).streams
        plan = self._tap.plan
        if plan.fixed:
            # MindSpore seeds the others with its own.
            kept = random.getstate(), sys.modules["numpy"].random.get_state()
            seeds = {stream: plan.seed(stream) for stream in streams.NAMES}
            self._tap.fixing = True
            streams.fix(seeds, deterministic=plan.deterministic)
            self._tap.fixing = False
            random.setstate(kept[0])
            sys.modules["numpy"].random.set_state(kept[1])
        for stream in streams.NAMES:
            self._tap.arrived(stream)
        streams.watch(self._tap)

    def observe(self, observers: Observers, recorded: Recorded) -> None:
        """Hear when data is fetched and when training has begun."""
        from trueline.repro.moments import Moments

        del recorded
        observers.put_first(Moments(self._tap))

    def is_last(self, step: int) -> bool:
        """Whether no further training step is needed."""
        return step + 1 >= self._perturbation.steps

    def finish(self, folder: Path) -> None:
        """Report which generators were used as they were found."""
        del folder
        self._tap.finish()
