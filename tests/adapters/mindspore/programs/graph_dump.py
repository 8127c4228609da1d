"""Prepares a dump, trains in graph mode, and prints the loss of every step and the network's outputs as JSON."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from trueline.adapters.mindspore import graph_dump
from trueline.model.steps import Steps

os.environ.update(graph_dump.prepare(Path(sys.argv[1]), Steps.parse(sys.argv[2])))
assert "mindspore" not in sys.modules

import mindspore as ms  # noqa: E402
import numpy as np  # noqa: E402
from adapters.observing import make_batches  # noqa: E402
from adapters.subjects.mindspore_subject import SUBJECT  # noqa: E402
from mindspore import nn  # noqa: E402

ms.set_context(mode=ms.GRAPH_MODE)
network = SUBJECT.make_network(0, "double")
trainer = nn.TrainOneStepCell(
    nn.WithLossCell(network, nn.CrossEntropyLoss()), SUBJECT.make_optimizer(network)
).set_train()
losses = []
for inputs, labels in make_batches(4):
    loss = trainer(ms.Tensor(inputs), ms.Tensor(labels.astype(np.int32)))
    losses.append(float(loss.asnumpy()))
sys.stdout.write("\nRESULT" + json.dumps(losses) + "\n")
