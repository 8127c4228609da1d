"""What ``trueline run --check`` adds to a recorded training: CPU time with the checks asked meanwhile and without."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

for _name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import torch
from nets import case

from trueline.adapters import adapter_of
from trueline.model.key import Phase
from trueline.record.project import Project
from trueline.record.recorder import Recorder
from trueline.record.sink import new_info
from trueline.record.wanted import Wanted

LIMITS = {"resnet18": 1.05, "transformer": 1.05}
BATCH = {"resnet18": 32, "transformer": 8, "small": 32}


class Asked:
    """The checks as ``run --check`` asks them, and the CPU seconds that they take of the training."""

    def __init__(self, folder: Path) -> None:
        began = time.process_time()
        from trueline.checks.engine.during import During
        from trueline.checks.engine.listing import all_checks

        self._during = During(folder, all_checks(), {}, lambda _: None)
        self.loading = time.process_time() - began
        self.asking: list[float] = []

    def step_finished(self, phase: Phase, step: int, events: Sequence[Mapping[str, Any]]) -> None:
        """What the recorder calls."""
        began = time.process_time()
        self._during.step_finished(phase, step, events)
        spent = time.process_time() - began
        if spent > 1e-3:
            self.asking.append(spent)


def train(net: str, steps: int, folder: Path) -> tuple[float, Asked]:
    """A recorded training with the checks asked meanwhile: its CPU seconds, and the checks' part."""
    model, data, loss_of = case(net)
    optimizer = torch.optim.SGD(model.parameters(), 0.001, momentum=0.9)
    loader = torch.utils.data.DataLoader(data, batch_size=BATCH[net], shuffle=True)
    recorder = Recorder(Wanted(folder), new_info(argv=sys.argv), Project(Path.cwd()), lambda said: print(said))
    asked = Asked(folder)
    recorder.subscribe(asked.step_finished)
    recorder.attach(adapter_of("torch"))
    began, done = time.process_time(), 0
    while done < steps:
        for x, y in loader:
            optimizer.zero_grad()
            loss_of(model(x), y).backward()
            optimizer.step()
            done += 1
            if done >= steps:
                break
    recorder.finish(0)
    assert recorder.off is None, recorder.off
    return time.process_time() - began, asked


def main() -> int:
    """Print the table; 1 when a limit is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--nets", nargs="*", default=["resnet18", "transformer", "small"])
    options = parser.parse_args()
    torch.set_num_threads(1)
    missed = []
    print(f"{'net':12} {'steps':>5}  {'ratio':>6}  {'limit':>5}  {'asked':>5}  {'each':>9}  {'loading once':>12}")
    for net in options.nets:
        with tempfile.TemporaryDirectory() as folder:
            spent, asked = train(net, options.steps, Path(folder) / "run")
        ratio = spent / (spent - sum(asked.asking))
        each = 1e3 * sum(asked.asking) / max(len(asked.asking), 1)
        limit = LIMITS.get(net)
        shown = f"{limit:.2f}" if limit is not None else ""
        print(
            f"{net:12} {options.steps:5}  {ratio:6.3f}  {shown:>5}  {len(asked.asking):5}  {each:6.1f} ms"
            f"  {asked.loading * 1e3:9.0f} ms",
            flush=True,
        )
        if limit is not None and ratio > limit:
            missed.append(f"{net}: {ratio:.3f} > {limit}")
    for line in missed:
        print("MISSED", line)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
