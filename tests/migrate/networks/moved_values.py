"""Moves every weight away from its fresh value, which hides faults, to a scale that keeps activations near one."""

from __future__ import annotations

import numpy as np

Arrays = dict[str, np.ndarray]


def moved(arrays: Arrays, seed: int) -> Arrays:
    """Values for the same names and shapes, in either framework's names; each name has its own in every seed."""
    new = {name: _one(name, array, seed) for name, array in arrays.items()}
    for name in new:
        if name.endswith("_u"):
            _turn(new, name)
    return new


def _one(name: str, array: np.ndarray, seed: int) -> np.ndarray:
    draw = np.random.default_rng([seed, *name.encode()])
    leaf = name.rpartition(".")[2]
    if leaf == "num_batches_tracked":
        return array + draw.integers(1, 100)
    if array.dtype.kind != "f":
        return array
    if leaf in ("running_var", "moving_variance", "weight_g", "original0"):
        values = draw.uniform(0.5, 1.5, array.shape)
    elif array.ndim == 1 and leaf in ("weight", "gamma", "w"):
        values = draw.uniform(0.3, 1.3, array.shape)
    elif array.ndim == 1:
        values = 0.2 * draw.standard_normal(array.shape)
    elif "weight" in leaf or leaf in ("original", "original1", "embedding_table"):
        values = draw.standard_normal(array.shape) * (2 / np.prod(array.shape[1:])) ** 0.5
    else:
        values = 0.5 * draw.standard_normal(array.shape)
    return values.astype(array.dtype)


def _turn(arrays: Arrays, name: str) -> None:
    """Spectral norm's two directions after one turn of its power iteration: near the largest value, not at it."""
    stem = name.removesuffix("_u")
    original = arrays.get(f"{stem}_orig")
    if original is None:
        original = arrays[stem.removesuffix("0.") + "original"]
    matrix = original.reshape(original.shape[0], -1)
    right = matrix.T @ arrays[name]
    right /= np.linalg.norm(right)
    left = matrix @ right
    arrays[f"{stem}_v"] = right
    arrays[name] = left / np.linalg.norm(left)
