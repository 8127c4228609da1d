"""The course of a training with several losses in a step, closures, and gradients that are clipped."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

import trueline
from trueline.formats.run_folder.reader import open_run
from trueline.model.curve import Curve
from trueline.model.message import message
from trueline.model.report import Table
from trueline.report.run.training import Course, Training, training_blocks, training_of


def test_all_losses_of_a_closure_are_shown(tmp_path: Path) -> None:
    torch.manual_seed(0)
    network, x = nn.Linear(4, 1), torch.randn(16, 4)
    optimizer = torch.optim.LBFGS(network.parameters(), max_iter=40, max_eval=40, tolerance_grad=0, tolerance_change=0)
    seen: list[list[float]] = []

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = (network(x) - x.sum(1, keepdim=True)).square().mean()
        loss.backward()
        seen[-1].append(loss.item())
        return loss

    with trueline.record(tmp_path / "run"):
        for _ in range(2):
            seen.append([])
            optimizer.step(closure)
    found = training_of(open_run(tmp_path / "run").rank(0))
    assert len(seen[0]) > 32
    assert [one.first for one in found.losses[:32]] == seen[0][:32]
    assert (found.losses[-1].name, found.losses[-1].first) == ("loss …", seen[0][-1])
    assert found.loss is not None
    assert [one["first"] for one in found.to_json()["losses"][:2]] == seen[0][:2]
    plot, table, _ = training_blocks(found)
    assert [one.name for one in plot.curves] == ["loss", "loss 2", "loss 3", "loss 4"]
    assert [row[0] for row in table.rows][:33] == [one.name for one in found.losses]


def test_a_second_loss_that_is_not_finite_is_not_hidden_by_the_first(tmp_path: Path) -> None:
    network = nn.Linear(4, 1)
    with trueline.record(tmp_path / "run"):
        for factor in (1.0, float("nan")):
            network.zero_grad()
            for scale in (1.0, factor):
                (network(torch.ones(2, 4)).sum() * scale).backward()
            torch.optim.SGD(network.parameters(), 0.0).step()
    found = training_of(open_run(tmp_path / "run").rank(0))
    assert [list(one.non_finite) for one in found.losses] == [[], [1]]


def test_the_norm_before_clipping_stands_beside_the_one_after(tmp_path: Path) -> None:
    torch.manual_seed(0)
    networks = nn.Linear(4, 1), nn.Linear(4, 1)
    optimizers = [torch.optim.SGD(one.parameters(), 0.01) for one in networks]
    seen = []
    with trueline.record(tmp_path / "run"):
        for x in torch.randn(3, 8, 4):
            for network, optimizer in zip(networks, optimizers, strict=True):
                optimizer.zero_grad()
                (network(x) - 5).square().mean().backward()
                norm = nn.utils.clip_grad_norm_(network.parameters(), 0.5)
                optimizer.step()
                seen.append(float(norm))
    found = training_of(open_run(tmp_path / "run").rank(0))
    by_name = {one.name: one for one in found.courses}
    assert list(by_name) == ["loss", "lr", "grad_norm_unclipped", "grad_norm"]
    assert list(by_name["grad_norm_unclipped"].curve.values) == pytest.approx(seen[::2], rel=1e-6)
    assert list(by_name["grad_norm"].curve.values) == pytest.approx([0.5] * 3, rel=1e-5)


@pytest.mark.parametrize("by_name", [False, True])
def test_so_does_the_norm_before_clipping_by_value(tmp_path: Path, by_name: bool) -> None:
    torch.manual_seed(0)
    network = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(network.parameters(), 0.01)
    before, after = [], []
    with trueline.record(tmp_path / "run"):
        for x in torch.randn(3, 8, 4):
            optimizer.zero_grad()
            (network(x) - 5).square().mean().backward()
            before.append(float(nn.utils.get_total_norm([one.grad for one in network.parameters()])))
            # What is clipped once more, in another way, is clipped already.
            if by_name:
                nn.utils.clip_grad_value_(parameters=network.parameters(), clip_value=0.5)
                nn.utils.clip_grad_norm_(parameters=network.parameters(), max_norm=0.6)
            else:
                nn.utils.clip_grad_value_(network.parameters(), 0.5)
            after.append(float(nn.utils.get_total_norm([one.grad for one in network.parameters()])))
            optimizer.step()
    courses = {one.name: one.curve.values for one in training_of(open_run(tmp_path / "run").rank(0)).courses}
    assert list(courses["grad_norm_unclipped"]) == pytest.approx(before, rel=1e-5)
    assert list(courses["grad_norm"]) == pytest.approx(after, rel=1e-5)
    assert max(after) < min(before)


def test_the_norm_of_updates_by_hand_is_that_of_the_gradients(tmp_path: Path) -> None:
    torch.manual_seed(0)
    network = nn.Linear(4, 1)
    norms = []
    with trueline.record(tmp_path / "run"):
        for x in torch.randn(4, 8, 4):
            # Two passes are one update, with what both have left.
            for half in x.chunk(2):
                (network(half) - 5).square().mean().backward()
            norms.append(float(nn.utils.get_total_norm([one.grad for one in network.parameters()])))
            for one in network.parameters():
                one.data -= 0.01 * one.grad
                one.grad = None
    courses = {one.name: one.curve for one in training_of(open_run(tmp_path / "run").rank(0)).courses}
    assert list(courses["grad_norm"].values) == pytest.approx(norms, rel=1e-5)


def test_so_it_is_of_gradients_that_are_taken(tmp_path: Path) -> None:
    torch.manual_seed(0)
    network = nn.Linear(4, 1)
    norms = []
    with trueline.record(tmp_path / "run"):
        for x in torch.randn(4, 8, 4):
            loss = (network(x) - 5).square().mean()
            gradients = torch.autograd.grad(loss, list(network.parameters()))
            norms.append(float(nn.utils.get_total_norm(gradients)))
            for one, gradient in zip(network.parameters(), gradients, strict=True):
                one.data -= 0.01 * gradient
    courses = {one.name: one.curve for one in training_of(open_run(tmp_path / "run").rank(0)).courses}
    assert list(courses["grad_norm"].values) == pytest.approx(norms, rel=1e-5)


def test_a_norm_that_was_not_recorded_is_said_to_be_missing(tmp_path: Path) -> None:
    loss = Course("loss", Curve("loss", [0], [1.0]), 1.0, 1.0, (0, 1.0), (0, 1.0), [])
    table = next(one for one in training_blocks(Training([loss], 0, [], None)) if isinstance(one, Table))
    assert table.rows[-1][:2] == ["grad_norm", message("show.not_recorded")]


def test_one_loss_in_every_step_is_shown_once(tmp_path: Path) -> None:
    network = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(network.parameters(), 0.01)
    with trueline.record(tmp_path / "run"):
        for _ in range(2):
            optimizer.zero_grad()
            network(torch.ones(2, 4)).sum().backward()
            optimizer.step()
    found = training_of(open_run(tmp_path / "run").rank(0))
    assert found.losses == ()
    assert [one.name for one in found.courses] == ["loss", "lr", "grad_norm"]
