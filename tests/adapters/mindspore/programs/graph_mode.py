"""Trains under jit and in graph mode in three ways; prints losses and events as JSON, with hooks when "watched"."""

from __future__ import annotations

import json
import sys
from typing import Any

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from adapters.observing import Notebook, make_batches
from adapters.subjects.mindspore_subject import SUBJECT
from mindspore import amp, nn, ops

values = SUBJECT.adapter.values
notebook = Notebook(SUBJECT)
if sys.argv[1] == "watched":
    SUBJECT.adapter.hooks.install(notebook)
losses: dict[str, list[float]] = {}
told: dict[str, Any] = {}
batches = [(ms.Tensor(x), ms.Tensor(y.astype(np.int32))) for x, y in make_batches(4)]


def finish(name: str, found: list[Any]) -> None:
    """Keep a way's losses and events."""
    losses[name] = [float(one) for one in found]
    told[name] = {
        "story": [one.name for one in notebook.events if one.name not in ("mode_set", "fetch_began")],
        "losses": [values.read(one.seen) for one in notebook.told("loss")],
        "sources": sorted({one.of for one in notebook.told("loss")}),
        "notices": sorted({str(one.of) for one in notebook.told("notice")}),
        "gradients": [len(one.seen) for one in notebook.told("step_began")],
    }
    notebook.events.clear()


def make() -> tuple[Any, Any]:
    """A fresh network and optimizer."""
    network = SUBJECT.make_network(0)
    return network, SUBJECT.make_optimizer(network)


network, optimizer = make()


def plain_loss(x: Any, y: Any) -> Any:
    """The loss."""
    return ops.cross_entropy(network(x), y)


plain_gradient = ms.value_and_grad(plain_loss, None, optimizer.parameters)


@ms.jit
def train_step(x: Any, y: Any) -> Any:
    """One step, clipped, in one graph."""
    loss, grads = plain_gradient(x, y)
    optimizer(ops.clip_by_value(grads, -0.1, 0.1))
    return loss


finish("jit", [train_step(*batch).asnumpy() for batch in batches])
ms.set_context(mode=ms.GRAPH_MODE)


class ClippingTrainer(nn.TrainOneStepCell):
    """The usual way to clip in graph mode: what is wrapped elsewhere is compiled here."""

    def construct(self, *inputs: Any) -> Any:
        """The loss after a step with clipped gradients."""
        loss = self.network(*inputs)
        grads = self.grad_no_sens(self.network, self.weights)(*inputs)
        grads = ops.clip_by_global_norm(grads, 0.1)
        return ops.depend(loss, self.optimizer(grads))


network, optimizer = make()
trainer = ClippingTrainer(nn.WithLossCell(network, nn.CrossEntropyLoss()), optimizer).set_train()
finish("cell", [trainer(*batch).asnumpy() for batch in batches])

network, optimizer = make()
scaler = amp.StaticLossScaler(256)


def forward(x: Any, y: Any) -> Any:
    """The scaled loss."""
    return scaler.scale(ops.cross_entropy(network(x), y))


gradient = ms.value_and_grad(forward, None, optimizer.parameters)
found = []
for batch in batches:
    loss, gradients = gradient(*batch)
    optimizer(scaler.unscale(gradients))
    found.append(loss.asnumpy() / 256)
finish("function", found)

network, optimizer = make()
inputs = np.concatenate([x.asnumpy() for x, _ in batches])
labels = np.concatenate([y.asnumpy() for _, y in batches])
found = []


class Note(ms.Callback):
    """Keeps the losses."""

    def on_train_step_end(self, run_context: Any) -> None:
        """One more."""
        found.append(run_context.original_args().net_outputs.asnumpy())


data = ds.NumpySlicesDataset((inputs, labels), ["x", "y"], shuffle=False).batch(8)
ms.Model(network, nn.CrossEntropyLoss(), optimizer).train(1, data, callbacks=[Note()], dataset_sink_mode=False)
finish("model", found)
sys.stdout.write("\nRESULT" + json.dumps({"losses": losses, "told": told}) + "\n")
