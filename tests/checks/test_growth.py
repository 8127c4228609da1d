"""Asking all items of a script costs in proportion to what happens in it."""

from __future__ import annotations

import cProfile
import pstats
from pathlib import Path

from trueline.checks.engine.checklist import fill_in
from trueline.checks.engine.listing import all_checks
from trueline.script.script import read_script

TRAINING = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.norm, self.drop = nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Dropout(0.5)

    def forward(self, x):
        return torch.softmax(self.drop(self.norm(self.layer(x))), dim=1)

model = Net()
data = torch.utils.data.TensorDataset(torch.randn(8, 4), torch.zeros(8).long())
loader = torch.utils.data.DataLoader(data, batch_size=4, shuffle=True)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    optimizer.zero_grad()
{calls}
    loss = nn.functional.cross_entropy(out, y)
    loss.backward()
    optimizer.step()
"""


def _function_calls(folder: Path, calls: int) -> int:
    path = folder / f"train_{calls}.py"
    path.write_text(TRAINING.format(calls="    out = model(x)\n" * calls), "utf-8")
    script, checks = read_script([path]), all_checks()
    counted = cProfile.Profile()
    counted.enable()
    fill_in(checks, {"script": script})
    counted.disable()
    return int(pstats.Stats(counted).total_calls)  # type: ignore[attr-defined]


def test_four_times_the_calls_of_a_network_take_four_times_the_work(tmp_path: Path) -> None:
    few, many = (_function_calls(tmp_path, calls) for calls in (150, 600))
    assert many < 4 * 1.5 * few
