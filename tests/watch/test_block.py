"""``with trueline.watch()``: a loop of one's own."""

from __future__ import annotations

import torch
from torch import nn

import trueline


def _train(spoil_at: int | None) -> list[int]:
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
    optimizer = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)
    x = torch.randn(24, 4)
    if spoil_at is not None:
        x[spoil_at * 4 + 2, 1] = float("inf")
    data = torch.utils.data.TensorDataset(x, torch.randint(0, 2, (24,)))
    done = []
    for step, (inputs, labels) in enumerate(torch.utils.data.DataLoader(data, 4)):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(inputs), labels).backward()
        optimizer.step()
        done.append(step)
    return done


def test_a_block_ends_at_the_first_hit_and_says_which_sample_it_was() -> None:
    done: list[int] = []
    with trueline.watch() as watched:
        done = _train(3)
    assert done == []
    assert watched.hit is not None
    assert (watched.hit.step, watched.hit.part, list(watched.hit.samples)) == (3, "data", [2])
    assert [one.code for one in watched.findings] == ["nf.01"]


def test_a_block_that_is_well_runs_to_its_end() -> None:
    with trueline.watch(on=["WO", "GE"]) as watched:
        done = _train(None)
    assert done == list(range(6))
    assert watched.hit is None
    assert [one.conclusion for one in watched.findings] == ["none"]
