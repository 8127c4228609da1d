"""The gradients of the whole networks at their parameters: what none of them feels is no fault of training."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from trueline.adapters.guest.trouble import SideTrouble
from trueline.kernel.array import Array
from trueline.pair.aligning.aligned import Aligned
from trueline.pair.forward.training import refuses
from trueline.pair.questions.recording import Record, Recording
from trueline.pair.sides.side import Side

# Gradients that are nearer than this, relative to the largest of their tensor, are the same.
_SAME: Final = 1e-3
# What is smaller than this part of the largest gradient of all is nothing but rounding.
_SMALL: Final = 1e-3


def parameters_agree(port: Side, aligned: Aligned, recording: Recording, inputs: Sequence[Array]) -> bool:
    """Whether every parameter of the port gets the benchmark's gradient, from the same gradients at the outputs."""
    if not aligned.is_whole or not recording.grads:
        return False
    try:
        own = port.answer(Record(inputs, train=True, send=True))
    except SideTrouble as trouble:
        if not refuses(trouble):
            raise
        return False
    if [output.shape for output in own.outputs] != [output.shape for output in recording.outputs]:
        return False
    wanted = dict(_laid(aligned, recording.grads))
    least = _SMALL * max((float(np.abs(gradient).max(initial=0)) for gradient in wanted.values()), default=0.0)
    here = {name: own.grads.get(path) for name, path in _paths(aligned)}
    return all(_same(here.get(name), gradient, least) for name, gradient in wanted.items())


def _paths(aligned: Aligned) -> Iterator[tuple[str, str]]:
    for parameter in aligned.port.parameters:
        yield parameter.name, aligned.port.paths.get(parameter.name, parameter.name)


def _laid(aligned: Aligned, grads: Mapping[str, Array]) -> Iterator[tuple[str, Array]]:
    """The gradients that the port's parameters are to have, by name; of what gets none zeros."""
    paths = aligned.bench.paths
    known = {
        parameter.name: grads.get(
            paths.get(parameter.name, parameter.name), np.zeros(parameter.shape or (), np.float32)
        )
        for parameter in aligned.bench.parameters
        if parameter.trainable and not parameter.buffer and parameter.shared_with is None
    }
    for pair in aligned.pairs:
        if pair.bench.name in known:
            yield pair.port.name, pair.laid(known[pair.bench.name])
    for pieces in aligned.pieces:
        if all(parameter.name in known for parameter in pieces.bench):
            yield from pieces.laid(known)


def _same(here: Array | None, wanted: Array, least: float) -> bool:
    own = np.zeros_like(wanted) if here is None else here
    if own.shape != wanted.shape:
        return False
    scale = max(float(np.abs(wanted).max(initial=0)), least)
    return bool(np.abs(own - wanted).max(initial=0) <= _SAME * scale)
