"""A perturbation where modules are not simply called: compiled, recomputed, by keyword, in a graph."""

from __future__ import annotations

from typing import Any

import mindspore as ms
import numpy as np
import pytest
import torch
from mindspore import nn as ms_nn
from torch import nn
from torch.utils.checkpoint import checkpoint

from trueline.adapters.mindspore import perturb as ms_perturb
from trueline.adapters.torch import perturb

UNIT = 2.0**-23


class _Nothing:
    def remove(self) -> None:
        """There is nothing."""


class Net(nn.Module):
    def __init__(self, again: bool = False) -> None:
        super().__init__()
        self.first = nn.Linear(4, 16)
        self.act = nn.ReLU()
        self.last = nn.Linear(16, 2)
        self.again = again
        self.seen: Any = None

    def forward(self, x: Any, scale: Any = None) -> Any:
        self.seen = (x, scale)
        hidden = checkpoint(self._hidden, x, use_reentrant=False) if self.again else self._hidden(x)
        return self.last(hidden)

    def _hidden(self, x: Any) -> Any:
        return self.act(self.first(x))


@pytest.fixture
def inputs() -> Any:
    return torch.randn(8, 4, generator=torch.Generator().manual_seed(0))


def test_what_is_computed_again_in_backward_fits_what_was_kept(inputs: Any) -> None:
    torch.manual_seed(0)
    net = Net(again=True)
    installed = perturb.install(2, _Nothing)
    try:
        net(inputs).square().mean().backward()
    finally:
        installed.remove()
    assert net.first.weight.grad is not None
    assert installed.counts()["inputs"] == 1


def test_keyword_arguments_are_inputs_too(inputs: Any) -> None:
    net = Net()
    installed = perturb.install(2, _Nothing)
    try:
        net(x=inputs, scale=[inputs, 3, "a"])
    finally:
        installed.remove()
    seen, scale = net.seen
    assert 0 < (seen / inputs - 1).abs().max() <= 2.1 * UNIT
    assert 0 < (scale[0] / inputs - 1).abs().max() <= 2.1 * UNIT
    assert scale[1:] == [3, "a"]
    assert installed.counts()["inputs"] == 2


@pytest.mark.parametrize("in_place", [False, True])
def test_of_a_compiled_network_only_inputs_are_moved(inputs: Any, in_place: bool) -> None:
    torch.manual_seed(0)
    net = Net()
    plain = net(inputs)
    installed = perturb.install(2, _Nothing)
    try:
        if in_place:
            net.compile(backend="eager")
        moved = (net if in_place else torch.compile(net, backend="eager"))(inputs)
    finally:
        installed.remove()
        torch._dynamo.reset()
    assert 0 < (moved - plain).abs().max() < 1e-5
    assert installed.counts()["inputs"] == 1
    assert installed.counts()["layers"] == 0


def test_a_graph_of_mindspore_has_its_inputs_moved_only() -> None:
    dense = ms_nn.Dense(4, 3)
    array = np.random.RandomState(0).randn(8, 4).astype(np.float32)

    @ms.jit
    def run(x: Any) -> Any:
        return dense(x) * 2

    plain = run(ms.Tensor(array)).asnumpy()
    installed = ms_perturb.install(2, _Nothing)
    try:
        moved = run(ms.Tensor(array)).asnumpy()
    finally:
        installed.remove()
    assert 0 < np.abs(moved - plain).max() < 1e-5
    assert installed.counts() == {"inputs": 1, "layers": 0, "kernels": []}
