"""What recording costs: CPU time of a recorded step against the plain step, steps interleaved in one process."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

for _name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np
import torch
from nets import case

from trueline.adapters import adapter_of
from trueline.record.project import Project
from trueline.record.recorder import Recorder, new_info
from trueline.record.wanted import Wanted

LIMITS = {("resnet18", "default"): 1.05, ("resnet18", "stats"): 1.20}
LIMITS |= {("transformer", "default"): 1.05, ("transformer", "stats"): 1.20}
BATCH = {"resnet18": 32, "transformer": 8, "small": 32}
VARIANTS = {"plain": None, "default": {}, "stats": {"stats": True}, "stats+inputs": {"stats": True, "inputs": True}}


class Variant:
    """One way of training the same network: its own weights, loader and (but for plain) recorder."""

    def __init__(self, net: str, wanted: dict[str, bool] | None, folder: Path) -> None:
        self.model, data, self.loss = case(net)
        self.optimizer = torch.optim.SGD(self.model.parameters(), 0.001, momentum=0.9)
        self.loader = torch.utils.data.DataLoader(data, batch_size=BATCH[net], shuffle=True)
        self.batches = iter(())
        self.recorder = None
        if wanted is not None:
            info = new_info(argv=sys.argv)
            self.recorder = Recorder(Wanted(folder, **wanted), info, Project(Path.cwd()), lambda said: print(said))

    def step(self) -> float:
        """CPU seconds of one step, the recorder's work (and the writing of the step before) included."""
        hooks = self.recorder.listen(adapter_of("torch")) if self.recorder is not None else None
        began = time.process_time()
        try:
            x, y = next(self.batches)
        except StopIteration:
            self.batches = iter(self.loader)
            x, y = next(self.batches)
        self.optimizer.zero_grad()
        loss = self.loss(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        spent = time.process_time() - began
        if hooks is not None:
            hooks.remove()
        return spent


def measure(net: str, repeat: int) -> dict[str, list[float]]:
    """Ratios to the plain step measured next to it, for every way of recording."""
    with tempfile.TemporaryDirectory() as folder:
        variants = {name: Variant(net, wanted, Path(folder) / name) for name, wanted in VARIANTS.items()}
        for variant in variants.values():
            for _ in range(5):
                variant.step()
        names = list(variants)
        ratios: dict[str, list[float]] = {name: [] for name in names if name != "plain"}
        ratios["plain_seconds"] = []
        for turn in range(repeat):
            order = names[turn % len(names) :] + names[: turn % len(names)]
            spent = {name: variants[name].step() for name in order}
            ratios["plain_seconds"].append(spent["plain"])
            for name in names[1:]:
                ratios[name].append(spent[name] / spent["plain"])
        assert all(one.recorder is None or one.recorder.on for one in variants.values()), "a recorder went off"
    return ratios


def interval(values: list[float], draws: int = 400) -> tuple[float, float]:
    """The bootstrap's 95 % interval of the median."""
    rng = np.random.default_rng(0)
    found = np.median(rng.choice(values, (draws, len(values))), axis=1)
    return float(np.quantile(found, 0.025)), float(np.quantile(found, 0.975))


def main() -> int:
    """Print the table; 1 when a limit is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=200)
    parser.add_argument("--nets", nargs="*", default=["resnet18", "transformer", "small"])
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    missed = []
    table = []
    print(f"{'net':12} {'recording':13} {'ratio':>6}  {'95 % interval':>15}  {'limit':>5}  plain step")
    for net in options.nets:
        ratios = measure(net, options.repeat)
        plain = median(ratios.pop("plain_seconds"))
        for name, values in ratios.items():
            middle, (low, high), limit = median(values), interval(values), LIMITS.get((net, name))
            print(
                f"{net:12} {name:13} {middle:6.3f}  {low:6.3f} – {high:6.3f}  {limit or '':>5}  {plain * 1e3:.1f} ms",
                flush=True,
            )
            table.append({"net": net, "recording": name, "ratio": middle, "interval": [low, high], "limit": limit})
            if limit is not None and middle > limit:
                missed.append(f"{net} {name}: {middle:.3f} > {limit}")
    if options.json is not None:
        options.json.write_text(json.dumps(table, indent=2) + "\n")
    for line in missed:
        print("MISSED", line)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
