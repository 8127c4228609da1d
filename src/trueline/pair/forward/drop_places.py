"""Whether the code of a call drops the same values as the benchmark's, by what comes of dropping the same of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, permutations
from operator import mul
from typing import Final

import numpy as np

from trueline.kernel.array import Array
from trueline.pair.aligning.matching import Matched
from trueline.pair.attributes.latent_dropout import many, strength
from trueline.pair.attributes.reference import Reference as TryReference
from trueline.pair.forward.forced import Reference
from trueline.pair.ops.same_values import equal, floats, reordered, without_ones
from trueline.pair.questions.module_run import RunModule
from trueline.pair.sides.side import Side

# Two values of one block that are nearer than this are one, however they were rounded.
_SAME_VALUE: Final = 1e-3
# What dropping moves an output by at least, relative to it; and how far apart two of these are that are not the same.
_LEAST_EFFECT: Final = 1e-3
_APART: Final = 0.1
# How far two estimates of how strongly something drops lie apart where it is not the same, as a logarithm.
_NOT_CHANCE: Final = 0.5
_MOST_AXES: Final = 4


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A dropout of the benchmark and one of the port, by their places in the call, that drop different values.

    ``effect`` is how far apart the outputs are that come of dropping the same elements, or the strengths of both,
    relative to what comes of the benchmark's.
    """

    bench: int
    port: int
    effect: float


@dataclass
class _Dropping:
    """One side's call: its outputs with nothing dropped, and the values that its dropouts are given."""

    side: Side
    path: str
    call: int
    ins: Sequence[Array]
    outputs: Sequence[Array] = ()
    values: Sequence[Array | None] = ()
    _masked: dict[tuple[int, bytes], Sequence[Array] | None] = field(default_factory=dict)

    def runs(self) -> bool:
        """Whether it does by itself."""
        ran = self.side.answer(RunModule(self.path, self.ins, call=self.call, train=True, masks=()))
        self.outputs, self.values = ran.outputs, ran.dropped
        return not ran.failed and bool(ran.outputs)

    def masked(self, place: int, mask: Array) -> Sequence[Array] | None:
        """Its outputs where one dropout drops what a mask says."""
        key = place, np.ascontiguousarray(mask).tobytes()
        if key not in self._masked:
            masks = [mask if at == place else None for at in range(len(self.values))]
            ran = self.side.answer(RunModule(self.path, self.ins, call=self.call, train=True, masks=masks))
            self._masked[key] = None if ran.failed else ran.outputs
        return self._masked[key]

    def strength(self, place: int, share: float) -> float | None:
        """How strongly one of its dropouts drops, the others at nothing."""
        shares = [share if at == place else 0.0 for at in range(len(self.values))]
        given = TryReference(self.ins, (), call=self.call, train=True)
        return strength(self.side, self.path, many(self.ins), given, shares=shares)


class DropPlaces:
    """The dropouts of one matched call, put side by side by the values that they are given."""

    def __init__(self, sides: tuple[Side, Side], matched: Matched, reference: Reference) -> None:
        ins = list(reference.all(matched.bench.path, matched.bench.call, "in").values())
        self._bench = _Dropping(sides[0], matched.bench.path, matched.bench.call, ins)
        self._port = _Dropping(sides[1], matched.port.path, matched.port.call, ins)
        self.run = self._bench.runs() and self._port.runs()

    def same_values(self) -> list[tuple[int, int]]:
        """Which of the benchmark's dropouts and of the port's are given the same value."""
        found: list[tuple[int, int]] = []
        left = list(range(len(self._port.values)))
        for here, value in enumerate(self._bench.values):
            there = next((place for place in left if _same(self._port.values[place], value)), None)
            if there is not None:
                left.remove(there)
                found.append((here, there))
        return found

    def elsewhere(self, shares: tuple[Sequence[float], Sequence[float]]) -> Iterator[Elsewhere]:
        """Dropouts that drop other values, where nothing else in the call differs; ``shares`` are how much each is."""
        bench, port = shares
        if (len(bench), len(port)) != (len(self._bench.values), len(self._port.values)):
            return
        same = self.same_values()
        here = [place for place in range(len(bench)) if place not in {first for first, _ in same}]
        there = [place for place in range(len(port)) if place not in {second for _, second in same}]
        if not here or not there or not self._agree:
            return
        effects = {(first, second): self._apart(first, second, bench[first]) for first in here for second in there}
        for (first, second), effect in effects.items():
            if effect is None or not effect:
                # The same comes of it, or it cannot be told.
                here, there = ([at for at in places if at != gone] for places, gone in ((here, first), (there, second)))
        for first, second in zip(here, there, strict=False):
            effect = effects[first, second]
            if bench[first] == port[second] and effect:
                yield Elsewhere(first, second, effect)

    @property
    def _agree(self) -> bool:
        here, there = self._port.outputs, self._bench.outputs
        return len(here) == len(there) and all(map(_same, here, there))

    def _apart(self, first: int, second: int, share: float) -> float | None:
        """How far apart it brings the outputs to drop one value or the other; None where that cannot be told."""
        value, other = self._bench.values[first], self._port.values[second]
        if value is None or other is None or value.size != other.size:
            return self._by_strength(first, second, share)
        apart = [
            self._with_mask(first, second, mask, turned)
            for mask in (_mask(value.shape, share),)
            for turned in _turned(mask, other.shape)
        ]
        known = [found for found in apart if found is not None]
        return min(known) if known and len(known) == len(apart) else None

    def _with_mask(self, first: int, second: int, mask: Array, turned: Array) -> float | None:
        there, here = self._bench.masked(first, mask), self._port.masked(second, turned)
        if there is None or here is None:
            return None
        calm, one, two = (floats(outputs[0]) for outputs in (self._bench.outputs, there, here))
        if not np.isfinite(one).all() or one.size != two.size:
            return None
        if not np.isfinite(two).all():
            # A score that shuts a place out is no number more, nor is what comes of it.
            return math.inf
        effect = float(np.abs(one - calm).max())
        if effect <= _LEAST_EFFECT * float(np.abs(calm).max()):
            return None
        gap = float(np.abs(two.reshape(one.shape) - one).max()) / effect
        return gap if gap > _APART else 0.0

    def _by_strength(self, first: int, second: int, share: float) -> float | None:
        there, here = self._bench.strength(first, share), self._port.strength(second, share)
        if not there or not here:
            return None
        apart = abs(math.log(here / there))
        return abs(here - there) / there if apart > _NOT_CHANCE else 0.0


def _same(value: Array | None, other: Array | None) -> bool:
    if value is None or other is None:
        return False
    return equal(value, other, _SAME_VALUE) or reordered(value, other, _SAME_VALUE) is not None


def _mask(shape: tuple[int, ...], share: float) -> Array:
    """What a dropout multiplies by: the same elements left out on both sides."""
    kept = np.random.default_rng(0).random(shape) >= share
    return (kept / (1.0 - share)).astype(np.float32) if share < 1.0 else kept.astype(np.float32)


def _turned(mask: Array, shape: tuple[int, ...]) -> Iterator[Array]:
    """A mask as it lies in a value of another shape: in every order of axes that makes that shape."""
    whole, axes = without_ones(mask.shape), without_ones(shape)
    longer, shorter = (axes, whole) if len(axes) >= len(whole) else (whole, axes)
    if len(longer) > _MOST_AXES:
        yield mask.reshape(shape)
        return
    for order in permutations(range(len(longer))):
        laid = tuple(longer[axis] for axis in order)
        if not set(accumulate(shorter, mul)) <= set(accumulate(laid, mul)):
            continue
        if longer is axes:
            yield mask.reshape(laid).transpose(np.argsort(order)).reshape(shape)
        else:
            yield mask.reshape(longer).transpose(order).reshape(shape)
