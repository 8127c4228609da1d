"""Run in a process of its own: trains in graph mode under MindSpore's dump, and divides by zero in the second step."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

folder, saved = Path(sys.argv[1]), int(sys.argv[2])
common = {
    "op_debug_mode": 0,
    "dump_mode": 0,
    "path": str(folder / "dump"),
    "net_name": "Net",
    "iteration": "all",
    "saved_data": "tensor",
    "input_output": saved,
    "kernels": [],
    "support_device": list(range(8)),
}
config = folder / "config.json"
config.write_text(json.dumps({"common_dump_settings": common, "e2e_dump_settings": {"enable": True}}), "utf-8")
os.environ["MINDSPORE_DUMP_CONFIG"] = str(config)

import mindspore as ms  # noqa: E402
import numpy as np  # noqa: E402
from mindspore import nn, ops  # noqa: E402


class Ratio(nn.Cell):
    def construct(self, a, b):
        return a / b


class Net(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Dense(4, 3)
        self.ratio = Ratio()

    def construct(self, x, y):
        # The tanh hides it from the loss.
        return ops.tanh(self.ratio(self.head(x), y)).mean()


ms.set_seed(1)
ms.set_context(mode=ms.GRAPH_MODE)
net = Net()
train = nn.TrainOneStepCell(net, nn.Adam(net.trainable_params(), 0.1)).set_train()
x = ms.Tensor(np.random.RandomState(0).rand(2, 4).astype(np.float32))
losses = []
for step in range(3):
    y = np.ones((2, 3), np.float32)
    y[0, 1] = step != 1
    losses.append(str(train(x, ms.Tensor(y))))
sys.stdout.write("\nRESULT" + json.dumps(losses) + "\n")
