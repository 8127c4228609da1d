"""The look at a step's operators ends as it began, whatever blocks the script goes through meanwhile."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn

import trueline
from trueline.adapters.torch import internals


def test_evaluating_in_inference_mode_leaves_operators_as_they_were(tmp_path: Path) -> None:
    net = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    with trueline.record(tmp_path / "run"):
        for _ in range(3):
            optimizer.zero_grad()
            net(torch.randn(8, 4)).square().mean().backward()
            optimizer.step()
            with torch.inference_mode():
                net(torch.randn(8, 4))
                # Another network begins a step of its own inside the block.
                nn.Linear(4, 2)(torch.randn(8, 4))
        assert float((torch.ones(2) + 1).sum()) == 4.0
    assert not internals.dispatch_modes()
    assert float((torch.ones(2) + 1).sum()) == 4.0
