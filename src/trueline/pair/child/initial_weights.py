"""What the side's factory draws: the numbers of every parameter over several seeds."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final

import numpy as np

from trueline.adapters.guest.faults import said_for
from trueline.adapters.nouns import Network, Unreadable, Value
from trueline.adapters.protocol import Adapter, Values
from trueline.kernel.array import Array
from trueline.pair.child.building import build
from trueline.pair.child.checkpoints import kept_by
from trueline.pair.child.host import Host
from trueline.pair.questions.model import BuiltWeights, DrawWeights

# Of a larger parameter so many values say enough of its distribution.
_SAMPLED_VALUES: Final = 1 << 18
_NUMBERS: Final = 7


def built_weights(host: Host, question: BuiltWeights) -> Array | None:
    """The numbers of the model as it is; None where it was given, and not built."""
    if not host.by_factory:
        return None
    with said_for(host.side, "describing"):
        return _all_numbers(host.adapter, host.model, question.names)


def draw_weights(host: Host, question: DrawWeights) -> Array | None:
    """Build the model again for each seed; None where there is only one, which cannot be."""
    if not host.by_factory:
        return None
    assert host.asked is not None
    drawn = []
    for seed in question.seeds:
        random.seed(seed)
        np.random.seed(seed)
        host.adapter.state.seed(seed, deterministic=False)
        made = build(host.asked, seed=None)
        if made.model is host.model:
            return None
        with said_for(host.side, "describing"):
            drawn.append(_all_numbers(made.adapter, made.model, question.names))
    return np.stack(drawn)


def _all_numbers(adapter: Adapter, model: Network, names: Sequence[str]) -> Array:
    kept = kept_by(adapter.name, model)
    found = np.full((len(names), _NUMBERS), np.nan)
    for row, name in enumerate(names):
        if name in kept:
            found[row] = _numbers(adapter.values, kept[name])
    return found


def _numbers(values: Values, tensor: Value) -> list[float]:
    try:
        whole = values.to_numpy(tensor).reshape(-1)
    except Unreadable:
        return [np.nan] * _NUMBERS
    if not whole.size:
        return [np.nan] * _NUMBERS
    array = whole[:: 1 + whole.size // _SAMPLED_VALUES].astype(np.float64)
    squares = np.square(array)
    return [
        float(array.size),
        float(array.mean()),
        float(squares.mean()),
        float((squares * array).mean()),
        float(np.square(squares).mean()),
        float(array.min()),
        float(array.max()),
    ]
