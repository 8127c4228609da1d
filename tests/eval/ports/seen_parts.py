"""What the parts of both sides do: losses, optimizers, schedules, transforms, datasets, metrics, each as arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import mindspore
import numpy as np
import torch

NEAR = 1e-4
# Updates are small beside the weights they are taken from.
NEAR_UPDATES = 1e-2
STEPS = 6


def differences(
    parts: ModuleType, nets: Mapping[str, Any], frameworks: Mapping[str, str], names: Mapping[str, str]
) -> list[str]:
    """The parts that give something else on the two sides; ``nets`` are fresh, with the same weights."""
    found = []
    nets["port"].bench_names = dict(names)
    for name, look in _LOOKS.items():
        if not hasattr(parts, f"bench_{name}"):
            continue
        bench, port = [
            look(parts, getattr(parts, f"{role}_{name}"), nets[role], frameworks[role], role)
            for role in ("bench", "port")
        ]
        near = NEAR_UPDATES if name == "optimizer" else NEAR
        if len(bench) != len(port) or any(_far(one, two, near) for one, two in zip(bench, port, strict=True)):
            found.append(name)
    return found


def _far(one: np.ndarray, two: np.ndarray, near: float) -> bool:
    if one.shape != two.shape or one.dtype.kind != two.dtype.kind:
        return True
    wide = one.astype(np.float64)
    return bool(np.abs(wide - two).max() > near * max(np.abs(wide).max(), 1e-12))


def _tensor(array: np.ndarray, framework: str) -> Any:
    return mindspore.Tensor(array) if framework == "mindspore" else torch.from_numpy(array)


def _array(value: Any) -> np.ndarray:
    if isinstance(value, torch.Tensor):
        return value.detach().numpy().copy()
    return value.asnumpy().copy() if isinstance(value, mindspore.Tensor) else np.asarray(value)


def _loss(parts: ModuleType, make: Callable[[], Any], net: Any, framework: str, role: str) -> list[np.ndarray]:
    loss, found = make(), []
    for seed in range(3):
        random = np.random.default_rng(seed)
        scores, labels = _scores_and_labels(parts, random)
        # MindSpore's loss takes classes as int32 only.
        if framework == "mindspore" and labels.dtype == np.int64:
            labels = labels.astype(np.int32)
        found.append(_array(loss(_tensor(scores, framework), _tensor(labels, framework))))
    return found


def _scores_and_labels(parts: ModuleType, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    name = parts.__name__
    shape = {"tagger_parts": (3, 10, 5), "unet_parts": (2, 2, 32, 32), "dcgan_parts": (3, 3, 32, 32)}.get(name, (5, 6))
    shape = {"resnet_parts": (4, 10), "mobilenet_parts": (5, 10), "autoenc_parts": (8, 24)}.get(name, shape)
    if hasattr(parts, "batches"):
        labels = parts.batches()[0][-1]
    elif name == "dcgan_parts":
        labels = random.standard_normal(shape).astype(np.float32)
    else:
        labels = random.integers(0, shape[1], shape[0])
    return random.standard_normal(shape).astype(np.float32), labels


def _optimizer(parts: ModuleType, make: Callable[[Any], Any], net: Any, framework: str, role: str) -> list[np.ndarray]:
    """How far each parameter goes, in the benchmark's order; both sides get the same gradients."""
    optimizer = make(net)
    weights = _weights(net, framework)
    start = {name: _array(one) for name, one in weights.items()}
    for step in range(STEPS):
        given = {name: _gradient(_plain(name, net), one, step) for name, one in start.items()}
        if framework == "mindspore":
            by_name = {weights[name].name: mindspore.Tensor(one) for name, one in given.items()}
            optimizer(tuple(by_name[one.name] for one in optimizer.parameters))
        else:
            for name, one in given.items():
                weights[name].grad = torch.from_numpy(one)
            optimizer.step()
    gone = {_plain(name, net): (_array(one) - start[name]).ravel() for name, one in weights.items()}
    return [gone[name] for name in sorted(gone)]


def _weights(net: Any, framework: str) -> dict[str, Any]:
    pairs = net.parameters_and_names() if framework == "mindspore" else net.named_parameters()
    return {name: one for name, one in pairs if one.requires_grad}


def _plain(name: str, net: Any) -> str:
    """The benchmark's name of a parameter of either side."""
    return str(getattr(net, "bench_names", {}).get(name, name))


def _gradient(name: str, like: np.ndarray, step: int) -> np.ndarray:
    random = np.random.default_rng([step, *name.encode()])
    return (random.standard_normal(like.size) * 1e-3 * (1 + step)).astype(np.float32).reshape(like.shape)


def _schedule(parts: ModuleType, make: Callable[[Any], Any], net: Any, framework: str, role: str) -> list[np.ndarray]:
    optimizer = getattr(parts, f"{role}_optimizer")(net)
    schedule, count = make(optimizer), parts.steps_per_epoch * parts.epochs
    if isinstance(schedule, list):
        return [np.array(schedule)]
    if not hasattr(schedule, "step"):
        return [np.array([schedule(step) for step in range(count)])]
    rates = []
    for step in range(count):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        if getattr(parts, f"{role}_schedule_per", "step") == "step" or (step + 1) % parts.steps_per_epoch == 0:
            schedule.step()
    return [np.array(rates)]


def _transforms(parts: ModuleType, make: Callable[[], Any], net: Any, framework: str, role: str) -> list[np.ndarray]:
    found = []
    for sample in parts.samples():
        for transform in make():
            sample = transform(sample)
        found.append(np.asarray(sample))
    return found


def _dataset(parts: ModuleType, make: Callable[[], Any], net: Any, framework: str, role: str) -> list[np.ndarray]:
    return [_array(one) for batch in make() for one in batch]


def _metric(parts: ModuleType, make: Callable[[], Any], net: Any, framework: str, role: str) -> list[np.ndarray]:
    random = np.random.default_rng(0)
    scores, labels = random.standard_normal((64, 5)), random.integers(0, 5, 64)
    return [np.asarray(make()(scores, labels), np.float64)]


_LOOKS = {
    "loss": _loss,
    "optimizer": _optimizer,
    "schedule": _schedule,
    "transforms": _transforms,
    "dataset": _dataset,
    "metric": _metric,
}
