"""tr.30: layers of a network that is called inside autocast compute inside it too."""

from __future__ import annotations

from pathlib import Path

import pytest
from checks.laws.trainings import said

from trueline.model.finding import Conclusion

TRAINING = """
from concurrent.futures import ThreadPoolExecutor
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(12, 4)
pool = ThreadPoolExecutor(max_workers=1)

class Branch(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 4)

    def forward(self, x):
        return self.body(x)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.left, self.right = Branch(), Branch()

    def beside(self, x):
        {beside}

    def forward(self, x):
        waiting = pool.submit(self.beside, x)
        return self.left(x).float() + waiting.result().float()

other = nn.Linear(4, 4)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for _ in range(2):
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled={enabled}):
        loss = net(x).pow(2).mean()
    loss.backward()
    optimizer.step()
pool.shutdown()
"""


def training(beside: str, *, enabled: bool = True) -> str:
    return TRAINING.format(beside=beside, enabled=enabled)


@pytest.mark.parametrize(
    ("beside", "line"),
    [("return self.right(x)", "return self.body(x)"), ("return self.right.body(x)", "return self.right.body(x)")],
)
def test_a_layer_that_autocast_does_not_reach_is_named_at_its_call(tmp_path: Path, beside: str, line: str) -> None:
    assert said(tmp_path, "tr.30", training(beside)) == [("tr_30.uncast", Conclusion.FOUND, 0, line)]


@pytest.mark.parametrize(
    ("beside", "enabled"),
    [
        ('with torch.autocast("cpu", dtype=torch.bfloat16):\n            return self.right(x)', True),
        ('with torch.autocast("cpu", enabled=False):\n            return self.right(x)', True),
        ("return self.right(x)", False),
        # Another network beside it is its own matter.
        ("return other(x) + 0 * self.right.body.bias", True),
    ],
)
def test_what_is_said_to_compute_as_it_does_is_left_alone(tmp_path: Path, beside: str, enabled: bool) -> None:
    assert said(tmp_path, "tr.30", training(beside, enabled=enabled)) == []
