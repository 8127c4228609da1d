"""Weights moved away from where fresh ones hide faults: zeros, ones, unit statistics."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from trueline.apitable.layers import layer_of_class
from trueline.kernel.array import Array
from trueline.model.run import ParamInfo
from trueline.pair.sides.described import Described
from trueline.pair.sides.side import Side

_NORMS: Final = ("batchnorm", "batchnorm3d", "layernorm", "groupnorm", "instancenorm")
_EMBEDDING: Final = "embedding"


def move_weights(side: Side, described: Described, inputs: Sequence[Array], seed: int = 0) -> int:
    """Draw every parameter anew, seeded, then let the values that flow decide the scale; returns how many moved."""
    wanted = [one for one in described.parameters if _moves(one)]
    if not wanted:
        return 0
    names = [one.name for one in wanted]
    _, arrays = side.ask({"do": "get", "names": names})
    random = np.random.default_rng(seed)
    moved = [_moved(described, one, array, random) for one, array in zip(wanted, arrays, strict=True)]
    side.ask({"do": "put", "names": names}, moved)
    side.ask({"do": "settle", "seed": seed}, inputs)
    return len(names)


def _moves(one: ParamInfo) -> bool:
    """Buffers that are no statistics are tables and masks, which are part of what a network computes."""
    return not one.buffer and "float" in one.dtype and bool(math.prod(one.shape)) and one.shared_with is None


def _moved(described: Described, one: ParamInfo, array: Array, random: np.random.Generator) -> Array:
    path, _, leaf = described.paths.get(one.name, one.name).rpartition(".")
    layer = layer_of_class(described.classes.get(path, ""))
    kind = layer.kind if layer is not None else ""
    if any(part in leaf for part in ("running_var", "moving_variance", "variance")):
        return random.uniform(0.5, 1.5, one.shape).astype(array.dtype)
    if kind == _EMBEDDING:
        return random.standard_normal(one.shape).astype(array.dtype)
    if kind in _NORMS:
        low, high = (
            (0.5, 1.5) if (layer.torch_leaf(leaf) if layer else leaf) == "weight" or leaf == "weight" else (-0.3, 0.3)
        )
        return random.uniform(low, high, one.shape).astype(array.dtype)
    if len(one.shape) >= 2 and kind:
        fan_in = max(1, math.prod(one.shape[1:]))
        return random.normal(0, 1 / math.sqrt(fan_in), one.shape).astype(array.dtype)
    return _of_unknown(array.astype(np.float64), random).astype(array.dtype)


def _of_unknown(array: Array, random: np.random.Generator) -> Array:
    """A parameter of the user's own keeps its scale if it has one; a constant is a factor, a zero an offset."""
    spread = float(array.std()) if array.size > 1 else 0.0
    centre = float(array.mean())
    if spread > 0.05:
        return random.normal(centre, spread, array.shape)
    if abs(centre) > 0.5:
        return centre * random.uniform(0.5, 1.5, array.shape)
    if array.ndim >= 2 and spread > 0:
        return random.normal(0, max(spread, 1 / math.sqrt(array.shape[-1])), array.shape)
    return random.normal(0, 0.3, array.shape)
