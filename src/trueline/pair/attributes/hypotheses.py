"""What may be another although no argument says so: a weight's layout, the order of gates, a coarser dtype."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np

from trueline.compare.noise import epsilon
from trueline.kernel.array import Array
from trueline.pair.attributes.classes import likely_activations
from trueline.pair.attributes.difference import Difference, Modules
from trueline.pair.attributes.reference import Reference
from trueline.pair.blame import Cause
from trueline.pair.questions.module_run import Change, Ran

_GATES: Final = {4: "ifgo", 3: "rzn"}


def hypotheses(modules: Modules, reference: Reference) -> Iterator[Difference]:
    """What is worth a try where the arguments do not explain a difference, the likeliest first."""
    if _may_be_activation(modules, reference):
        yield from likely_activations(modules)
    yield from _transposed(reference.tensors)
    yield from _gate_orders(reference.tensors)


def coarser_dtype(reference: Reference, ran: Ran) -> Difference | None:
    """A port that keeps or gives shorter floats than the benchmark."""
    ours = {*ran.dtypes, *(array.dtype.name for array in ran.outputs)}
    theirs = {array.dtype.name for array in (*reference.outs, *reference.tensors.values())}
    coarse, coarse_there = max(ours, key=epsilon, default=""), max(theirs, key=epsilon, default="")
    if epsilon(coarse) <= epsilon(coarse_there):
        return None
    return Difference(Cause.DTYPE, "dtype", coarse_there, coarse, None)


def _may_be_activation(modules: Modules, reference: Reference) -> bool:
    alone = len(reference.ins) == len(reference.outs) == 1 and not reference.tensors
    return alone and modules.known[0] is None and reference.ins[0].shape == reference.outs[0].shape


def _transposed(tensors: Mapping[str, Array]) -> Iterator[Difference]:
    for name, array in tensors.items():
        if array.ndim >= 2 and array.shape[0] == array.shape[1] > 1:
            change = Change(tensors={name: np.ascontiguousarray(np.swapaxes(array, 0, 1))})
            yield Difference(Cause.WEIGHT_LAYOUT, name, "(out, in)", "(in, out)", change)


def _gate_orders(tensors: Mapping[str, Array]) -> Iterator[Difference]:
    """All gates of a recurrent layer in another order, in every tensor that holds them."""
    for gates, letters in _GATES.items():
        hidden = next(
            (
                array.shape[1]
                for array in tensors.values()
                if array.ndim == 2 and array.shape[0] == gates * array.shape[1]
            ),
            0,
        )
        if not hidden:
            continue
        held = {name: array for name, array in tensors.items() if array.ndim and array.shape[0] == gates * hidden}
        for order in itertools.permutations(range(gates)):
            if order != tuple(range(gates)):
                change = Change(tensors={name: _reordered(array, order) for name, array in held.items()})
                shown = "".join(letters[place] for place in order)
                yield Difference(Cause.GATE_ORDER, ", ".join(held), letters, shown, change)


def _reordered(array: Array, order: tuple[int, ...]) -> Array:
    blocks = np.split(array, len(order))
    return np.concatenate([blocks[place] for place in order])
