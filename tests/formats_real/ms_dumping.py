"""Run in a process of its own: trains or infers in graph mode under MindSpore's dump, and prints what it computed."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

folder, mode, saved = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
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
from mindspore import nn  # noqa: E402


class Net(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3, has_bias=True)
        self.norm = nn.BatchNorm2d(2)
        self.act = nn.ReLU()
        self.head = nn.Dense(2, 4)
        self.scale = ms.Parameter(ms.Tensor(2.0), name="scale")

    def construct(self, x):
        return self.head(self.act(self.norm(self.conv(x))).mean((2, 3))) * self.scale


ms.set_seed(1)
ms.set_context(mode=ms.GRAPH_MODE)
net = Net()
x = ms.Tensor(np.random.RandomState(0).rand(4, 1, 8, 8).astype(np.float32))
y = ms.Tensor(np.arange(4, dtype=np.int32))
told = {}
if mode == "infer":
    told["out"] = [net(x).asnumpy().tolist() for _ in range(2)]
else:
    cell = nn.WithLossCell(net, nn.CrossEntropyLoss())
    train = nn.TrainOneStepCell(cell, nn.Adam(net.trainable_params(), 0.1)).set_train()
    told["loss"] = [float(train(x, y).asnumpy()) for _ in range(2)]
    told["weights"] = {name: one.asnumpy().tolist() for name, one in net.parameters_dict().items()}
    net.set_train(False)
    told["out"] = [net(x).asnumpy().tolist()]
sys.stdout.write("\nRESULT" + json.dumps(told) + "\n")
