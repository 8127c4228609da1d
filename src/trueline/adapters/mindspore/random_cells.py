"""Dropout, whose random numbers MindSpore keeps to itself: counted as they are drawn, and drawn again.

On CPU every Dropout cell draws from a stream of its own for each shape, which begins with the cell's two seeds. A fresh
primitive with the same seeds that is called as often on the same shapes goes on where the other one was.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Final

import mindspore as ms
import numpy as np
from mindspore import context, nn, ops

from trueline.adapters.identity import ByIdentity
from trueline.adapters.mindspore import state, values
from trueline.adapters.nouns import Function, Network, Value

# These have no seeds at all.
_UNSEEDED: Final = ("Dropout1d", "Dropout2d", "Dropout3d")
_draws: ByIdentity[dict[tuple[tuple[int, ...], str], int]] = ByIdentity()
_counting = False


def count_draws() -> None:
    """From now on count the draws of each Dropout cell, by input shape."""
    global _counting
    if not _counting:
        _counting = True
        nn.Dropout.construct = _counted(nn.Dropout.construct)


def _counted(original: Function) -> Function:
    @functools.wraps(original)
    def construct(cell: Network, x: Value) -> Value:
        if _draws_numbers(cell):
            counts = _draws.get(cell)
            if counts is None:
                _draws.set(cell, counts := {})
            drawn = (values.shape(x), values.dtype(x))
            counts[drawn] = counts.get(drawn, 0) + 1
        return original(cell, x)

    return construct


def _draws_numbers(cell: Network) -> bool:
    return bool(cell.training) and cell.keep_prob != 1 and cell.p != 0


def capture(root: Network) -> tuple[dict[str, object], list[str]]:
    """(seeds and draw counts of every Dropout by path, cells whose draws cannot be reproduced)."""
    drawn: dict[str, object] = {}
    lost: list[str] = []
    for path, cell in values.modules(root):
        if type(cell).__name__ in _UNSEEDED and cell.training:
            lost.append(f"{path} ({type(cell).__name__})")
        elif isinstance(cell, nn.Dropout) and (_draws_numbers(cell) or cell in _draws):
            drawn[path] = _described(cell)
            if not _can_be_drawn_again(cell):
                lost.append(f"{path} ({type(cell).__name__})")
    return drawn, lost


def _described(cell: Network) -> dict[str, object]:
    counts = [[list(shape), dtype, count] for (shape, dtype), count in (_draws.get(cell) or {}).items()]
    return {"seeds": [int(cell.dropout.Seed0), int(cell.dropout.Seed1)], "draws": counts}


def _can_be_drawn_again(cell: Network) -> bool:
    """Zero seeds are drawn by the kernel; with several threads the numbers depend on how many it uses."""
    seeded = bool(cell.dropout.Seed0 or cell.dropout.Seed1)
    eager = context.get_context("mode") == ms.PYNATIVE_MODE
    return _counting and seeded and eager and state.threads_are_fixed()


def restore(root: Network, kept: Mapping[str, Value]) -> None:
    """Restore every Dropout to its captured position in its random stream."""
    cells = dict(values.modules(root))
    for path, draws_of_cell in kept.items():
        cell = cells[path]
        seed0, seed1 = draws_of_cell["seeds"]
        cell.dropout = ops.Dropout(cell.dropout.keep_prob, seed0, seed1)
        draws = {(tuple(shape), dtype): count for shape, dtype, count in draws_of_cell["draws"]}
        _draws.set(cell, draws)
        with values.without_gradient():
            for nothing, count in _inputs(draws):
                for _ in range(count):
                    cell.dropout(nothing)


def _inputs(draws: Mapping[tuple[tuple[int, ...], str], int]) -> Iterator[tuple[Value, int]]:
    for (shape, dtype), count in draws.items():
        yield ms.Tensor(np.zeros(shape, np.float32)).astype(getattr(ms, dtype)), count
