"""Batches with ignored targets that are summed into one update."""

from __future__ import annotations

from pathlib import Path

import mindspore as ms
import numpy as np
import torch
from checks.laws.small import line_of, said, told
from mindspore import nn as cells
from mindspore import ops
from torch import nn
from torch.nn import functional

LENGTHS = (3, 12, 5, 9)


def labels_of(length: int) -> torch.Tensor:
    labels = torch.full((12,), -100)
    labels[:length] = torch.randint(0, 4, (length,))
    return labels


def torch_means(*, lengths: tuple[int, ...] = LENGTHS, by_tokens: bool = False) -> None:
    torch.manual_seed(0)
    net = nn.Linear(5, 4)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        for length in lengths:
            loss = functional.cross_entropy(net(torch.randn(12, 5)), labels_of(length))
            share = length / sum(lengths) if by_tokens else 1 / len(lengths)
            (loss * share).backward()
        optimizer.step()


def mindspore_means(*, by_tokens: bool) -> None:
    ms.set_seed(0)
    draw = np.random.default_rng(0)
    net = cells.Dense(5, 4)
    optimizer = cells.SGD(net.trainable_params(), learning_rate=0.1)

    def forward(x: ms.Tensor, y: ms.Tensor, share: float) -> ms.Tensor:
        return ops.cross_entropy(net(x), y) * share

    step = ms.value_and_grad(forward, None, optimizer.parameters)
    for _ in range(3):
        summed = None
        for length in LENGTHS:
            y = np.full(12, -100, np.int32)
            y[:length] = draw.integers(0, 4, length)
            x = ms.Tensor(draw.normal(size=(12, 5)).astype(np.float32))
            _, gradients = step(x, ms.Tensor(y), length / sum(LENGTHS) if by_tokens else 0.25)
            summed = gradients if summed is None else [a + b for a, b in zip(summed, gradients, strict=True)]
        optimizer(tuple(summed))


def test_means_over_unequal_numbers_of_tokens_are_suspected(tmp_path: Path) -> None:
    found = said(told(torch_means, tmp_path / "run"))
    assert found == [("tr_03.unevenly_weighed", line_of(torch_means, ".backward()"), 0)]


def test_means_weighed_by_their_tokens_and_even_ones_are_not(tmp_path: Path) -> None:
    assert not told(lambda: torch_means(by_tokens=True), tmp_path / "weighed")
    assert not told(lambda: torch_means(lengths=(6, 6, 6, 6)), tmp_path / "even")


def test_mindspore_is_asked_the_same(tmp_path: Path) -> None:
    (found,) = told(lambda: mindspore_means(by_tokens=False), tmp_path / "run")
    assert (found.message.id, found.where.step) == ("tr_03.unevenly_weighed", 0)
    assert not told(lambda: mindspore_means(by_tokens=True), tmp_path / "other")


def cleared_for_every_batch(*, every: int, where: str) -> None:
    torch.manual_seed(0)
    net = nn.Linear(5, 4)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    data = torch.utils.data.TensorDataset(torch.randn(96, 5), torch.randint(0, 4, (96,)))
    for place, (x, y) in enumerate(torch.utils.data.DataLoader(data, batch_size=8)):
        if where == "batch":
            optimizer.zero_grad()
        (functional.cross_entropy(net(x), y) / every).backward()
        if where == "pass" and place % every:
            optimizer.zero_grad()
            functional.cross_entropy(net(x), y).backward()
        if (place + 1) % every == 0:
            optimizer.step()
            if where != "batch":
                optimizer.zero_grad()


def test_gradients_that_are_cleared_before_the_update_are_named(tmp_path: Path) -> None:
    found = said(told(lambda: cleared_for_every_batch(every=3, where="batch"), tmp_path / "run"))
    assert found == [("tr_01.lost", line_of(cleared_for_every_batch, "optimizer.zero_grad()"), 1)]


def test_gradients_that_are_cleared_after_the_update_are_not(tmp_path: Path) -> None:
    assert not told(lambda: cleared_for_every_batch(every=3, where="update"), tmp_path / "run")
    assert not told(lambda: cleared_for_every_batch(every=1, where="batch"), tmp_path / "single")
