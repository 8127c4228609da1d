"""What both frameworks' trainings share: options, and batches and weights that do not depend on the framework."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

import numpy as np

BATCH = 16
CLASSES = 10
FAULTS = ("none", "bn_eps", "ln_eps", "gelu_tanh", "weight_scaled")


def options() -> Any:
    """The command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--net", choices=["resnet", "transformer"], default="resnet")
    parser.add_argument("--optimizer", choices=["sgd", "adam"], default="sgd")
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--layout", choices=["plain", "channels_last"], default="plain")
    parser.add_argument("--fault", choices=FAULTS, default="none")
    return parser.parse_args()


def shape(net: str) -> tuple[int, ...]:
    """Of one sample."""
    return (3, 16, 16) if net == "resnet" else (12, 32)


def batches(net: str, seed: int, steps: int) -> Iterator[tuple[Any, Any]]:
    """Samples and labels."""
    random = np.random.RandomState(seed)
    for _ in range(steps):
        yield random.randn(BATCH, *shape(net)).astype(np.float32), random.randint(0, CLASSES, BATCH)


def weights(shapes: dict[str, tuple[int, ...]], seed: int, fault: str) -> dict[str, Any]:
    """Initial values of all parameters with more than one side, by torch's names; the others keep their own."""
    random = np.random.RandomState(seed)
    found = {}
    for name in sorted(name for name, sides in shapes.items() if len(sides) > 1):
        sides = shapes[name]
        fan_in = int(np.prod(sides[1:]))
        found[name] = (random.randn(*sides) * np.sqrt(1.5 / fan_in)).astype(np.float32)
    if fault == "weight_scaled":
        name = sorted(found)[len(found) // 2]
        found[name] = (found[name] * np.float32(1.001)).astype(np.float32)
    return found
