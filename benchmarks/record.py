"""What recording costs: CPU time of a recorded step against the plain step, steps interleaved in one process."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

for _name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import torch
from measure import RATIO_HEADER, print_ratios, ratios_to_first
from nets import case

from trueline.adapters import adapter_of
from trueline.record.project import Project
from trueline.record.recorder import Recorder
from trueline.record.sink import new_info
from trueline.record.wanted import Wanted

LIMITS = {net: {"default": 1.05, "stats": 1.20} for net in ("resnet18", "transformer")}
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


def main() -> int:
    """Print the table; 1 when a limit is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=200)
    parser.add_argument("--nets", nargs="*", default=["resnet18", "transformer", "small"])
    options = parser.parse_args()
    torch.set_num_threads(1)
    missed: list[str] = []
    print(RATIO_HEADER)
    for net in options.nets:
        with tempfile.TemporaryDirectory() as folder:
            variants = {name: Variant(net, wanted, Path(folder) / name) for name, wanted in VARIANTS.items()}
            found = ratios_to_first({name: one.step for name, one in variants.items()}, repeat=options.repeat)
            assert all(one.recorder is None or one.recorder.on for one in variants.values()), "a recorder went off"
        missed += print_ratios(net, found, LIMITS.get(net, {}))
    for line in missed:
        print("MISSED", line)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
