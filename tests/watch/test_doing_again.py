"""A step done again in loops that are not the simplest: what is named is the step, operator and sample at fault."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

import trueline
from trueline.adapters import adapter_of
from trueline.adapters.nouns import OpCall
from trueline.watch.hit import Hit
from trueline.watch.seen import Updating
from trueline.watch.snapshot import Snapshot
from trueline.watch.tracker import Tracker

BAD = 37


class Numbered(Dataset[dict[str, Any]]):
    """Samples that know their number; with ``spoilt`` one of them has a NaN."""

    def __init__(self, *, spoilt: bool = False) -> None:
        self.x = torch.randn(64, 8, generator=torch.Generator().manual_seed(1))
        self.spoilt = spoilt

    def __len__(self) -> int:
        return 64

    def __getitem__(self, place: int) -> dict[str, Any]:
        x = self.x[place].clone()
        if self.spoilt and place == BAD:
            x[2] = float("nan")
        return {"x": x, "place": place}


def network() -> tuple[nn.Module, torch.optim.Optimizer]:
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Dropout(0.1), nn.Linear(16, 2))
    return net, torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)


def infinite_slope(out: Tensor) -> Tensor:
    return (out - out.detach()).pow(2).sum(1).sqrt().mean()


def hit_in(train: Callable[[], None]) -> Hit:
    with trueline.watch() as watched:
        train()
    assert watched.hit is not None
    return watched.hit


def test_a_script_may_take_things_out_of_its_batch() -> None:
    def train() -> None:
        net, optimizer = network()
        for batch in DataLoader(Numbered(spoilt=True), 4):
            batch.pop("place")
            optimizer.zero_grad()
            net(batch.pop("x")).pow(2).mean().backward()
            optimizer.step()

    hit = hit_in(train)
    assert (hit.step, hit.part, list(hit.samples), hit.way) == (BAD // 4, "data", [BAD % 4], "in_place")


def test_the_backward_pass_at_fault_is_named_where_several_make_one_update() -> None:
    def train() -> None:
        net, optimizer = network()
        for step, batch in enumerate(DataLoader(Numbered(), 4)):
            out = net(batch["x"])
            loss = out.pow(2).mean()
            (loss + infinite_slope(out) if BAD in batch["place"] else loss).backward()
            if step % 4 == 3:
                optimizer.step()
                optimizer.zero_grad()

    hit = hit_in(train)
    assert (hit.step, hit.part, hit.op, hit.cause) == (BAD // 4, "backward", "sqrt", "sqrt_gradient_at_zero")


def test_the_second_update_of_a_step_is_done_again_too() -> None:
    def train() -> None:
        first, one = network()
        second, other = network()
        for batch in DataLoader(Numbered(), 4):
            one.zero_grad()
            first(batch["x"]).pow(2).mean().backward()
            one.step()
            other.zero_grad()
            out = second(batch["x"])
            (infinite_slope(out) if BAD in batch["place"] else out.pow(2).mean()).backward()
            other.step()

    hit = hit_in(train)
    assert (hit.step, hit.op, hit.way) == (BAD // 4, "sqrt", "in_place")


def test_two_loaders_side_by_side_are_both_asked_again() -> None:
    def train() -> None:
        net, optimizer = network()
        for one, other in zip(DataLoader(Numbered(), 4), DataLoader(Numbered(spoilt=True), 4), strict=True):
            optimizer.zero_grad()
            (net(one["x"]).pow(2).mean() + net(other["x"]).abs().mean()).backward()
            optimizer.step()

    hit = hit_in(train)
    assert (hit.step, hit.part, list(hit.samples), hit.way) == (BAD // 4, "data", [BAD % 4], "in_place")


def test_what_evaluation_has_fetched_is_let_go() -> None:
    seen: list[weakref.ref[Tensor]] = []

    def train() -> None:
        net, optimizer = network()
        for _ in range(2):
            for batch in DataLoader(Numbered(), 4):
                optimizer.zero_grad()
                net(batch["x"]).pow(2).mean().backward()
                optimizer.step()
            with torch.no_grad():
                for batch in DataLoader(Numbered(), 4):
                    net.eval()(batch["x"])
                    seen.append(weakref.ref(batch["x"]))
                assert sum(one() is not None for one in seen) <= 4
            net.train()

    with trueline.watch() as watched:
        train()
    assert watched.hit is None
    assert len(seen) == 32


def test_a_batch_that_was_written_since_is_not_handed_out_again() -> None:
    handed: list[float] = []

    def train() -> None:
        net, optimizer = network()
        for batch in DataLoader(Numbered(spoilt=True), 4):
            handed.append(float(batch["x"][0, 0]))
            optimizer.zero_grad()
            net(batch["x"].mul_(10)).pow(2).mean().backward()
            optimizer.step()

    with trueline.watch() as watched:
        train()
    assert len(handed) == BAD // 4 + 1
    assert [one.params["step"] for one in (found.message for found in watched.findings)] == [BAD // 4]


def test_what_is_written_into_a_part_of_a_tensor_is_followed() -> None:
    def train() -> None:
        net, optimizer = network()
        for batch in DataLoader(Numbered(), 4):
            optimizer.zero_grad()
            out, mask = net(batch["x"]), torch.zeros(4, 2)
            mask[1, 1:] = float("-inf")
            if BAD in batch["place"]:
                out[2] = out[2] / out[2].detach().sum().mul(0)
            (out + mask).exp().pow(2).mean().backward()
            optimizer.step()

    hit = hit_in(train)
    assert (hit.step, hit.part, hit.op, hit.cause) == (BAD // 4, "forward", "div", "division_by_zero")


def test_memory_that_has_no_numbers_yet_is_nobodys_fault() -> None:
    tracker = Tracker(adapter_of("torch"), lambda _: None, str, lambda: Updating.NOT, failed=pytest.fail)
    leftover = torch.full((2,), float("nan"))
    for name in ("empty", "new_empty", "empty_like", "div"):
        tracker(OpCall(name, [], [leftover], None))
    assert [one.name for one in tracker.seen] == ["div"]


def test_a_mask_where_something_else_has_been_is_wanted_all_the_same() -> None:
    tracker = Tracker(adapter_of("torch"), lambda _: None, str, lambda: Updating.NOT, failed=pytest.fail)
    memory = torch.ones(2)
    tracker(OpCall("div", [], [memory], None))
    memory.fill_(-math.inf)
    tracker(OpCall("lift_fresh", [memory], [memory], None))
    assert [one.deliberate for one in tracker.seen] == [False, True]


def test_a_loss_scaler_is_put_back_too() -> None:
    scales: list[float] = []

    def train() -> None:
        net, optimizer = network()
        scaler = torch.amp.GradScaler("cpu", init_scale=2.0, growth_interval=1)
        for batch in DataLoader(Numbered(), 4):
            optimizer.zero_grad()
            scaler.scale(net(batch["x"]).pow(2).mean()).backward()
            scaler.unscale_(optimizer)
            scales.append(scaler.get_scale())
            if BAD in batch["place"] and scaler.get_scale() == 2.0 ** (BAD // 4 + 1):
                nn.utils.clip_grad_norm_(net.parameters(), float("inf") * 0)
            scaler.step(optimizer)
            scaler.update()

    hit = hit_in(train)
    assert (hit.step, hit.part, hit.way) == (BAD // 4, "update", "in_place")
    assert scales == [2.0**one for one in (*range(1, BAD // 4 + 2), BAD // 4 + 1)]


def test_a_loss_that_stays_not_finite_is_told_although_scaling_skips_every_step() -> None:
    def train(bad: range) -> None:
        net, optimizer = network()
        scaler = torch.amp.GradScaler("cpu", init_scale=2.0)
        for batch in DataLoader(Numbered(), 4):
            optimizer.zero_grad()
            loss = net(batch["x"]).pow(2).mean()
            if int(batch["place"][0]) // 4 in bad:
                loss = loss + (loss * 0).log()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()

    with trueline.watch() as watched:
        train(range(5, 7))
    assert watched.hit is None
    hit = hit_in(lambda: train(range(5, 99)))
    assert (hit.step, hit.part, hit.op, hit.cause) == (5, "forward", "log", "log_of_zero")


def test_mindspores_loss_scaler_is_put_back_too() -> None:
    import mindspore

    net = mindspore.nn.Dense(2, 2)
    optimizer = mindspore.nn.SGD(net.trainable_params(), 0.1)
    scaler = mindspore.amp.DynamicLossScaler(8, 2, 3)
    finite = mindspore.Tensor(True)
    scaler.adjust(finite)
    snapshot = Snapshot(adapter_of("mindspore"))
    snapshot.take([net], [optimizer], [scaler])
    for _ in range(2):
        scaler.adjust(finite)
    assert (float(scaler.scale_value), int(scaler.counter)) == (16, 0)
    snapshot.restore()
    assert (float(scaler.scale_value), int(scaler.counter)) == (8, 1)
