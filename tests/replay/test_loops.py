"""Loops as people write them: copies, passes over the data in between, batches left out or fetched ahead."""

from __future__ import annotations

from pathlib import Path

import pytest
from replay.replaying import Recorded, recorded

HERE = Path(__file__).parent

AHEAD = """
import torch
from torch import nn
from torch.utils.data import DataLoader

torch.manual_seed(0)
network = nn.Linear(4, 1)
optimizer = torch.optim.SGD(network.parameters(), lr=0.05)
batches = iter(DataLoader(torch.randn(12, 4), 2, shuffle=True))
following = next(batches)
for step in range(6):
    batch, following = following, next(batches, None)
    if step in (2, 4):
        optimizer.param_groups[0]["lr"] *= 0.5
    loss = (network(batch) - 1).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item().hex(), flush=True)
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """Twice eleven steps, since one batch of each epoch is left out."""
    program = (HERE / "torch_loop.py").read_text("utf-8")
    return recorded(tmp_path_factory.mktemp("loop"), program, ["--keep-state", "30"])


@pytest.mark.parametrize("options", [["--step", "11", "--more", "1"], ["--step", "16"], []])
def test_a_loop_goes_on_where_it_was(run: Recorded, options: list[str]) -> None:
    lines = run.lines[:-1]
    found, printed = run.replay(*options)
    steps = [one["step"] for one in found["steps"]]
    assert printed[: len(steps)] == lines[steps[0] : steps[-1] + 1]
    assert found["bitwise"] is True
    if not options:
        # The pass over the data after the training is no step.
        assert steps[-1] == len(lines) - 1


def test_a_loop_that_fetches_ahead_reaches_its_last_step(tmp_path: Path) -> None:
    run = recorded(tmp_path, AHEAD, ["--keep-state", "3"])
    found, printed = run.replay()
    assert printed == run.lines[4:]
    assert found["bitwise"] is True


def test_steps_that_share_a_batch_are_reached_from_it(tmp_path: Path) -> None:
    program = (HERE / "mindspore_loop.py").read_text("utf-8")
    run = recorded(tmp_path, program, ["--keep-state", "12"])
    # Each batch is two steps: 27 is the second one of the fourteenth batch.
    found, printed = run.replay("--step", "27")
    assert printed == run.lines[12:14]
    assert [one["step"] for one in found["steps"]] == [24, 25, 26, 27]
    assert found["bitwise"] is True
