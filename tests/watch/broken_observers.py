"""A training watched again and again, each time with another part of the watcher broken: what is said of each.

Prints one JSON object: the part's name, whether it was reached, what was concluded, and whether the training went on.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import numpy as np

import trueline
from trueline.record.call_observer import CallObserver
from trueline.record.data_observer import DataObserver
from trueline.record.observers import EVENTS
from trueline.record.update_observer import UpdateObserver
from trueline.watch.points_observer import PointsObserver
from trueline.watch.watcher import Watcher, _Ahead

RECORDING = (DataObserver, CallObserver, UpdateObserver)
POINTS = ["WO", "GE", "WCL:1e9", "TO", "AR:tanh=0.99"]


def torch_training() -> list[float]:
    import torch
    from torch import nn
    from torch.utils.data import DataLoader, TensorDataset

    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
    optimizer = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0)
    data = TensorDataset(torch.randn(16, 4), torch.randint(0, 2, (16,)))
    seen = []
    weight = torch.ones(2, requires_grad=True)
    for _ in range(2):
        loss = weight.pow(2).sum()
        weight = (weight - 0.1 * torch.autograd.grad(loss, weight)[0]).detach().requires_grad_()
        seen.append(loss.item())
    for _ in range(2):
        net.train()
        for x, y in DataLoader(data, 4):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(net(x), y)
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
            seen.append(loss.item())
        schedule.step()
        net.eval()
        with torch.inference_mode():
            seen += [nn.functional.cross_entropy(net(x), y).item() for x, y in DataLoader(data, 8)]
    return seen


def mindspore_training() -> list[float]:
    import mindspore as ms
    from mindspore import dataset, nn, ops

    ms.set_seed(0)
    draw = np.random.RandomState(0)
    net = nn.SequentialCell(nn.Dense(4, 8), nn.Tanh(), nn.Dense(8, 2))
    for one in net.trainable_params():
        one.set_data(ms.Tensor(draw.randn(*one.shape).astype(np.float32)))
    optimizer = nn.SGD(net.trainable_params(), 0.1)
    criterion = nn.CrossEntropyLoss()
    columns = {"x": draw.randn(16, 4).astype(np.float32), "y": draw.randint(0, 2, 16).astype(np.int32)}
    scaler = ms.amp.StaticLossScaler(2.0)
    step = ms.value_and_grad(lambda x, y: scaler.scale(criterion(net(x), y)), None, optimizer.parameters)
    seen = []
    for _ in range(2):
        net.set_train()
        for x, y in dataset.NumpySlicesDataset(columns, shuffle=False).batch(4).create_tuple_iterator(num_epochs=1):
            loss, gradients = step(x, y)
            optimizer(ops.clip_by_global_norm(scaler.unscale(gradients), 1.0))
            seen.append(float(loss.asnumpy()))
        net.set_train(False)
        seen += [float(criterion(net(ms.Tensor(columns["x"])), ms.Tensor(columns["y"])).asnumpy())]
    return seen


def parts() -> Iterator[tuple[type, str]]:
    """Every event that each of the observers hears, and what is guarded besides."""
    for kind in (*RECORDING, PointsObserver, Watcher, _Ahead):
        for name in vars(kind):
            if name in EVENTS or name in ("_hand_again", "_look_last"):
                yield kind, name


def result_of(train: Callable[[], list[float]], kind: type, name: str, plain: list[float]) -> dict[str, Any]:
    """With one part broken: how it is said to have ended."""
    reached = []

    def fail(_self: Any, *_args: Any, **_kwargs: Any) -> None:
        reached.append(name)
        raise RuntimeError("broken")

    with warnings.catch_warnings(), mock.patch.object(kind, name, fail):
        warnings.simplefilter("ignore")
        with trueline.watch(on=POINTS) as watched:
            seen = train()
    concluded = [str(one.conclusion) for one in watched.findings]
    # MindSpore's first calls of a kernel differ in the last bit.
    same = len(seen) == len(plain) and np.allclose(seen, plain, rtol=1e-5)
    return {"reached": bool(reached), "concluded": concluded, "went_on": same}


if __name__ == "__main__":
    training = {"torch": torch_training, "mindspore": mindspore_training}[sys.argv[1]]
    losses = training()
    # What is the same for all frameworks need not be broken in each.
    chosen = [(kind, name) for kind, name in parts() if kind in RECORDING or sys.argv[1] == "torch"]
    found = {f"{kind.__name__}.{name}": result_of(training, kind, name, losses) for kind, name in chosen}
    print(json.dumps(found))
