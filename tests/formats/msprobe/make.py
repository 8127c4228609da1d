"""Writes the dump folders beside this file with msprobe itself: ``python make.py OUT``, on a CPU.

They were written by mindstudio-probe 26.2.0 with torch 2.13.0 and MindSpore 2.10.0, OUT being /tmp/dump. The tool's
stack.json is left out: it holds the paths of the machine. It needs, besides a framework: pandas, matplotlib, tqdm,
pyyaml, psutil, einops and what these need.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

# name: (framework, level, task, rank or None for a process without one)
DUMPS = {
    "torch_statistics_mix": ("torch", "mix", "statistics", None),
    "torch_tensor_L0": ("torch", "L0", "tensor", 0),
    "mindspore_statistics_L0": ("mindspore", "L0", "statistics", None),
    "mindspore_tensor_L0": ("mindspore", "L0", "tensor", None),
}
INPUTS = np.random.default_rng(0).normal(size=(2, 2, 1, 4, 4)).astype(np.float32)


def _config(out: Path, level: str, task: str) -> str:
    common = {"scope": [], "list": [], "data_mode": ["all"]}
    config = {
        "task": task,
        "dump_path": str(out),
        "rank": [],
        "step": [0] if task == "tensor" else [0, 1],
        "level": level,
    }
    config |= {"statistics": common | {"summary_mode": "statistics"}, "tensor": common}
    path = out.with_suffix(".json")
    path.write_text(json.dumps(config))
    return str(path)


def _torch(out: Path, level: str, task: str, rank: int | None) -> None:
    import torch
    from msprobe.pytorch import PrecisionDebugger

    if rank is not None:
        torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=rank, world_size=1)
    debugger = PrecisionDebugger(config_path=_config(out, level, task))
    torch.manual_seed(0)

    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer1 = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.ReLU())
            self.fc = torch.nn.Linear(8, 3)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.fc(torch.flatten(self.layer1(x), 1))

    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for number, batch in enumerate(INPUTS):
        debugger.start(model=net)
        # The second step overflows: the tool writes NaN and Infinity.
        x = torch.tensor(batch) * (1e38 if number else 1)
        torch.nn.functional.cross_entropy(net(x), torch.tensor([0, 2])).backward()
        optimizer.step()
        optimizer.zero_grad()
        debugger.stop()
        debugger.step()


def _mindspore(out: Path, level: str, task: str, rank: int | None) -> None:
    import mindspore
    from mindspore import mint, nn
    from msprobe.mindspore import PrecisionDebugger

    # The tool's norm has no kernel on the CPU.
    mint.norm = lambda x: (x.astype(mindspore.float32) ** 2).sum().sqrt()
    mindspore.set_context(mode=mindspore.PYNATIVE_MODE)
    debugger = PrecisionDebugger(config_path=_config(out, level, task))
    mindspore.set_seed(0)

    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.layer1 = nn.SequentialCell(nn.Conv2d(1, 2, 3, pad_mode="valid", has_bias=True), nn.ReLU())
            self.flatten = nn.Flatten()
            self.fc = nn.Dense(8, 3)

        def construct(self, x: mindspore.Tensor) -> mindspore.Tensor:
            return self.fc(self.flatten(self.layer1(x)))

    net = Net()
    optimizer = nn.SGD(net.trainable_params(), 0.1)
    loss = nn.CrossEntropyLoss()
    step = mindspore.value_and_grad(lambda x, y: loss(net(x), y), None, optimizer.parameters)
    for batch in INPUTS:
        debugger.start(model=net)
        _, gradients = step(mindspore.Tensor(batch), mindspore.Tensor([0, 2], mindspore.int32))
        optimizer(gradients)
        debugger.stop()
        debugger.step()


def make(out: Path, name: str) -> None:
    """Write one of the dumps into ``out``, in a process of its own."""
    subprocess.run([sys.executable, __file__, str(out), name], check=True, capture_output=True, timeout=250)
    for stack in (out / name).rglob("stack.json"):
        stack.unlink()


if __name__ == "__main__":
    target = Path(sys.argv[1])
    if len(sys.argv) > 2:
        framework, *rest = DUMPS[sys.argv[2]]
        os.environ["OMP_NUM_THREADS"] = "1"
        {"torch": _torch, "mindspore": _mindspore}[framework](target / sys.argv[2], *rest)
    else:
        for one in DUMPS:
            target.mkdir(parents=True, exist_ok=True)
            make(target, one)
            shutil.copytree(target / one, Path(__file__).parent / one)
