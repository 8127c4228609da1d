"""Which distances noise explains: a step's rows in order, since a branch that rounding takes widens all after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from trueline.compare.align import Layout, Pair
from trueline.compare.floors import Basis, Floor, Floors, Place
from trueline.compare.levels import BACKWARD, KEPT, levels
from trueline.compare.measure import Task
from trueline.compare.noise import tensor_floor, unit
from trueline.compare.rows import Network, Row, Tensor
from trueline.model.distance import Distance
from trueline.model.key import Key, Kind

# A ReLU's input within rounding of zero is a matter of one in a million elements; small tensors have none.
_MIN_ELEMENTS_WITH_SWITCHES: Final = 1000
_MIN_SWITCHED_ELEMENTS: Final = 2
_SHARE: Final = 2e-5
# In short floats the values within a rounding of zero are many more.
_SHORT_SHARE: Final = 4.0
_FAR_ABOVE_FLOOR: Final = 30.0
# What lies behind a switch is further apart by about as much.
_AFTER_A_SWITCH: Final = 3.0


class Judge:
    """Walks the rows of a step in order: what was seen before a row is part of what may be expected of it."""

    def __init__(self, floors: Floors, network: Network, step: int, in_order: bool) -> None:
        self.floors, self.network, self.step, self.in_order = floors, network, step, in_order
        self.depths = network.depths()
        self.switched = False
        self.seen = 0.0

    def rows(
        self, pairs: Sequence[tuple[Pair, Tensor, Tensor]], distances: Sequence[tuple[Distance, bool]]
    ) -> list[Row]:
        """The rows of these pairs."""
        level_of = levels((pair.b, found) for (pair, _, _), (found, _) in zip(pairs, distances, strict=True))
        deepest = max(self.depths.values(), default=len(pairs) if self.in_order else 0)
        gradients = any(pair.b.kind in BACKWARD for pair, _, _ in pairs)
        origin = 0 if self.floors.noise is not None else _origin(pairs, distances, level_of, self.step)
        given_out = {pair.b.module: tensor.count for pair, _, tensor in pairs if pair.b.kind in (Kind.OUT, Kind.GOUT)}
        rows: list[Row] = []
        depth, coarsest, differs = 0, 0.0, False
        for place, ((pair, a, b), (found, by_numbers)) in enumerate(zip(pairs, distances, strict=True)):
            key, dtypes = pair.b, (found.dtype_a, found.dtype_b)
            if self.in_order:
                # A parameter has the depth of what came before it; a gradient has passed the whole network once more.
                depth = self.depths.get((key.phase, key.module, key.call), depth if self.depths else place)
                coarsest = max(coarsest, unit(dtypes) if key.kind in (Kind.IN, Kind.OUT) else 0.0)
            at = Place(
                key,
                self.step - origin,
                2 * deepest - depth if key.kind in BACKWARD else depth,
                self._reduction(key, b, given_out),
                coarsest,
                computed=self.in_order,
            )
            level = level_of[key]
            floor = self._floor(at, dtypes, found, level, gradients)
            apart = self.floors.exceeded(level, floor, found)
            if apart and not differs and self._has_switched(pair, a, b, floor, found, coarsest):
                # Nothing was known of switches: from here on they are part of the noise.
                self.switched, self.seen, apart = True, max(self.seen, level), False
            elif self.switched and not apart and floor.basis is Basis.ESTIMATED:
                self.seen = max(self.seen, level)
            elif key.kind in BACKWARD and not apart and level > _FAR_ABOVE_FLOOR * tensor_floor(dtypes, at.depth):
                # So far apart and yet within what was measured: the tries have switched, and so has this.
                self.switched = True
            differs = differs or apart
            rows.append(Row(pair, a, b, found, level, floor, apart, by_numbers))
        return rows

    def _reduction(self, key: Key, b: Tensor, given_out: Mapping[str, int]) -> int:
        """How many terms the longest sum behind a tensor has; a parameter's gradient sums over all it was used for."""
        terms = self.network.reductions.get(key.module, 1)
        if key.kind is Kind.GRAD and b.shape:
            terms = max(terms, given_out.get(key.module, 0) // max(1, b.shape[0]))
        return terms

    def _floor(self, at: Place, dtypes: tuple[str, str], found: Distance, level: float, gradients: bool) -> Floor:
        kind = at.key.kind
        floor = self.floors.of(at, dtypes, found.max_ref, switched=self.switched)
        if not self.switched and (kind not in KEPT or kind is Kind.GRAD or not gradients):
            # Beyond the narrow floor and within the wide one: an element has taken another branch. What the optimizer
            # makes of equal gradients has no branches to take.
            wide = self.floors.of(at, dtypes, found.max_ref)
            if floor.value < level <= wide.value:
                self.switched = True
                return wide
        if self.switched and floor.basis is Basis.MEASURED and kind in BACKWARD:
            # Which elements switch is luck: others than in the tries.
            floor = replace(floor, value=_AFTER_A_SWITCH * floor.value)
        if self.switched and self.seen and floor.basis is not Basis.GIVEN and unit(dtypes):
            return replace(floor, value=max(floor.value, _AFTER_A_SWITCH * self.seen))
        return floor

    def _has_switched(self, pair: Pair, a: Tensor, b: Tensor, floor: Floor, found: Distance, coarsest: float) -> bool:
        """Whether a gradient is off in so few elements that those can only have taken another branch."""
        if pair.b.kind not in BACKWARD or floor.basis is Basis.GIVEN or a.stored is None or b.stored is None:
            return False
        if not found.comparable or found.other_non_finite or found.count < _MIN_ELEMENTS_WITH_SWITCHES:
            return False
        again = Task(a.stored, b.stored, Layout.SAME, 0.0, floor.value * found.max_ref).run()
        share = max(_SHARE, _SHORT_SHARE * max(coarsest, unit((found.dtype_a, found.dtype_b))))
        return (1.0 - again.within) * found.count <= max(_MIN_SWITCHED_ELEMENTS, share * found.count)


def _origin(
    pairs: Sequence[tuple[Pair, Tensor, Tensor]],
    distances: Sequence[tuple[Distance, bool]],
    level_of: Mapping[Key, float],
    step: int,
) -> int:
    """The step from which noise has grown: this one, where its weights are still the same, else the first."""
    kept = [
        (level_of[pair.b], tensor_floor((found.dtype_a, found.dtype_b), 0))
        for (pair, _, _), (found, _) in zip(pairs, distances, strict=True)
        if pair.b.kind is Kind.PARAM
    ]
    return step if kept and all(level <= floor for level, floor in kept) else 0
