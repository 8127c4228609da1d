"""Every kind of learning rate in MindSpore, held at others: how far the weights move in a step at each.

A step is the call of the optimizer alone, one compiled function, or in graph mode one graph.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn
from mindspore.experimental import optim

from trueline.adapters.mindspore import rates

HELD = [0.5, 1e-6, 3e-8, 2.0]
STEPS = 8


class Sum(nn.Cell):  # type: ignore[misc]
    """The gradient of every weight is 1."""

    def __init__(self) -> None:
        super().__init__()
        self.first = ms.Parameter(ms.Tensor(np.zeros(3), ms.float32), name="first")
        self.second = ms.Parameter(ms.Tensor(np.zeros(3), ms.float32), name="second")

    def construct(self, x):  # type: ignore[no-untyped-def]
        """The loss."""
        return ((self.first + self.second) * x).sum()


def _groups(network: Sum, rate: Any) -> list[dict[str, Any]]:
    return [{"params": [network.first], "lr": rate}, {"params": [network.second]}]


KINDS: dict[str, Callable[[Sum], Any]] = {
    "number": lambda net: nn.SGD(net.trainable_params(), 0.1),
    "list": lambda net: nn.Momentum(net.trainable_params(), [0.1] * STEPS, 0.0),
    "warm_up": lambda net: nn.SGD(net.trainable_params(), nn.WarmUpLR(0.1, 10)),
    "groups": lambda net: nn.SGD(_groups(net, 0.05), 0.1),
    "group_with_schedule": lambda net: nn.SGD(_groups(net, nn.CosineDecayLR(0.01, 0.1, 10)), 0.1),
    "experimental": lambda net: optim.SGD(net.trainable_params(), lr=0.1),
}


def _stepping(network: Sum, optimizer: Any, mode: str) -> Callable[[], Any]:
    one = ms.Tensor(np.ones(3), ms.float32)
    if mode == "graph":
        trainer = nn.TrainOneStepCell(network, optimizer)
        trainer.set_train()
        return lambda: trainer(one)
    if mode == "function":
        differentiate = ms.value_and_grad(network, None, network.trainable_params())

        @ms.jit
        def step(x):  # type: ignore[no-untyped-def]
            loss, gradients = differentiate(x)
            optimizer(gradients)
            return loss

        return lambda: step(one)
    return lambda: optimizer((one, one))


def _moved(kind: str, mode: str) -> dict[str, Any]:
    network = Sum()
    optimizer = KINDS[kind](network)
    step = _stepping(network, optimizer, mode)
    held = rates.hold(optimizer)
    told: dict[str, Any] = {"own": held.own(), "peak": held.peak(), "moved": []}
    nothing = ms.Tensor(np.zeros(3), ms.float32)
    for rate in HELD:
        network.first.copy_(nothing)
        network.second.copy_(nothing)
        held.use([rate] * len(told["own"]))
        step()
        held.release()
        told["moved"].append([-float(one.asnumpy()[0]) for one in (network.first, network.second)])
    told["after"] = held.own()
    return told


def main() -> None:
    """Print what each kind does, however a step runs."""
    told = {mode: {kind: _moved(kind, mode) for kind in KINDS} for mode in ("alone", "function")}
    ms.set_context(mode=ms.GRAPH_MODE)
    told["graph"] = {kind: _moved(kind, "graph") for kind in KINDS}
    print(json.dumps(told))


if __name__ == "__main__":
    main()
