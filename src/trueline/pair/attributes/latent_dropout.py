"""What drops at random is told apart by how much it drops."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from trueline.kernel.array import Array
from trueline.pair.attributes.difference import Difference, Modules
from trueline.pair.attributes.reference import Reference
from trueline.pair.attributes.wording import blame
from trueline.pair.blame import Blame
from trueline.pair.questions.module_run import UNCHANGED, Change, Ran, RunModule
from trueline.pair.sides.side import Side

_ROUNDS: Final = 4
_SAMPLES: Final = 256
_MAX_ELEMENTS: Final = 1 << 20
# How far two estimates of one rate lie apart by chance, as a logarithm.
_CHANCE: Final = 0.25


def dropping_otherwise(
    bench: Side, port: Side, modules: Modules, reference: Reference, differences: Sequence[Difference]
) -> Iterator[Blame]:
    """Each difference in what is dropped; confirmed where the port drops as much as the benchmark when changed."""
    if not differences or not reference.ins:
        return
    ins = many(reference.ins)
    there = strength(bench, modules.bench.path, ins, reference)
    here = strength(port, modules.port.path, ins, reference)
    if there is None or here is None or same_strength(here, there):
        return
    for difference in differences:
        changed = (
            strength(port, modules.port.path, ins, reference, difference.change)
            if difference.change is not None
            else None
        )
        if changed is None and difference.fallback is not None:
            changed = strength(port, modules.port.path, ins, reference, difference.fallback)
        confirmed = changed is not None and same_strength(changed, there)
        yield blame(modules, difference, confirmed=confirmed, measured=here, limit=there, left=changed)


def strength(
    side: Side,
    path: str,
    ins: Sequence[Array],
    reference: Reference,
    change: Change = UNCHANGED,
    shares: bool | Sequence[float] = True,
) -> float | None:
    """How far the outputs lie from those without any dropping: the mean square, relative to theirs.

    ``shares`` are how much each dropout is to drop, else what it does.
    """

    def run(seed: int, dropout: bool | Sequence[float]) -> Ran:
        call, lacking = reference.call, reference.tensors
        question = RunModule(
            path, ins, call=call, train=True, change=change, lacking=lacking, dropout=dropout, seed=seed
        )
        return side.answer(question)

    still = run(0, False)
    if still.failed or not still.outputs:
        return None
    calm = still.outputs[0].astype(np.float64)
    scale = float(np.mean(np.square(calm)))
    total = 0.0
    for seed in range(1, _ROUNDS + 1):
        ran = run(seed, shares)
        if ran.failed:
            return None
        total += float(np.mean(np.square(ran.outputs[0].astype(np.float64) - calm)))
    return total / _ROUNDS / scale if scale else None


def same_strength(first: float, second: float) -> bool:
    """Whether chance explains that two of them differ."""
    if not first or not second:
        return first == second
    return abs(math.log(first / second)) <= _CHANCE


def many(arrays: Sequence[Array]) -> list[Array]:
    """The same samples many times, so that shares are not left to chance."""
    return [_many(array) for array in arrays]


def _many(array: Array) -> Array:
    times = max(1, min(_SAMPLES // max(1, array.shape[0] if array.ndim else 1), _MAX_ELEMENTS // max(1, array.size)))
    return np.concatenate([array] * times) if array.ndim else array
