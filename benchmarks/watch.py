"""What watching costs: CPU time of a watched step against the plain step, steps interleaved in one process."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import torch
from measure import RATIO_HEADER, print_ratios, ratios_to_first
from record import Variant
from watched import watch_with

from trueline.watch.state import Watch

LIMITS = {net: {"watch": 1.10} for net in ("resnet18", "transformer")}


class Watched(Variant):
    """A network whose training is watched."""

    def __init__(self, net: str, watch: Watch, folder: Path) -> None:
        super().__init__(net, {}, folder)
        watch_with(self.recorder, watch)


class Anomalous(Variant):
    """The framework's own way."""

    def step(self) -> float:
        with torch.autograd.detect_anomaly(check_nan=True):
            return super().step()


def rounds(variant: Variant) -> Callable[[], float]:
    """Six steps as one: a large state is kept before every sixth only, which a median of steps would not see."""
    return lambda: sum(variant.step() for _ in range(6)) / 6


def main() -> int:
    """Print the table; 1 when a limit is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=14)
    parser.add_argument("--nets", nargs="*", default=["resnet18", "transformer"])
    options = parser.parse_args()
    torch.set_num_threads(1)
    missed: list[str] = []
    kept: list[str] = []
    print(RATIO_HEADER)
    for net in options.nets:
        with tempfile.TemporaryDirectory() as folder:
            watches = {"watch": Watch(), "watch --no-replay": Watch(replay=False)}
            variants: dict[str, Variant] = {"plain": Variant(net, None, Path(folder) / "plain")}
            variants |= {name: Watched(net, watch, Path(folder) / name) for name, watch in watches.items()}
            variants["detect_anomaly"] = Anomalous(net, None, Path(folder) / "anomaly")
            found = ratios_to_first({name: rounds(one) for name, one in variants.items()}, repeat=options.repeat)
            assert all(one.recorder is None or one.recorder.on for one in variants.values()), "a watch went off"
            weights = sum(one.numel() * one.element_size() for one in variants["watch"].model.parameters())
            mega = watches["watch"].kept_bytes / 1e6
            kept.append(f"{net}: {mega:.1f} MB kept for {weights / 1e6:.1f} MB of weights")
        missed += print_ratios(net, found, LIMITS.get(net, {}))
    print("\n".join(kept))
    for line in missed:
        print("MISSED", line)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
