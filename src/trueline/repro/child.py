"""A repeated run from within: its randomness tapped and fixed as planned, before the script begins."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from trueline.record.arrival import on_import
from trueline.record.perturb import PerturbedAdapters
from trueline.record.recording import FRAMEWORKS
from trueline.record.run_mode import Perturbation, RandomnessPlan
from trueline.repro import generators
from trueline.repro.tap import Tap

if TYPE_CHECKING:
    from trueline.adapters.observer import Observer
    from trueline.adapters.protocol import Adapter, Installed


class RepeatedAdapters(PerturbedAdapters):
    """The frameworks of a repeated run, whose hooks say when data is fetched and when training has begun."""

    def __init__(self, plan: RandomnessPlan, perturbation: Perturbation) -> None:
        super().__init__(perturbation)
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

    def of(self, adapter: Adapter) -> Adapter:
        """The adapter to record with."""
        return cast("Adapter", _Listening(adapter, self._tap))

    def write_told(self, folder: Path) -> None:
        """Nothing was moved; what was tapped is told."""
        del folder
        self._tap.finish()


class _Listening:
    """A framework's folder whose observer is listened to."""

    def __init__(self, adapter: Adapter, tap: Tap) -> None:
        self._adapter = adapter
        self._tap = tap
        self.hooks = self

    def __getattr__(self, name: str) -> Any:
        return getattr(self._adapter, name)

    def install(self, observer: Observer) -> Installed:
        """The hooks."""
        return self._adapter.hooks.install(cast("Observer", _Ear(observer, self._tap)))

    def on_gradient(self, tensor: Any, tell: Any) -> None:
        """The framework's own."""
        self._adapter.hooks.on_gradient(tensor, tell)


class _Ear:
    """An observer that passes on what it hears."""

    def __init__(self, observer: Observer, tap: Tap) -> None:
        self._observer = observer
        self._tap = tap

    def __getattr__(self, name: str) -> Any:
        return getattr(self._observer, name)

    def fetch_began(self, loader: Any) -> None:
        """Data is asked for."""
        self._tap.fetching = True
        self._observer.fetch_began(loader)

    def fetched(self, loader: Any, batch: Any, indexes: Any) -> None:
        """Data is there."""
        self._tap.fetching = False
        self._observer.fetched(loader, batch, indexes)

    def loader_ended(self, loader: Any) -> None:
        """There is no more data."""
        self._tap.fetching = False
        self._observer.loader_ended(loader)

    def called(self, module: Any, args: Any, kwargs: Any) -> None:
        """A network is called."""
        self._tap.began = True
        self._tap.fetching = False
        self._observer.called(module, args, kwargs)
