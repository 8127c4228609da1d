"""The run in training as far as both networks take it: with gradients, else without; two samples where one fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

import numpy as np

from trueline.adapters.guest.trouble import SideTrouble
from trueline.kernel.array import Array
from trueline.model.message import Message, message
from trueline.pair.questions.recording import Record, Recording
from trueline.pair.sides.side import Side

Found = TypeVar("Found")
# What a network's own code or its framework says; where a process has ended, nothing can be asked again.
_REFUSALS: Final = ("side.raised_running", "side.no_kernel")


@dataclass(frozen=True)
class Tried:
    """What both are trained on, and whether with gradients."""

    inputs: Sequence[Array]
    backward: bool


def refuses(trouble: SideTrouble) -> bool:
    """Whether a network only refuses this run; others may still be made."""
    return trouble.message.id in _REFUSALS


def trained(inputs: Sequence[Array], run: Callable[[Tried], Found]) -> tuple[Tried, Found, Message | None] | Message:
    """The run in training on what both networks take, and what was left out; alone where they take nothing."""
    first: SideTrouble | None = None
    for backward in (True, False):
        for given in (inputs, *several(inputs)):
            tried = Tried(given, backward)
            try:
                found = run(tried)
            except SideTrouble as trouble:
                if not refuses(trouble):
                    raise
                # What the inputs that were asked for meet, not what was tried for it.
                first = first or trouble
                continue
            if backward:
                return tried, found, None
            assert first is not None
            return tried, found, message("pair_stage.no_backward", reason=first.message)
    assert first is not None
    return message("pair_stage.no_training", reason=first.message)


def recorded(sides: tuple[Side, Side], tried: Tried) -> tuple[Recording, Recording]:
    """Both sides' recordings in training, the benchmark's with its arrays."""
    bench, port = sides
    given, backward = tried.inputs, tried.backward
    return (
        bench.answer(Record(given, train=True, send=True, backward=backward)),
        port.answer(Record(given, train=True, send=False, backward=backward)),
    )


def several(inputs: Sequence[Array]) -> Iterator[list[Array]]:
    """A single sample given twice, along each axis that may be the batch: the first, else the second."""
    tried: list[list[bool]] = []
    for axis, least in ((0, 1), (0, 2), (1, 2)):
        doubled = [array.ndim >= max(least, axis + 1) and array.shape[axis] == 1 for array in inputs]
        if any(doubled) and (axis or doubled not in tried):
            tried.append(doubled)
            yield [
                np.concatenate([array, _other_sample(array)], axis) if double else array
                for array, double in zip(inputs, doubled, strict=True)
            ]


def _other_sample(array: Array) -> Array:
    """A sample of the same numbers in another order."""
    return np.roll(array.reshape(-1), 1).reshape(array.shape)
