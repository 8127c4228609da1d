"""What each family of networks is fed with: NumPy arrays from a seed, no framework."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Inputs = list[np.ndarray]


def _reals(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def _numbers(seed: int, below: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed + 1000).integers(0, below, shape)


def _bert(seed: int) -> Inputs:
    lengths = np.array([[12], [7]])
    segments = (np.arange(12)[None] >= np.array([[5], [3]])).astype(np.int64)
    return [_numbers(seed, 48, 2, 12), segments, (np.arange(12)[None] < lengths).astype(np.int64)]


INPUTS: dict[str, Callable[[int], Inputs]] = {
    "resnet": lambda seed: [_reals(seed, 2, 3, 32, 32)],
    "densenet": lambda seed: [_reals(seed, 2, 3, 32, 32)],
    "mobilenet": lambda seed: [_reals(seed, 2, 3, 32, 32)],
    "vit": lambda seed: [_reals(seed, 2, 3, 32, 32)],
    "bert": _bert,
    "lstm": lambda seed: [_numbers(seed, 40, 3, 9)],
    "tagger": lambda seed: [_reals(seed, 3, 9, 6)],
    "generator": lambda seed: [_reals(seed, 3, 16), _numbers(seed, 10, 3)],
    "discriminator": lambda seed: [_reals(seed, 3, 3, 32, 32), _numbers(seed, 10, 3)],
    "unet": lambda seed: [_reals(seed, 2, 3, 16, 16)],
    "conv1d": lambda seed: [_reals(seed, 2, 4, 24)],
    "vocoder": lambda seed: [_reals(seed, 2, 8, 12)],
    "transformer": lambda seed: [_numbers(seed, 40, 2, 12)],
    "translator": lambda seed: [_numbers(seed, 40, 2, 10), _numbers(seed + 1, 40, 2, 12)],
    "cross_attention": lambda seed: [_reals(seed, 2, 9, 8)],
}


def inputs(family: str, seed: int = 0) -> Inputs:
    """One batch for a family, the same for the same seed."""
    return INPUTS[family](seed)
