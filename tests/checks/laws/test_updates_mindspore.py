"""Laws of updates and of clipping on MindSpore trainings that break them or come close."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import mindspore as ms
import numpy as np
import pytest
from checks.laws.small import line_of, said, told
from mindspore import nn, ops
from mindspore.common.initializer import Normal, initializer

STEPS = 6


def batches(steps: int = STEPS) -> Iterator[tuple[ms.Tensor, ms.Tensor]]:
    draw = np.random.default_rng(0)
    for _ in range(steps):
        x = draw.normal(size=(16, 6)).astype(np.float32)
        yield ms.Tensor(x), ms.Tensor((x[:, 0] + x[:, 1] > 0).astype(np.int32))


class Net(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Dense(6, 12)
        self.head = nn.Dense(12, 2)

    def construct(self, x: ms.Tensor) -> ms.Tensor:
        return self.head(ops.relu(self.body(x)))


def differentiated(net: nn.Cell) -> Any:
    return ms.value_and_grad(lambda x, y: ops.cross_entropy(net(x), y), None, net.trainable_params())


def head_replaced() -> None:
    net = Net()
    optimizer = nn.Momentum(net.trainable_params(), learning_rate=0.05, momentum=0.9)
    for place, (x, y) in enumerate(batches()):
        if place == 3:
            net.head = nn.Dense(12, 2)
        _, gradients = differentiated(net)(x, y)
        optimizer(gradients)


def built_again(*, optimizer_too: bool) -> None:
    net = Net()
    optimizer = nn.Momentum(net.trainable_params(), learning_rate=0.05, momentum=0.9)
    for place, (x, y) in enumerate(batches()):
        if place == 3:
            net = Net()
            if optimizer_too:
                optimizer = nn.Momentum(net.trainable_params(), learning_rate=0.05, momentum=0.9)
        _, gradients = differentiated(net)(x, y)
        optimizer(gradients)


def drawn_anew(*, which: Sequence[str] = ("body", "head")) -> None:
    net = Net()
    optimizer = nn.Adam(net.trainable_params(), learning_rate=0.05)
    step = differentiated(net)
    for place, (x, y) in enumerate(batches()):
        if place == 3:
            for name in which:
                layer = getattr(net, name)
                for part in (layer.weight, layer.bias):
                    part.set_data(initializer(Normal(), part.shape, part.dtype))
        _, gradients = step(x, y)
        optimizer(gradients)


def applied_twice() -> None:
    net = Net()
    optimizer = nn.SGD(net.trainable_params(), learning_rate=0.05)
    step = differentiated(net)
    for x, y in batches():
        _, gradients = step(x, y)
        optimizer(gradients)
        optimizer(gradients)


def first_gradients_kept() -> None:
    net = Net()
    optimizer = nn.SGD(net.trainable_params(), learning_rate=0.05)
    step, kept = differentiated(net), None
    for x, y in batches():
        _, gradients = step(x, y)
        kept = kept or gradients
        optimizer(kept)


def usual(kind: Any, **settings: Any) -> None:
    net = Net()
    optimizer = kind(net.trainable_params(), **settings)
    step = differentiated(net)
    for x, y in batches():
        _, gradients = step(x, y)
        optimizer(gradients)


def only_the_head() -> None:
    net = Net()
    optimizer = nn.SGD(net.head.trainable_params(), learning_rate=0.05)
    step = differentiated(net)
    for x, y in batches():
        _, gradients = step(x, y)
        optimizer(gradients[2:])


@pytest.mark.parametrize(
    ("training", "message", "line", "step"),
    [
        (head_replaced, "tr_06.replaced", "nn.Momentum", 3),
        (applied_twice, "tr_17.twice", "optimizer(gradients)", 0),
        (first_gradients_kept, "tr_17.stale", "optimizer(kept)", 1),
        (drawn_anew, "tr_17.drawn_anew", "set_data", 3),
    ],
)
def test_updates_that_are_not_the_networks_own_are_named(
    training: Any, message: str, line: str, step: int, tmp_path: Path
) -> None:
    (found,) = said(told(training, tmp_path / "run"))
    assert found[0] == message
    assert (found[1] or 0) - line_of(training, line) in ((0, 1) if message == "tr_17.twice" else (0,))
    assert abs((found[2] or 0) - step) <= 1


def test_a_network_that_is_built_again_needs_its_optimizer_too(tmp_path: Path) -> None:
    (found,) = told(lambda: built_again(optimizer_too=False), tmp_path / "run")
    assert (found.message.id, found.where.line) == ("tr_06.none_held", line_of(built_again, "nn.Momentum"))
    assert not told(lambda: built_again(optimizer_too=True), tmp_path / "other")


def test_a_layer_that_is_drawn_anew_may_be_meant(tmp_path: Path) -> None:
    (found,) = told(lambda: drawn_anew(which=("head",)), tmp_path / "run")
    assert found.conclusion == "suspect"


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        (nn.SGD, {"learning_rate": 0.05, "momentum": 0.9, "dampening": 0.1}),
        (nn.Momentum, {"learning_rate": 0.05, "momentum": 0.9, "use_nesterov": True, "loss_scale": 4.0}),
        (nn.Adam, {"learning_rate": 0.05, "weight_decay": 0.1}),
        (nn.AdamWeightDecay, {"learning_rate": 0.05, "weight_decay": 0.1}),
        (nn.RMSProp, {"learning_rate": 0.05, "momentum": 0.5}),
        (nn.Adagrad, {"learning_rate": 0.05}),
    ],
)
def test_the_usual_optimizers_do_what_their_formulas_give(kind: Any, settings: dict[str, Any], tmp_path: Path) -> None:
    assert not told(lambda: usual(kind, **settings), tmp_path / "run")


def frozen(*, held: bool) -> None:
    net = Net()
    weights = list(net.get_parameters())
    for weight in net.body.get_parameters():
        weight.requires_grad = False
    weights = weights if held else net.trainable_params()
    optimizer = nn.SGD(weights, learning_rate=0.05, weight_decay=0.1)
    step = ms.value_and_grad(lambda x, y: ops.cross_entropy(net(x), y), None, weights)
    for x, y in batches():
        _, gradients = step(x, y)
        optimizer(gradients)


def test_what_is_frozen_is_not_given_to_the_optimizer_with_gradients(tmp_path: Path) -> None:
    (found,) = told(lambda: frozen(held=True), tmp_path / "run")
    assert (found.message.id, found.where.line) == ("cg_02.moves", line_of(frozen, "nn.SGD"))
    assert not told(lambda: frozen(held=False), tmp_path / "other")


def test_a_head_alone_may_be_trained(tmp_path: Path) -> None:
    assert not told(only_the_head, tmp_path / "run")
