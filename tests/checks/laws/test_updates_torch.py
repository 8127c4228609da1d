"""Laws of updates, of clipping and of what holds what, on torch trainings that break them or come close."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from checks.laws.small import line_of, said, told
from torch import nn
from torch.nn import functional

STEPS = 6


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(0)


def batches(steps: int = STEPS) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    for _ in range(steps):
        x = torch.randn(16, 6)
        yield x, (x[:, 0] + x[:, 1] > 0).long()


def network() -> nn.Sequential:
    return nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 2))


def backward(net: nn.Module, x: torch.Tensor, y: torch.Tensor) -> None:
    functional.cross_entropy(net(x), y).backward()


# ---- what an optimizer holds


def head_replaced() -> None:
    net = network()
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    net[2] = nn.Linear(12, 3)
    for x, y in batches():
        optimizer.zero_grad()
        backward(net, x, y)
        optimizer.step()


def head_handed_over() -> None:
    net = network()
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    for place, (x, y) in enumerate(batches()):
        if place == 2:
            net[2] = nn.Linear(12, 2)
            optimizer.add_param_group({"params": net[2].parameters()})
        optimizer.zero_grad()
        backward(net, x, y)
        optimizer.step()


def copied_in_the_loop() -> None:
    net = network()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for place, (x, y) in enumerate(batches()):
        if place == 3:
            net = copy.deepcopy(net)
        optimizer.zero_grad()
        backward(net, x, y)
        optimizer.step()


def unfrozen_without_holder() -> None:
    net = network()
    net[0].requires_grad_(False)
    optimizer = torch.optim.SGD([part for part in net.parameters() if part.requires_grad], lr=0.1)
    for place, (x, y) in enumerate(batches()):
        if place == 3:
            net[0].requires_grad_(True)
        optimizer.zero_grad()
        backward(net, x, y)
        optimizer.step()


def master_weights(*, back: bool) -> None:
    net = network()
    masters = [parameter.detach().clone() for parameter in net.parameters()]
    optimizer = torch.optim.SGD(masters, lr=0.1)
    for x, y in batches():
        net.zero_grad()
        backward(net, x, y)
        for master, parameter in zip(masters, net.parameters(), strict=True):
            master.grad = parameter.grad
        optimizer.step()
        if back:
            with torch.no_grad():
                for master, parameter in zip(masters, net.parameters(), strict=True):
                    parameter.copy_(master)


def only_the_head_is_held() -> None:
    net = network()
    optimizer = torch.optim.SGD(net[2].parameters(), lr=0.1)
    for x, y in batches():
        net.zero_grad()
        backward(net, x, y)
        optimizer.step()


def an_input_is_optimized() -> None:
    net = network().eval()
    picture = nn.Parameter(torch.randn(16, 6))
    optimizer = torch.optim.Adam([picture], lr=0.1)
    for _, y in batches():
        optimizer.zero_grad()
        backward(net, picture, y)
        optimizer.step()


def two_optimizers_take_turns() -> None:
    made, judge = nn.Linear(4, 6), network()
    first = torch.optim.Adam(made.parameters(), lr=0.01)
    second = torch.optim.Adam(judge.parameters(), lr=0.01)
    for place, (x, y) in enumerate(batches(12)):
        if place % 4 == 3:
            second.zero_grad()
            backward(judge, x, y)
            second.step()
            continue
        first.zero_grad()
        backward(judge, made(torch.randn(16, 4)), torch.zeros_like(y))
        first.step()


@pytest.mark.parametrize(
    ("training", "message", "line", "step"),
    [
        (head_replaced, "tr_06.replaced", "torch.optim", 0),
        (copied_in_the_loop, "tr_06.none_held", "torch.optim", 3),
        (unfrozen_without_holder, "tr_06.joined_later", "torch.optim", 3),
    ],
)
def test_gradients_that_no_optimizer_applies_are_named(
    training: Any, message: str, line: str, step: int, tmp_path: Path
) -> None:
    assert said(told(training, tmp_path / "run")) == [(message, line_of(training, line), step)]


def test_master_weights_that_are_not_copied_back_leave_the_network_as_it_is(tmp_path: Path) -> None:
    found = told(lambda: master_weights(back=False), tmp_path / "run")
    assert said(found) == [("tr_06.none_held", line_of(master_weights, "torch.optim"), 0)]
    assert not told(lambda: master_weights(back=True), tmp_path / "other")


@pytest.mark.parametrize(
    "training", [head_handed_over, only_the_head_is_held, an_input_is_optimized, two_optimizers_take_turns]
)
def test_what_is_meant_to_stay_or_held_elsewhere_is_no_breach(training: Any, tmp_path: Path) -> None:
    assert not told(training, tmp_path / "run")


def frozen_on_the_way(*, to_none: bool) -> None:
    net = network()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    for place, (x, y) in enumerate(batches()):
        if place == 3:
            net[0].requires_grad_(False)
        optimizer.zero_grad(set_to_none=to_none)
        backward(net, x, y)
        optimizer.step()


def test_what_is_frozen_is_not_moved_by_what_momentum_is_left(tmp_path: Path) -> None:
    found = said(told(lambda: frozen_on_the_way(to_none=False), tmp_path / "run"))
    assert found == [("cg_02.moves", line_of(frozen_on_the_way, "torch.optim"), 3)]
    assert not told(lambda: frozen_on_the_way(to_none=True), tmp_path / "other")


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(6, 6), nn.Linear(6, 6)
        self.last.weight = self.first.weight

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last(torch.relu(self.first(x)))


def replaced_in_a_tie(*, tied_again: bool) -> None:
    net = Tied()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for place, (x, y) in enumerate(batches()):
        if place == 3:
            net.first = nn.Linear(6, 6)
            optimizer.add_param_group({"params": net.first.parameters()})
            if tied_again:
                net.last.weight = net.first.weight
        optimizer.zero_grad()
        backward(net, x, y)
        optimizer.step()


def test_weights_that_come_apart_are_named_unless_they_are_tied_anew(tmp_path: Path) -> None:
    found = said(told(lambda: replaced_in_a_tie(tied_again=False), tmp_path / "run"))
    assert found == [("tr_15.untied", line_of(replaced_in_a_tie, "nn.Linear"), 3)]
    assert not told(lambda: replaced_in_a_tie(tied_again=True), tmp_path / "other")


# ---- what an update does


class OwnAdam(torch.optim.Optimizer):
    """An Adam by hand, whose counter may stand still."""

    def __init__(self, parameters: Any, lr: float, *, counts: bool) -> None:
        super().__init__(parameters, {"lr": lr, "betas": (0.9, 0.999), "eps": 1e-8})
        self.counts = counts

    @torch.no_grad()
    def step(self) -> None:  # type: ignore[override]
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for parameter in group["params"]:
                state = self.state[parameter]
                if not state:
                    state["t"], state["m"], state["v"] = 1, torch.zeros_like(parameter), torch.zeros_like(parameter)
                elif self.counts:
                    state["t"] += 1
                state["m"].mul_(beta1).add_(parameter.grad, alpha=1 - beta1)
                state["v"].mul_(beta2).addcmul_(parameter.grad, parameter.grad, value=1 - beta2)
                mean, square = state["m"] / (1 - beta1 ** state["t"]), state["v"] / (1 - beta2 ** state["t"])
                parameter.sub_(group["lr"] * mean / (square.sqrt() + group["eps"]))


def own_adam(*, counts: bool) -> None:
    net = network()
    optimizer = OwnAdam(net.parameters(), 0.01, counts=counts)
    for x, y in batches():
        optimizer.zero_grad()
        backward(net, x, y)
        optimizer.step()


def stepped_twice() -> None:
    net = network()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in batches():
        optimizer.zero_grad()
        backward(net, x, y)
        optimizer.step()
        optimizer.step()


def gradients_kept() -> None:
    net = network()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    kept = None
    for x, y in batches():
        optimizer.zero_grad()
        backward(net, x, y)
        kept = kept or [parameter.grad.clone() for parameter in net.parameters()]
        for parameter, gradient in zip(net.parameters(), kept, strict=True):
            parameter.grad = gradient.clone()
        optimizer.step()


def built_for_every_update() -> None:
    net = network()
    for x, y in batches():
        optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
        optimizer.zero_grad()
        backward(net, x, y)
        optimizer.step()


def drawn_anew() -> None:
    net = network()
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    for place, (x, y) in enumerate(batches()):
        if place == 3:
            for layer in (net[0], net[2]):
                layer.reset_parameters()
        optimizer.zero_grad()
        backward(net, x, y)
        optimizer.step()


def restarted() -> None:
    net = network()
    for _ in range(2):
        net[0].reset_parameters()
        net[2].reset_parameters()
        optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
        for x, y in batches(4):
            optimizer.zero_grad()
            backward(net, x, y)
            optimizer.step()


def usual(kind: Any, **settings: Any) -> None:
    net = network()
    optimizer = kind(net.parameters(), **settings)
    rates = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
    for x, y in batches():
        optimizer.zero_grad()
        backward(net, x, y)
        optimizer.step()
        rates.step()


def moved_between() -> None:
    net, best = network(), None
    optimizer = torch.optim.AdamW(net.parameters(), lr=0.01, weight_decay=0.1)
    for place, (x, y) in enumerate(batches()):
        if place == 2:
            best = copy.deepcopy(net.state_dict())
        if place == 4 and best is not None:
            net.load_state_dict(best)
            optimizer.state.clear()
        optimizer.zero_grad()
        backward(net, x, y)
        optimizer.step()


@pytest.mark.parametrize(
    ("training", "message", "line", "step"),
    [
        (stepped_twice, "tr_17.twice", "optimizer.step()\n        optimizer.step()", 0),
        (gradients_kept, "tr_17.stale", "optimizer.step()", 1),
        (built_for_every_update, "tr_17.built_anew", "torch.optim", 0),
        (drawn_anew, "tr_17.drawn_anew", "reset_parameters", 3),
    ],
)
def test_updates_that_are_not_the_optimizers_own_are_named(
    training: Any, message: str, line: str, step: int, tmp_path: Path
) -> None:
    found = said(told(training, tmp_path / "run"))
    at = line_of(training, line.splitlines()[0]) + line.count("\n")
    assert found == [(message, at, step)]


def test_a_counter_that_stands_still_is_told_from_one_that_counts(tmp_path: Path) -> None:
    found = said(told(lambda: own_adam(counts=False), tmp_path / "run"))
    assert found == [("tr_17.still_counter", line_of(own_adam, "optimizer.step()"), 1)]
    assert not told(lambda: own_adam(counts=True), tmp_path / "other")


@pytest.mark.parametrize("training", [restarted, moved_between])
def test_a_restart_and_a_rollback_are_no_breach(training: Any, tmp_path: Path) -> None:
    assert not told(training, tmp_path / "run")


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        (torch.optim.SGD, {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.01}),
        (torch.optim.SGD, {"lr": 0.1, "maximize": True}),
        (torch.optim.Adam, {"lr": 0.01, "amsgrad": True, "weight_decay": 0.1}),
        (torch.optim.AdamW, {"lr": 0.01, "weight_decay": 0.1}),
        (torch.optim.RMSprop, {"lr": 0.01, "momentum": 0.9, "centered": True}),
        (torch.optim.Adagrad, {"lr": 0.01, "initial_accumulator_value": 0.3}),
    ],
)
def test_the_usual_optimizers_do_what_their_formulas_give(kind: Any, settings: dict[str, Any], tmp_path: Path) -> None:
    assert not told(lambda: usual(kind, **settings), tmp_path / "run")


# ---- clipping


def clipped(before: Any = None, between: Any = None, after: Any = None) -> None:
    net = network()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in batches():
        optimizer.zero_grad()
        if before is not None:
            before(net)
        backward(net, x * 5, y)
        if between is not None:
            between(net)
        optimizer.step()
        if after is not None:
            after(net)


def clip(net: nn.Module) -> None:
    nn.utils.clip_grad_norm_(net.parameters(), 0.1)


def clip_used_generator(net: nn.Module) -> None:
    parameters = net.parameters()
    sum(parameter.numel() for parameter in parameters)
    nn.utils.clip_grad_norm_(parameters, 0.1)


def clip_copies(net: nn.Module) -> None:
    copies = []
    for parameter in net.parameters():
        copies.append(parameter.detach().clone().requires_grad_(True))
        copies[-1].grad = parameter.grad.clone()
    nn.utils.clip_grad_norm_(copies, 0.1)


def clip_by_layer(net: nn.Sequential) -> None:
    for layer in (net[0], net[2]):
        nn.utils.clip_grad_norm_(layer.parameters(), 0.1)


def measure(net: nn.Module) -> None:
    nn.utils.clip_grad_norm_(net.parameters(), float("inf"))


@pytest.mark.parametrize(
    ("where", "how", "message", "step"),
    [
        ("between", clip_used_generator, "tr_18.nothing", 0),
        ("between", clip_copies, "tr_18.over", 0),
        ("before", clip, "tr_18.nothing", 0),
        ("after", clip, "tr_18.after_update", 0),
    ],
)
def test_a_clip_that_does_not_hold_is_named(where: str, how: Any, message: str, step: int, tmp_path: Path) -> None:
    found = said(told(lambda: clipped(**{where: how}), tmp_path / "run"))
    assert (message, line_of(how, "clip_grad_norm_"), step) in found
    assert {line for _, line, _ in found} == {line_of(how, "clip_grad_norm_")}


@pytest.mark.parametrize("how", [clip, clip_by_layer, measure])
def test_a_clip_in_its_place_is_no_breach(how: Any, tmp_path: Path) -> None:
    assert not told(lambda: clipped(between=how), tmp_path / "run")
