"""A problem whose good learning rates are known: its data, and its script's two ways of being called."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

EIGENVALUES = np.array([8.0, 5.0, 3.0, 2.0, 1.5, 1.0, 0.8, 0.5, 0.4, 0.2])
"""Of the Hessian of the least squares: plain gradient descent diverges above 2 / 8 = 0.25."""


PENALTY = 1e-3
"""Of the logistic regression. Without one it has no upper bound to speak of: at any rate the loss leaps up at first, to
forty, and comes down again, since a line parts the digits."""


def least_squares() -> tuple[Array, Array]:
    """Inputs and targets of a linear model whose mean squared error over two has these eigenvalues."""
    random = np.random.default_rng(3)
    rows, columns = 64, len(EIGENVALUES)
    left = np.linalg.qr(random.standard_normal((rows, columns)))[0]
    right = np.linalg.qr(random.standard_normal((columns, columns)))[0]
    inputs = left * np.sqrt(EIGENVALUES * rows) @ right.T
    targets = inputs @ right @ np.ones(columns) * 2
    return inputs.astype(np.float32), targets.astype(np.float32)[:, None]


def digits() -> tuple[Array, Array]:
    """The 1797 digits of scikit-learn, 64 pixels from 0 to 1, and their labels."""
    from sklearn.datasets import load_digits

    found = load_digits()
    return (found.data / 16).astype(np.float32), found.target.astype(np.int32)


def batches(count: int, size: int, steps: int, seed: int) -> Iterator[Array]:
    """Indexes of random batches."""
    random = np.random.default_rng(seed)
    for _ in range(steps):
        yield random.integers(0, count, size)


def main(rate: float, train: Callable[[float, int, bool, int], list[float]]) -> None:
    """Train as a script does; or with ``--sweep`` at each of some constant rates, and print the losses of each."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=rate)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=1, help="how many seeds a sweep takes")
    parser.add_argument("--sweep", default="", help="rates, separated by commas")
    asked = parser.parse_args()
    if not asked.sweep:
        train(asked.lr, asked.steps, True, asked.seed)
        return
    for one in asked.sweep.split(","):
        for seed in range(asked.seeds):
            losses = train(float(one), asked.steps, False, asked.seed + seed)
            told = {"rate": float(one), "seed": seed, "losses": [x if math.isfinite(x) else None for x in losses]}
            print(json.dumps(told), flush=True)
