"""What keeping states costs: CPU time of a step whose state is written first, beside saving it with the framework."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, cast

import torch
from measure import RATIO_HEADER, print_ratios, ratios_to_first
from record import Variant

from trueline.adapters import adapter_of
from trueline.adapters.nouns import Thing
from trueline.adapters.protocol import Adapter
from trueline.record.companion import Companion
from trueline.record.keeping.keep import Keep
from trueline.record.keeping.observer import StateObserver
from trueline.record.keeping.states import StateKeeper
from trueline.record.observers import Observers
from trueline.record.recorded import Recorded

RING = 4


class Alone:
    """An adapter in whose process there is nothing but one network and its optimizer."""

    def __init__(self, *held: object) -> None:
        self._held = held
        self.replaying = self

    def __getattr__(self, name: str) -> Any:
        adapter = adapter_of("torch")
        return getattr(adapter if hasattr(adapter, name) else adapter.replaying, name)

    def things(self) -> list[Thing]:
        """Those of this variant."""
        return [one for one in adapter_of("torch").replaying.things() if any(one.held is held for held in self._held)]


class _SameKeeper(Companion):
    """The same keeper and observer, although the hooks come and go with every measured step."""

    def __init__(self, states: StateKeeper) -> None:
        self._states = states
        self._observer: StateObserver | None = None

    def observe(self, observers: Observers, recorded: Recorded) -> None:
        self._observer = self._observer or StateObserver(recorded, self._states)
        observers.put_last(self._observer)


class Keeping(Variant):
    """A network whose last states are kept in a run folder."""

    def __init__(self, net: str, folder: Path) -> None:
        super().__init__(net, {}, folder)
        assert self.recorder is not None
        adapter = cast(Adapter, Alone(self.model, self.optimizer))
        adapter.replaying.prepare()
        self.recorder.companions = [_SameKeeper(StateKeeper(Keep(RING), adapter, None))]


class Saving(Variant):
    """By hand: the same state, saved with the framework before each step, over the oldest of as many files."""

    def __init__(self, net: str, folder: Path) -> None:
        super().__init__(net, None, folder)
        folder.mkdir()
        self._folder, self._count = folder, 0

    def step(self) -> float:
        began = time.process_time()
        state = {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "rng": torch.get_rng_state(),
        }
        torch.save(state, self._folder / f"{self._count % RING}.pt")
        self._count += 1
        return time.process_time() - began + super().step()


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=40)
    parser.add_argument("--nets", nargs="*", default=["resnet18", "transformer"])
    options = parser.parse_args()
    torch.set_num_threads(1)
    print(RATIO_HEADER)
    for net in options.nets:
        with tempfile.TemporaryDirectory() as folder:
            variants: dict[str, Variant] = {
                "plain": Variant(net, None, Path(folder) / "plain"),
                f"--keep-state {RING}": Keeping(net, Path(folder) / "kept"),
                "torch.save": Saving(net, Path(folder) / "saved"),
            }
            found = ratios_to_first({name: one.step for name, one in variants.items()}, repeat=options.repeat)
            assert all(one.recorder is None or one.recorder.on for one in variants.values()), "the recording went off"
            kept = sum(one.stat().st_size for one in (Path(folder) / "kept").rglob("state/*/state.safetensors"))
        print_ratios(net, found, {})
        print(f"{net}: {kept / 1e6:.0f} MB in the folder")
    return 0


if __name__ == "__main__":
    sys.exit(main())
