"""What the side's factory draws: the numbers of every parameter over several seeds."""

from __future__ import annotations

import random
from typing import Any, Final

import numpy as np

from trueline.adapters.guest.faults import said_for
from trueline.adapters.guest.wire import Content
from trueline.adapters.nouns import Unreadable
from trueline.adapters.protocol import Values
from trueline.kernel.array import Array
from trueline.pair.child.building import build
from trueline.pair.child.checkpoints import kept_by
from trueline.pair.child.host import Answer, Host

_ENOUGH: Final = 1 << 18
_NUMBERS: Final = 7


def answer_drawn(host: Host, content: Content, _: list[Array]) -> Answer:
    """Build the model again for each seed; of each of ``names`` count, means of the first four powers, least, largest.

    ``ready``: there is only one model, which cannot be built again. Rows of NaN are parameters without values.
    """
    names, seeds = content["names"], content["seeds"]
    assert host.asked is not None
    found = np.full((len(seeds), len(names), _NUMBERS), np.nan)
    for place, seed in enumerate(seeds):
        random.seed(seed)
        np.random.seed(seed)
        host.adapter.state.seed(seed, deterministic=False)
        model, adapter = build(host.asked, seed=None)
        if model is host.model:
            return {"ready": True}, []
        with said_for(host.side, "describing"):
            kept = kept_by(adapter.name, model)
            for row, name in enumerate(names):
                if name in kept:
                    found[place, row] = _numbers(adapter.values, kept[name])
    return {"ready": False}, [found]


def _numbers(values: Values, tensor: Any) -> list[float]:
    try:
        found = values.to_numpy(tensor).reshape(-1)
    except Unreadable:
        return [np.nan] * _NUMBERS
    if not found.size:
        return [np.nan] * _NUMBERS
    # Of a large one some tell enough.
    array = found[:: 1 + found.size // _ENOUGH].astype(np.float64)
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
