"""Weights moved away from where fresh ones hide faults: zeros, ones, unit statistics."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from trueline.apitable.layers import layer_of_class
from trueline.kernel.array import Array
from trueline.model.run import ParamInfo
from trueline.pair.questions.described import Described
from trueline.pair.questions.model import GetWeights, PutWeights, Settle
from trueline.pair.sides.side import Side

_NORMS: Final = ("batchnorm", "batchnorm3d", "layernorm", "groupnorm", "instancenorm")
_EMBEDDING: Final = "embedding"


def move_weights(side: Side, described: Described, inputs: Sequence[Array], seed: int = 0) -> int:
    """Draw every parameter anew, seeded, then let the values that flow decide the scale; returns how many moved."""
    wanted = [parameter for parameter in described.parameters if _moves(parameter)]
    if not wanted:
        return 0
    weights = side.answer(GetWeights([parameter.name for parameter in wanted]))
    random = np.random.default_rng(seed)
    moved = {parameter.name: _moved(described, parameter, weights[parameter.name], random) for parameter in wanted}
    side.answer(PutWeights(moved))
    side.answer(Settle(inputs, seed))
    return len(wanted)


def _moves(parameter: ParamInfo) -> bool:
    """Buffers that are no statistics are tables and masks, which are part of what a network computes."""
    floating = "float" in parameter.dtype and bool(math.prod(parameter.shape))
    return floating and not parameter.buffer and parameter.shared_with is None


def _moved(described: Described, parameter: ParamInfo, array: Array, random: np.random.Generator) -> Array:
    path, _, leaf = described.paths.get(parameter.name, parameter.name).rpartition(".")
    layer = layer_of_class(described.classes.get(path, ""))
    kind = layer.kind if layer is not None else ""
    if any(part in leaf for part in ("running_var", "moving_variance", "variance")):
        return random.uniform(0.5, 1.5, parameter.shape).astype(array.dtype)
    if kind == _EMBEDDING:
        return random.standard_normal(parameter.shape).astype(array.dtype)
    if kind in _NORMS:
        low, high = (
            (0.5, 1.5) if (layer.torch_leaf(leaf) if layer else leaf) == "weight" or leaf == "weight" else (-0.3, 0.3)
        )
        return random.uniform(low, high, parameter.shape).astype(array.dtype)
    if len(parameter.shape) >= 2 and kind:
        fan_in = max(1, math.prod(parameter.shape[1:]))
        return random.normal(0, 1 / math.sqrt(fan_in), parameter.shape).astype(array.dtype)
    # Of a single number NumPy makes a scalar, which is no array.
    return np.asarray(_of_unknown(array.astype(np.float64), random), array.dtype)


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
