"""Every iteration of a training is one step, however it updates, and recorder and watcher count alike."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from launching import IN_ORDER, python, script, trueline
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import trueline as library
from trueline.formats.run_folder.reader import open_run
from trueline.model.events import LossEvent
from trueline.report.run.overview import overview_of

X, Y = torch.linspace(-2, 2, 24).reshape(12, 2), torch.linspace(0, 1, 12).reshape(12, 1)


def _net() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))


def _batches(size: int = 2) -> DataLoader:
    return DataLoader(TensorDataset(X, Y), size)


def by_data() -> list[float]:
    """What classic tutorials write."""
    net, seen = _net(), []
    for _ in range(6):
        loss = F.mse_loss(net(X), Y)
        net.zero_grad()
        loss.backward()
        for one in net.parameters():
            one.data.add_(-0.1 * one.grad)
        seen.append(loss.item())
    return seen


def by_data_zeroed_in_place() -> list[float]:
    net, seen = _net(), []
    for _ in range(6):
        loss = F.mse_loss(net(X), Y)
        loss.backward()
        for one in net.parameters():
            one.data.sub_(one.grad.data * 0.1)
            one.grad.data.zero_()
        seen.append(loss.item())
    return seen


def without_module() -> list[float]:
    torch.manual_seed(0)
    a, b, seen = torch.randn((), requires_grad=True), torch.randn((2, 1), requires_grad=True), []
    for _ in range(6):
        loss = (X @ b + a - Y).pow(2).mean()
        loss.backward()
        with torch.no_grad():
            a -= 0.1 * a.grad
            b -= 0.1 * b.grad
            a.grad = None
            b.grad.zero_()
        seen.append(loss.item())
    return seen


def without_gradient() -> list[float]:
    """Where every update is with zero."""
    a, seen = torch.zeros(3, requires_grad=True), []
    for _ in range(6):
        loss = (a * 0).sum()
        loss.backward()
        a.data.sub_(a.grad.data)
        a.grad.data.zero_()
        seen.append(loss.item())
    return seen


def functional() -> list[float]:
    w, seen = torch.ones(2, 1, requires_grad=True), []
    kept = []
    for _ in range(6):
        loss = F.mse_loss(X @ w, Y)
        (gradient,) = torch.autograd.grad(loss, w)
        kept.append(w)
        w = (w - 0.1 * gradient).detach().requires_grad_()
        seen.append(loss.item())
    return seen


def transformed() -> list[float]:
    net, seen = _net(), []
    parameters = {name: one.detach() for name, one in net.named_parameters()}

    def loss_of(parameters: dict[str, Any]) -> Any:
        return F.mse_loss(torch.func.functional_call(net, parameters, (X,)), Y)

    for _ in range(6):
        gradients, loss = torch.func.grad_and_value(loss_of)(parameters)
        parameters = {name: one - 0.1 * gradients[name] for name, one in parameters.items()}
        seen.append(loss.item())
    return seen


def _ensemble(detached: bool) -> list[float]:
    """Several networks at once: the loss of a step is the mean of theirs."""
    nets, seen = [_net(), _net()], []
    parameters, _ = torch.func.stack_module_state(nets)
    if detached:
        parameters = {name: one.detach() for name, one in parameters.items()}

    def step(parameters: dict[str, Any], x: Any, y: Any) -> Any:
        def loss_of(parameters: dict[str, Any]) -> Any:
            return F.mse_loss(torch.func.functional_call(nets[0], parameters, (x,)), y)

        gradients, loss = torch.func.grad_and_value(loss_of)(parameters)
        return loss, {name: one - 0.1 * gradients[name] for name, one in parameters.items()}

    for _ in range(6):
        losses, parameters = torch.func.vmap(step, in_dims=(0, None, None))(parameters, X, Y)
        seen.append(losses.double().mean().item())
    return seen


def ensemble() -> list[float]:
    return _ensemble(detached=True)


def ensemble_of_graphs() -> list[float]:
    """As the framework stacks them: each update goes on in the graph of the one before."""
    return _ensemble(detached=False)


def gradients_of_samples() -> list[float]:
    net, seen = _net(), []
    parameters = {name: one.detach() for name, one in net.named_parameters()}

    def loss_of(parameters: dict[str, Any], x: Any, y: Any) -> Any:
        return F.mse_loss(torch.func.functional_call(net, parameters, (x,)), y)

    for _ in range(6):
        gradients, losses = torch.func.vmap(torch.func.grad_and_value(loss_of), in_dims=(None, 0, 0))(parameters, X, Y)
        parameters = {name: one - 0.1 * gradients[name].mean(0) for name, one in parameters.items()}
        seen.append(losses.double().mean().item())
    return seen


def functions_one_after_the_other() -> list[float]:
    """One network, several at once and one again: each is a training of its own, and none waits for the others."""
    nets, seen = [_net(), _net()], []
    alone = {name: one.detach() for name, one in nets[0].named_parameters()}
    stacked, _ = torch.func.stack_module_state(nets)

    def step(state: Any) -> Any:
        def loss_of(parameters: dict[str, Any]) -> Any:
            return F.mse_loss(torch.func.functional_call(nets[0], parameters, (X,)), Y)

        parameters, momentum = state
        gradients, loss = torch.func.grad_and_value(loss_of)(parameters)
        momentum = {name: 0.9 * one + gradients[name] for name, one in momentum.items()}
        return loss, ({name: one - 0.1 * momentum[name] for name, one in parameters.items()}, momentum)

    for parameters, train in ((alone, step), (stacked, torch.func.vmap(step)), (alone, step)):
        state = parameters, {name: torch.zeros_like(one) for name, one in parameters.items()}
        for _ in range(2):
            loss, state = train(state)
            seen.append(loss.double().mean().item())
    return seen


def _differentiated(gradient_of: Callable[[Any, Any], Any], many: bool) -> list[float]:
    torch.manual_seed(0)
    weight, seen = torch.randn((2, 2, 1) if many else (2, 1)), []

    def loss_of(weight: Any) -> Any:
        return F.mse_loss(X @ weight, Y)

    def step(weight: Any) -> Any:
        return weight - 0.1 * gradient_of(loss_of, weight)

    for _ in range(6):
        seen.append((torch.func.vmap(loss_of)(weight).double().mean() if many else loss_of(weight)).item())
        weight = (torch.func.vmap(step) if many else step)(weight)
    return seen


def _by_vjp(loss_of: Any, weight: Any) -> Any:
    loss, pull = torch.func.vjp(loss_of, weight)
    return pull(torch.ones_like(loss))[0]


def _by_jvp(loss_of: Any, weight: Any) -> Any:
    along = torch.ones(2, 1)
    return torch.func.jvp(loss_of, (weight,), (along,))[1] * along


def pulled_back() -> list[float]:
    return _differentiated(_by_vjp, many=False)


def pulled_back_for_many() -> list[float]:
    return _differentiated(_by_vjp, many=True)


def pushed_forward_for_many() -> list[float]:
    return _differentiated(_by_jvp, many=True)


def jacobian() -> list[float]:
    return _differentiated(lambda loss_of, weight: torch.func.jacrev(loss_of)(weight), many=False)


def jacobian_forward() -> list[float]:
    with torch.no_grad():
        return _differentiated(lambda loss_of, weight: torch.func.jacfwd(loss_of)(weight), many=False)


def jacobian_in_the_loss() -> list[float]:
    """Derivatives of the network by its input, for the loss and without gradients to look at them, are no steps."""
    net, seen = _net(), []
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    for _ in range(6):
        slopes = [torch.func.jacrev(net)(X[:2]), torch.func.jvp(lambda x: net(x), (X,), (X,))[1]]
        loss = F.mse_loss(net(X), Y) + sum(one.pow(2).mean() for one in slopes)
        optimizer.zero_grad()
        loss.backward()
        with torch.no_grad():
            torch.func.vjp(lambda x: net(x), X)[1](Y)
        optimizer.step()
        seen.append(loss.item())
    return seen


def gradients_put_in_place() -> list[float]:
    net, seen = _net(), []
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for _ in range(6):
        optimizer.zero_grad()
        loss = F.mse_loss(net(X), Y)
        for one, gradient in zip(net.parameters(), torch.autograd.grad(loss, list(net.parameters())), strict=True):
            one.grad = gradient
        optimizer.step()
        seen.append(loss.item())
    return seen


def slope_in_the_loss() -> list[float]:
    """The derivative of the network by its input, at many points, is a part of the loss and no step."""
    net, seen = _net(), []
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    for _ in range(6):
        slope = torch.func.vmap(torch.func.grad(lambda x: net(x).sum()))(X)
        loss = F.mse_loss(net(X), Y) + slope.pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        seen.append(loss.item())
    return seen


def accumulated_by_hand() -> list[float]:
    """Two backward passes for an update: two losses in each step."""
    net, seen = _net(), []
    for _ in range(6):
        for rows in (slice(0, 6), slice(6, 12)):
            loss = F.mse_loss(net(X[rows]), Y[rows]) / 2
            loss.backward()
            seen.append(loss.item())
        with torch.no_grad():
            for one in net.parameters():
                one -= 0.1 * one.grad
                one.grad = None
    return seen


def twice_through_one_graph() -> list[float]:
    net, seen = _net(), []
    for _ in range(6):
        output = net(X)
        for loss in (F.mse_loss(output, Y), output.pow(2).mean()):
            loss.backward(retain_graph=True)
            seen.append(loss.item())
        with torch.no_grad():
            for one in net.parameters():
                one -= 0.1 * one.grad
        net.zero_grad()
    return seen


def by_hand_with_loader() -> list[float]:
    net, seen = _net(), []
    for x, y in _batches():
        loss = F.mse_loss(net(x), y)
        loss.backward()
        with torch.no_grad():
            for one in net.parameters():
                one -= 0.1 * one.grad
                one.grad = None
            net(X)
        seen.append(loss.item())
    return seen


def adversarial() -> list[float]:
    """Two networks against each other: two optimizers, three losses, one batch."""
    torch.manual_seed(0)
    maker, judge, seen = nn.Linear(3, 2), nn.Linear(2, 1), []
    of_maker, of_judge = torch.optim.Adam(maker.parameters()), torch.optim.Adam(judge.parameters())
    for x, _ in _batches():
        of_judge.zero_grad()
        made = maker(torch.randn(2, 3))
        for sample, real in ((x, 1.0), (made.detach(), 0.0)):
            loss = F.binary_cross_entropy_with_logits(judge(sample), torch.full((2, 1), real))
            loss.backward()
            seen.append(loss.item())
        of_judge.step()
        of_maker.zero_grad()
        loss = F.binary_cross_entropy_with_logits(judge(made), torch.ones(2, 1))
        loss.backward()
        of_maker.step()
        seen.append(loss.item())
    return seen


def _against(judge_first: bool, after: bool, of_networks: bool) -> list[float]:
    """Two networks against each other, without a loader: the update of each is a part of one iteration."""
    torch.manual_seed(0)
    maker, judge, seen = nn.Linear(2, 2), nn.Linear(2, 1), []
    of_maker, of_judge = torch.optim.Adam(maker.parameters()), torch.optim.Adam(judge.parameters())
    clear_judge, clear_maker = (judge, maker) if of_networks else (of_judge, of_maker)
    for _ in range(6):
        made = None if judge_first else maker(X)
        if not after:
            clear_judge.zero_grad()
        real = judge(X)
        made = maker(X) if made is None else made
        loss = F.mse_loss(real, Y) + judge(made.detach()).pow(2).mean()
        loss.backward()
        of_judge.step()
        (clear_judge if after else clear_maker).zero_grad()
        seen.append(loss.item())
        loss = F.mse_loss(judge(maker(X) if judge_first else made), Y)
        loss.backward()
        of_maker.step()
        if after:
            clear_maker.zero_grad()
        seen.append(loss.item())
    return seen


def adversarial_without_loader() -> list[float]:
    return _against(judge_first=True, after=False, of_networks=False)


def adversarial_cleared_afterwards() -> list[float]:
    return _against(judge_first=True, after=True, of_networks=False)


def adversarial_cleared_by_network() -> list[float]:
    return _against(judge_first=False, after=False, of_networks=True)


def _two_of_three(period: int, explores: bool, after: bool) -> list[float]:
    """A critic in every iteration, an actor in every second, and a target that nobody trains."""
    torch.manual_seed(0)
    actor, critic, target, seen = nn.Linear(2, 1), nn.Linear(3, 1), nn.Linear(3, 1), []
    of_actor, of_critic = torch.optim.Adam(actor.parameters()), torch.optim.Adam(critic.parameters())
    for number in range(6):
        with torch.no_grad():
            if explores:
                actor(X[:1])
            wanted = target(torch.cat([X, Y], 1))
        loss = F.mse_loss(critic(torch.cat([X, Y], 1)), wanted)
        if not after:
            of_critic.zero_grad()
        loss.backward()
        of_critic.step()
        if after:
            of_critic.zero_grad()
        seen.append(loss.item())
        if number % period == period - 1:
            loss = -critic(torch.cat([X, actor(X)], 1)).mean()
            of_actor.zero_grad()
            loss.backward()
            of_actor.step()
            seen.append(loss.item())
    return seen


def actor_and_critic() -> list[float]:
    return _two_of_three(1, explores=True, after=False)


def actor_delayed() -> list[float]:
    return _two_of_three(2, explores=True, after=False)


def actor_delayed_cleared_afterwards() -> list[float]:
    return _two_of_three(2, explores=True, after=True)


def actor_first_called_late() -> list[float]:
    return _two_of_three(2, explores=False, after=False)


def entropy_tuned() -> list[float]:
    """A third optimizer holds one number, and what it needs is computed without gradients after the second."""
    torch.manual_seed(0)
    actor, critic, seen = nn.Linear(2, 1), nn.Linear(3, 1), []
    alpha = torch.zeros(1, requires_grad=True)
    of_actor, of_critic = torch.optim.Adam(actor.parameters()), torch.optim.Adam(critic.parameters())
    of_alpha = torch.optim.Adam([alpha])
    for number in range(6):
        with torch.no_grad():
            wanted = actor(X)
        losses = [(of_critic, lambda wanted=wanted: F.mse_loss(critic(torch.cat([X, Y], 1)), wanted))]
        if number % 2 == 0:
            losses.append((of_actor, lambda: -critic(torch.cat([X, actor(X)], 1)).mean()))
            losses.append((of_alpha, lambda: (alpha.exp() * _without_gradient(actor)).mean()))
        for optimizer, loss_of in losses:
            loss = loss_of()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            seen.append(loss.item())
    return seen


def _without_gradient(net: nn.Module) -> torch.Tensor:
    with torch.no_grad():
        return net(X)


def _layerwise(layers: list[nn.Linear], optimizers: list[Any], order: list[int]) -> list[float]:
    """Layers that are trained each by itself, by methods that call ``forward`` past all hooks."""
    seen = []
    for place in order:
        loss = layers[place].forward(X).pow(2).mean()
        optimizers[place].zero_grad()
        loss.backward()
        optimizers[place].step()
        seen.append(loss.item())
    return seen


def layers_in_turn() -> list[float]:
    torch.manual_seed(0)
    layers = [nn.Linear(2, 2), nn.Linear(2, 2)]
    return _layerwise(layers, [torch.optim.Adam(one.parameters()) for one in layers], [0, 1] * 6)


def layers_one_after_the_other() -> list[float]:
    torch.manual_seed(0)
    layers = [nn.Linear(2, 2), nn.Linear(2, 2)]
    return _layerwise(layers, [torch.optim.Adam(one.parameters()) for one in layers], [0] * 3 + [1] * 3)


def networks_one_after_the_other() -> list[float]:
    torch.manual_seed(0)
    seen = []
    for net in [nn.Linear(2, 1) for _ in range(3)]:
        optimizer = torch.optim.SGD(net.parameters(), 0.1)
        for _ in range(2):
            loss = F.mse_loss(net(X), Y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            seen.append(loss.item())
    return seen


def cleared_between_two_updates() -> list[float]:
    torch.manual_seed(0)
    nets = [nn.Linear(2, 1), nn.Linear(2, 1)]
    optimizers, seen = [torch.optim.SGD(one.parameters(), 0.1) for one in nets], []
    for _ in range(6):
        loss = F.mse_loss(nets[0](X) + nets[1](X), Y)
        loss.backward()
        for one in optimizers:
            one.step()
            one.zero_grad()
        seen.append(loss.item())
    return seen


def optimizer_alone() -> list[float]:
    """Neither a network nor cleared gradients: only that the optimizer updates again shows the next iteration."""
    w, seen = torch.ones(2, 1, requires_grad=True), []
    optimizer = torch.optim.SGD([w], 0.1)
    for _ in range(6):
        loss = F.mse_loss(X @ w, Y)
        loss.backward()
        optimizer.step()
        w.grad = None
        seen.append(loss.item())
    return seen


def minibatches_of_a_rollout() -> list[float]:
    """Each update with the same optimizer is a step of its own."""
    net, seen = _net(), []
    optimizer = torch.optim.Adam(net.parameters(), 0.1)
    for _ in range(2):
        with torch.no_grad():
            wanted = torch.stack([net(X) for _ in range(4)]).mean(0)
        for rows in (slice(0, 4), slice(4, 8), slice(8, 12)):
            loss = F.mse_loss(net(X[rows]), wanted[rows] + 1)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            seen.append(loss.item())
    return seen


def accumulated_without_loader() -> list[float]:
    net, seen = _net(), []
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for _ in range(6):
        for rows in (slice(0, 6), slice(6, 12)):
            loss = F.mse_loss(net(X[rows]), Y[rows]) / 2
            loss.backward()
            seen.append(loss.item())
        optimizer.step()
        optimizer.zero_grad()
    return seen


def with_closure() -> list[float]:
    net, seen = _net(), []
    optimizer = torch.optim.LBFGS(net.parameters(), 0.1, max_iter=3)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = F.mse_loss(net(X), Y)
        loss.backward()
        seen.append(loss.item())
        return loss

    for _ in range(6):
        optimizer.step(closure)
    return seen


def accumulated() -> list[float]:
    """Every batch is a step, whether the optimizer steps in it or not."""
    net, seen = _net(), []
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for number, (x, y) in enumerate(_batches(), 1):
        loss = F.mse_loss(net(x), y)
        loss.backward()
        seen.append(loss.item())
        if number % 3 == 0:
            optimizer.step()
            optimizer.zero_grad()
    return seen


def rollouts() -> list[float]:
    """An episode of calls, then one loss of them all."""
    net, seen = _net(), []
    optimizer = torch.optim.Adam(net.parameters(), 0.1)
    for _ in range(6):
        state, chances = torch.ones(2), []
        for _ in range(4):
            chances.append(net(state).sum())
            state = state * 0.9
        loss = -torch.stack(chances).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        seen.append(loss.item())
    return seen


def rollouts_by_hand() -> list[float]:
    net, seen = _net(), []
    for _ in range(6):
        state, chances = torch.ones(2), []
        for _ in range(4):
            chances.append(net(state).sum())
            state = state * 0.9
        loss = -torch.stack(chances).mean()
        net.zero_grad()
        loss.backward()
        with torch.no_grad():
            for one in net.parameters():
                one -= 0.1 * one.grad
        seen.append(loss.item())
    return seen


def several_loaders_and_evaluation() -> list[float]:
    net, seen = _net(), []
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for (x, y), (other, _) in zip(_batches(), _batches(), strict=True):
        net.train()
        loss = F.mse_loss(net(x) + net(other), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        seen.append(loss.item())
        net.eval()
        with torch.inference_mode():
            for held, _ in _batches(6):
                net(held)
    return seen


TRAININGS: tuple[Callable[[], list[float]], ...] = (
    *(by_data, by_data_zeroed_in_place, without_module, without_gradient, functional, transformed),
    *(ensemble, ensemble_of_graphs, gradients_of_samples, slope_in_the_loss, functions_one_after_the_other),
    *(pulled_back, pulled_back_for_many, pushed_forward_for_many, jacobian, jacobian_forward),
    *(jacobian_in_the_loss, gradients_put_in_place),
    *(accumulated_by_hand, twice_through_one_graph, by_hand_with_loader, adversarial, with_closure, accumulated),
    *(rollouts, rollouts_by_hand, several_loaders_and_evaluation, adversarial_without_loader),
    *(adversarial_cleared_afterwards, adversarial_cleared_by_network, actor_and_critic, actor_delayed),
    *(actor_delayed_cleared_afterwards, actor_first_called_late, entropy_tuned, layers_in_turn),
    *(layers_one_after_the_other, networks_one_after_the_other, cleared_between_two_updates, optimizer_alone),
    *(minibatches_of_a_rollout, accumulated_without_loader),
)


@pytest.mark.parametrize("train", TRAININGS, ids=lambda one: str(one.__name__))
def test_recorder_and_watcher_count_every_iteration_once(train: Callable[[], list[float]], tmp_path: Path) -> None:
    plain = train()
    with library.record(tmp_path / "run") as recording:
        recorded = train()
    with library.watch() as watched:
        seen = train()
    run = open_run(tmp_path / "run")
    losses = [event.value for event in run.rank(0).events(LossEvent, phase="train")]
    assert (recorded, seen, losses) == (plain, plain, pytest.approx(plain))
    assert [one.conclusion for one in watched.findings] == ["none"]
    assert (recording.steps, run.rank(0).finished, overview_of(run, 0).to_json()["steps"], watched.steps) == (6,) * 4


MINDSPORE = """
import sys
import mindspore as ms, numpy as np
from mindspore import nn, ops
draw = np.random.RandomState(0)
ms.set_seed(0)
x, y = ms.Tensor(draw.randn(12, 2), ms.float32), ms.Tensor(draw.randn(12, 1), ms.float32)
net = nn.Dense(2, 1)
weights = net.trainable_params()
held = ms.Parameter(ms.Tensor(draw.randn(2, 1), ms.float32), name="held")

def of_net():
    return ((net(x) - y) ** 2).mean()

def of_held():
    return ((ops.matmul(x, held) - y) ** 2).mean()

def of_value(w):
    return ((ops.matmul(x, w) - y) ** 2).mean()

how = sys.argv[1]
value = ms.Tensor(draw.randn(2, 1), ms.float32)
for _ in range(6):
    if how == "assign":
        loss, gradients = ms.value_and_grad(of_net, None, weights)()
        for one, gradient in zip(weights, gradients):
            ops.assign(one, one - 0.1 * gradient)
    elif how == "set_data":
        loss, gradients = ms.value_and_grad(of_held, None, [held])()
        held.set_data(held - 0.1 * gradients[0])
    elif how == "function":
        loss, gradient = ms.value_and_grad(of_value)(value)
        value = value - 0.1 * gradient
    else:
        parts = [ms.value_and_grad(of_net, None, weights)() for _ in range(2)]
        loss = parts[0][0]
        for one, first, second in zip(weights, parts[0][1], parts[1][1]):
            ops.assign_sub(one, 0.05 * (first + second))
    print(float(loss.asnumpy()))
"""


@pytest.mark.parametrize("how", ["assign", "set_data", "function", "accumulated"])
def test_in_mindspore_too(how: str, tmp_path: Path) -> None:
    name = script(tmp_path, MINDSPORE)
    plain = python(name, how, cwd=tmp_path, env=IN_ORDER, forked="mindspore").stdout
    run = trueline("run", "-o", "run", name, how, cwd=tmp_path, env=IN_ORDER, forked="mindspore")
    watch = trueline("watch", "--json", "answer.json", name, how, cwd=tmp_path, env=IN_ORDER, forked="mindspore")
    answer = json.loads((tmp_path / "answer.json").read_text())
    assert (run.stdout, watch.stdout, watch.returncode) == (plain, plain, 0), watch.stderr
    rank = open_run(tmp_path / "run").rank(0)
    assert (rank.finished, answer["steps"], "6 training steps" in run.stderr) == (6, 6, True)
    losses = [event.value for event in rank.events(LossEvent)]
    assert losses[:: len(losses) // 6] == pytest.approx([float(one) for one in plain.split()], rel=1e-5)


SEVERAL = """
import sys
import mindspore as ms, numpy as np
from mindspore import nn, ops
draw = np.random.RandomState(0)
ms.set_seed(0)
x, y = ms.Tensor(draw.randn(12, 2), ms.float32), ms.Tensor(draw.randn(12, 1), ms.float32)

def step(optimizer, loss_of):
    loss, gradients = ms.value_and_grad(loss_of, None, optimizer.parameters)()
    optimizer(gradients)
    print(float(loss.asnumpy()))

def one_after_the_other():
    for net in [nn.Dense(2, 1).set_train() for _ in range(3)]:
        optimizer = nn.SGD(net.trainable_params(), 0.1)
        for _ in range(2):
            step(optimizer, lambda: ((net(x) - y) ** 2).mean())

def actor_and_critic():
    actor, critic = nn.Dense(2, 1).set_train(), nn.Dense(3, 1).set_train()
    of_actor, of_critic = nn.SGD(actor.trainable_params(), 0.1), nn.SGD(critic.trainable_params(), 0.1)
    for number in range(6):
        step(of_critic, lambda: ((critic(ops.cat([x, y], 1)) - 1) ** 2).mean())
        if number % 2 == 0:
            step(of_actor, lambda: -critic(ops.cat([x, actor(x)], 1)).mean())

globals()[sys.argv[1]]()
"""


@pytest.mark.parametrize("how", ["one_after_the_other", "actor_and_critic"])
def test_several_networks_without_a_loader_in_mindspore(how: str, tmp_path: Path) -> None:
    name = script(tmp_path, SEVERAL)
    run = trueline("run", "-o", "run", name, how, cwd=tmp_path, env=IN_ORDER, forked="mindspore")
    watch = trueline("watch", "--json", "answer.json", name, how, cwd=tmp_path, env=IN_ORDER, forked="mindspore")
    answer = json.loads((tmp_path / "answer.json").read_text())
    rank = open_run(tmp_path / "run").rank(0)
    assert (run.returncode, watch.returncode, run.stdout) == (0, 0, watch.stdout), run.stderr
    assert (rank.finished, answer["steps"]) == (6, 6)
    losses = [event.value for event in rank.events(LossEvent)]
    assert losses == pytest.approx([float(one) for one in run.stdout.split()], rel=1e-5)


WRONG = """
import sys, torch
at, how = int(sys.argv[1]), sys.argv[2]
torch.manual_seed(0)
x = torch.linspace(-1, 1, 8).reshape(8, 1)
net = torch.nn.Linear(1, 1)
a = torch.ones(1, requires_grad=True)
held = list(net.parameters()) if how == "module" else [a]
for step in range(6):
    loss = (net(x) if how == "module" else x * a).pow(2).mean()
    if step == at:
        loss = loss + (-1 - loss).log()
    loss.backward()
    for one in held:
        one.data.sub_(0.1 * one.grad)
        one.grad = None
"""


@pytest.mark.parametrize(("at", "how"), [(0, "plain"), (3, "plain"), (3, "module")])
def test_a_loss_that_goes_wrong_in_such_a_loop_is_found_where_it_began(at: int, how: str, tmp_path: Path) -> None:
    name = script(tmp_path, WRONG)
    ended = trueline("watch", "--json", "answer.json", name, str(at), how, cwd=tmp_path, forked="torch")
    answer = json.loads((tmp_path / "answer.json").read_text())
    assert ended.returncode == 1, ended.stderr
    first = answer["first"]
    assert (first["step"], first["phase"], first["op"], first["cause"]) == (at, "forward", "log", "log_of_negative")
    assert first["line"] == WRONG.splitlines().index("        loss = loss + (-1 - loss).log()") + 1


TRANSFORMED = """
import sys, torch
from torch.func import grad, jacfwd, jacrev, jvp, vjp, vmap
kind, what, at = sys.argv[1], sys.argv[2], int(sys.argv[3])
torch.manual_seed(0)
x = torch.randn(6, 3)

def loss_of(w):
    loss = (x @ w).pow(2).mean()
    if number == at:
        loss = loss + ((-1 - loss).log() if what == "loss" else (w.sum() * 0).sqrt())
    return loss

def gradient_of(w):
    if kind == "vjp":
        loss, pull = vjp(loss_of, w)
        return pull(torch.ones_like(loss))[0]
    if kind == "jvp":
        return jvp(loss_of, (w,), (torch.ones(3),))[1] * torch.ones(3)
    return {"grad": grad, "jacrev": jacrev, "jacfwd": jacfwd}[kind](loss_of)(w)

w = torch.randn(2, 3)
for number in range(6):
    w = vmap(lambda one: one - 0.01 * gradient_of(one))(w)
"""


@pytest.mark.parametrize("kind", ["grad", "vjp", "jvp", "jacrev", "jacfwd"])
@pytest.mark.parametrize(("what", "at"), [("loss", 3), ("gradient", 5)])
def test_what_goes_wrong_in_a_function_transform_is_found_up_to_the_last_pass(
    kind: str, what: str, at: int, tmp_path: Path
) -> None:
    name = script(tmp_path, TRANSFORMED)
    ended = trueline("watch", "--json", "answer.json", name, kind, what, str(at), cwd=tmp_path, forked="torch")
    answer = json.loads((tmp_path / "answer.json").read_text())
    assert (ended.returncode, answer["first"]["step"]) == (1, at), ended.stderr


AFTERWARDS = """
import torch
net, weight = torch.nn.Linear(2, 1), torch.ones(2, requires_grad=True)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for _ in range(3):
    optimizer.zero_grad()
    net(torch.ones(3, 2)).pow(2).mean().backward()
    optimizer.step()
for number in range(6):
    loss = (torch.ones(3, 2) @ weight).pow(2).mean()
    if number == 3:
        loss = loss * float("nan")
    gradient, = torch.autograd.grad(loss, [weight])
    with torch.no_grad():
        weight -= 0.1 * gradient
"""


def test_gradients_asked_for_as_values_after_an_optimizer_are_watched_too(tmp_path: Path) -> None:
    ended = trueline("watch", script(tmp_path, AFTERWARDS), cwd=tmp_path, forked="torch")
    assert ended.returncode == 1, ended.stderr


def test_in_mindspore_it_is_found_too(tmp_path: Path) -> None:
    spoiled = MINDSPORE.replace("    if how ==", "    x = x * (1e30 if _ == 3 else 1)\n    if how ==", 1)
    name = script(tmp_path, spoiled)
    answer = tmp_path / "answer.json"
    ended = trueline("watch", "--json", str(answer), name, "set_data", cwd=tmp_path, env=IN_ORDER, forked="mindspore")
    found = json.loads(answer.read_text())
    assert (ended.returncode, found["first"]["step"], found["first"]["phase"]) == (1, 3, "forward"), ended.stderr
