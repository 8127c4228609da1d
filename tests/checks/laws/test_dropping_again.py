"""tr.09: a line whose calls drop values in training goes on doing so after an evaluation."""

from __future__ import annotations

from pathlib import Path

import pytest
from checks.laws.trainings import said

from trueline.model.finding import Conclusion

TORCH = """
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(12, 4), torch.randint(0, 2, (12,))

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head, self.p = nn.Linear(4, 8), nn.Linear(8, 2), 0.3

    def forward(self, x):
        {forward}

net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for epoch in range(3):
    net.train()
    {epoch}
    for _ in range(2):
        optimizer.zero_grad()
        F.cross_entropy(net(x), y).backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        print(F.cross_entropy(net(x), y).item())
"""
MINDSPORE = """
import mindspore as ms
import numpy as np
from mindspore import nn, ops

ms.set_context(mode=ms.PYNATIVE_MODE)
ms.set_seed(0)
x = ms.Tensor(np.random.default_rng(0).normal(size=(12, 4)).astype(np.float32))
y = ms.Tensor(np.arange(12, dtype=np.int32) % 2)

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.body, self.head, self.p = nn.Dense(4, 8), nn.Dense(8, 2), 0.3

    def construct(self, x):
        {forward}

net = Net()
optimizer = nn.SGD(net.trainable_params(), 0.01)
step = ms.value_and_grad(lambda x, y: ops.cross_entropy(net(x), y), None, optimizer.parameters)
for epoch in range(3):
    net.set_train(True)
    for _ in range(2):
        loss, gradients = step(x, y)
        optimizer(gradients)
    net.set_train(False)
    print(ops.cross_entropy(net(x), y))
"""
KEPT_OFF = """if not self.training:
            self.p = 0.0
        hidden = self.body(x)
        {call}
        return self.head(hidden)"""
DROPOUT = "hidden = F.dropout(hidden, self.p)"
ATTENTION = "hidden = F.scaled_dot_product_attention(hidden[None], hidden[None], hidden[None], dropout_p=self.p)[0]"
BY_MODE = "return self.head(F.dropout(self.body(x), self.p, self.training))"


@pytest.mark.parametrize("call", [DROPOUT, ATTENTION])
def test_a_rate_that_an_evaluation_has_put_out_is_named_at_its_call(tmp_path: Path, call: str) -> None:
    text = TORCH.format(forward=KEPT_OFF.format(call=call), epoch="pass")
    assert said(tmp_path, "tr.09", text) == [("tr_09.stopped", Conclusion.FOUND, 2, call)]


def test_a_layer_whose_rate_is_set_to_0_is_named_where_it_is_called(tmp_path: Path) -> None:
    text = TORCH.format(forward="return self.head(self.drop(self.body(x)))", epoch="pass")
    text = text.replace("self.p = nn", "self.drop = nn").replace(", 0.3\n", ", nn.Dropout(0.3)\n")
    text = text.replace("    net.eval()\n", "    net.eval()\n    net.drop.p = 0.0\n")
    found = said(tmp_path, "tr.09", text)
    assert found == [("tr_09.stopped", Conclusion.FOUND, 2, "return self.head(self.drop(self.body(x)))")]


def test_a_layer_that_is_put_to_rest_is_left_alone(tmp_path: Path) -> None:
    text = TORCH.format(forward="return self.head(self.drop(self.body(x)))", epoch="net.drop.train(epoch == 0)")
    text = text.replace("self.p = nn", "self.drop = nn").replace(", 0.3\n", ", nn.Dropout(0.3)\n")
    assert said(tmp_path, "tr.09", text) == []


def test_mindspore_names_it_too(tmp_path: Path) -> None:
    call = "hidden = ops.dropout(hidden, p=self.p)"
    found = said(tmp_path, "tr.09", MINDSPORE.format(forward=KEPT_OFF.format(call=call)), "mindspore")
    assert found == [("tr_09.stopped", Conclusion.FOUND, 2, call)]


@pytest.mark.parametrize(
    ("forward", "epoch"),
    [
        (BY_MODE, "pass"),
        # A rate that is lowered epoch by epoch follows a plan.
        (BY_MODE, "net.p = 0.3 - 0.1 * epoch"),
        ("p = self.p if self.training else 0.0\n        return self.head(F.dropout(self.body(x), p))", "pass"),
    ],
)
def test_what_follows_the_mode_or_a_plan_is_left_alone(tmp_path: Path, forward: str, epoch: str) -> None:
    assert said(tmp_path, "tr.09", TORCH.format(forward=forward, epoch=epoch)) == []


def test_mindspore_leaves_what_follows_the_mode_alone(tmp_path: Path) -> None:
    forward = "return self.head(ops.dropout(self.body(x), p=self.p, training=self.training))"
    assert said(tmp_path, "tr.09", MINDSPORE.format(forward=forward), "mindspore") == []


def test_attention_that_drops_in_evaluation_is_named(tmp_path: Path) -> None:
    forward = f"hidden = self.body(x)\n        {ATTENTION}\n        return self.head(hidden)"
    found = said(tmp_path, "tr.09", TORCH.format(forward=forward, epoch="pass"))
    assert found == [("tr_09.function", Conclusion.FOUND, 0, ATTENTION)]
