"""Tensors of a step, file or dump in their order: how far each pair is apart, and the first that really is."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from trueline.compare.align import Alignment, Item, Layout, Pair, Rules, Structure, align
from trueline.compare.by_values import pair_by_values
from trueline.compare.fan_out import measure_all
from trueline.compare.floors import Basis, Floor, Floors, Place
from trueline.compare.levels import BACKWARD, levels
from trueline.compare.measure import Task, distance_of_numbers
from trueline.compare.noise import tensor_floor, unit
from trueline.compare.verdict import Verdict
from trueline.formats.stored import Stored
from trueline.model.distance import Distance
from trueline.model.key import Key, Kind
from trueline.model.run import CallInfo

_AT_ONCE: Final = 1 << 20
# A ReLU's input within rounding of zero is a matter of one in a million elements; small tensors have none.
_MANY: Final = 1000
_FEW: Final = 2
_SHARE: Final = 2e-5
# In short floats the values within a rounding of zero are many more.
_SHORT_SHARE: Final = 4.0
_FAR: Final = 30.0
# What lies behind a switch is further apart by about as much.
_AFTER_A_SWITCH: Final = 3.0
# Only what is kept may lie in another layout: what a layer is given and gives has the shape that it has.
_KEPT: Final = frozenset({Kind.PARAM, Kind.GRAD, Kind.BUFFER, Kind.OPT})


@dataclass(frozen=True, slots=True)
class Tensor:
    """One side's tensor: its elements, or where those were not kept its numbers (min, max, mean, l2)."""

    key: Key
    name: str
    shape: tuple[int, ...]
    dtype: str
    stored: Stored | None = None
    numbers: Mapping[str, float] = field(default_factory=dict)
    fingerprint: int | None = None

    @property
    def count(self) -> int:
        """How many elements it has."""
        return math.prod(self.shape)


@dataclass(frozen=True, slots=True)
class Network:
    """What is known of one side's network beyond its tensors."""

    types: Mapping[str, str] = field(default_factory=dict)
    calls: Sequence[CallInfo] = ()
    reductions: Mapping[str, int] = field(default_factory=dict)

    def depths(self) -> dict[tuple[str, str, int], int]:
        """How many calls came before each call, by phase, path and number."""
        seen: dict[str, int] = {}
        depths: dict[tuple[str, str, int], int] = {}
        for one in self.calls:
            seen[one.phase] = seen.get(one.phase, -1) + 1
            depths[one.phase, one.path, one.call] = seen[one.phase]
        return depths


@dataclass(frozen=True, slots=True)
class Row:
    """A pair: ``level`` is their distance relative to the benchmark's scale, ``floor`` what noise explains."""

    pair: Pair
    a: Tensor
    b: Tensor
    distance: Distance
    level: float
    floor: Floor
    differs: bool
    by_numbers: bool = False

    @property
    def verdict(self) -> Verdict:
        """Of this pair."""
        if self.differs:
            return Verdict.DIFFERS
        return Verdict.EQUAL if self.distance.identical else Verdict.NOISE

    @property
    def times(self) -> float:
        """How many times the floor the distance is."""
        return self.level / self.floor.value if self.floor.value else math.inf if self.level else 0.0


@dataclass(frozen=True, slots=True)
class Tensors:
    """Rows in the benchmark's order; ``inputs_agree`` is None where the inputs of the ``first`` were not recorded.

    ``switched`` says that rounding alone has sent an element down another branch, a ReLU's at zero: what comes later is
    further apart for it. ``seen`` is how far such a switch has brought tensors apart where no noise was measured.
    """

    step: int
    a: Sequence[Tensor]
    b: Sequence[Tensor]
    rows: Sequence[Row]
    alignment: Alignment
    first: int | None
    inputs_agree: bool | None
    switched: bool = False
    seen: float = 0.0

    @property
    def verdict(self) -> Verdict | None:
        """None where there was nothing to compare."""
        if not self.rows:
            return None
        if self.first is not None:
            return Verdict.DIFFERS
        return Verdict.EQUAL if all(row.distance.identical for row in self.rows) else Verdict.NOISE

    @property
    def first_row(self) -> Row | None:
        """The first that differs."""
        return self.rows[self.first] if self.first is not None else None

    @property
    def differing(self) -> Sequence[Row]:
        """All that differ."""
        return [row for row in self.rows if row.differs]


@dataclass(frozen=True, slots=True)
class How:
    """How to compare: floors, a user's rules, and who does the work."""

    floors: Floors = field(default_factory=Floors)
    rules: Rules = field(default_factory=Rules)
    executor: Executor | None = None
    progress: Callable[[int], None] | None = None


def compare_tensors(
    a: Sequence[Tensor],
    b: Sequence[Tensor],
    how: How,
    *,
    step: int = 0,
    networks: tuple[Network, Network] = (Network(), Network()),
    in_order: bool = True,
    before: Tensors | None = None,
) -> Tensors:
    """Compare with the benchmark ``b``; where tensors are not ``in_order`` of execution, depth has no meaning.

    ``before`` is the step before: what has switched there has its effect here.
    """
    here, there = {one.key: one for one in a}, {one.key: one for one in b}
    alignment = align(
        _structure(a, networks[0]), _structure(b, networks[1]), how.rules, lambda x, y: _same(here[x], there[y])
    )
    alignment = pair_by_values(alignment, here, there)
    pairs = [(pair, here[pair.a], there[pair.b]) for pair in alignment.pairs]
    judge = _Judge(how.floors, networks[1], step, in_order)
    if before is not None:
        judge.switched, judge.seen = before.switched, before.seen
    rows = judge.rows(pairs, _distances(pairs, how))
    first = next((place for place, row in enumerate(rows) if row.differs), None)
    agree = _inputs_agree(rows, first, networks[1].calls) if first is not None else None
    return Tensors(step, a, b, rows, alignment, first, agree, judge.switched, judge.seen)


def _structure(tensors: Sequence[Tensor], network: Network) -> Structure:
    return Structure([Item(one.key, one.shape, one.dtype) for one in tensors], network.types, network.calls)


def _same(a: Tensor, b: Tensor) -> bool | None:
    if a.fingerprint is not None and b.fingerprint is not None:
        return a.fingerprint == b.fingerprint
    if a.stored is None or b.stored is None or a.stored.nbytes != b.stored.nbytes:
        return None
    if a.stored.member is not None or b.stored.member is not None or a.stored.strides != b.stored.strides:
        return None
    here, there = a.stored.bytes(), b.stored.bytes()
    return all(
        np.array_equal(here[at : at + _AT_ONCE], there[at : at + _AT_ONCE]) for at in range(0, here.size, _AT_ONCE)
    )


def _distances(pairs: Sequence[tuple[Pair, Tensor, Tensor]], how: How) -> list[tuple[Distance, bool]]:
    rtol, atol = how.floors.tolerance
    tasks = [
        Task(a.stored, b.stored, pair.layout if pair.b.kind in _KEPT else Layout.SAME, rtol, atol)
        for pair, a, b in pairs
        if a.stored is not None and b.stored is not None
    ]
    measured = measure_all(tasks, how.executor, how.progress)
    found = []
    for _, a, b in pairs:
        if a.stored is not None and b.stored is not None:
            found.append((next(measured), False))
        else:
            found.append((_by_numbers(a, b), True))
    # The generator's pool ends with it.
    for _ in measured:
        pass
    return found


def _by_numbers(a: Tensor, b: Tensor) -> Distance:
    found = distance_of_numbers(a.numbers, b.numbers, (a.shape, b.shape), (a.dtype, b.dtype))
    other = None not in (a.fingerprint, b.fingerprint) and a.fingerprint != b.fingerprint
    return replace(found, count=1) if other else found


class _Judge:
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
        given_out = {pair.b.module: one.count for pair, _, one in pairs if pair.b.kind in (Kind.OUT, Kind.GOUT)}
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
            elif key.kind in BACKWARD and not apart and level > _FAR * tensor_floor(dtypes, at.depth):
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
        if not self.switched and (kind not in _KEPT or kind is Kind.GRAD or not gradients):
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
        if not found.comparable or found.other_non_finite or found.count < _MANY:
            return False
        again = Task(a.stored, b.stored, Layout.SAME, 0.0, floor.value * found.max_ref).run()
        share = max(_SHARE, _SHORT_SHARE * max(coarsest, unit((found.dtype_a, found.dtype_b))))
        return (1.0 - again.within) * found.count <= max(_FEW, share * found.count)


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


def _inputs_agree(rows: Sequence[Row], first: int, calls: Sequence[CallInfo]) -> bool | None:
    """Whether what reaches the first row that differs still agreed: its own inputs, else the outputs that feed it."""
    key = rows[first].pair.b
    inputs = _rows_of(rows, [(key.module, key.call)], Kind.GOUT if key.kind in BACKWARD else Kind.IN, key)
    if not inputs and key.kind in (Kind.IN, Kind.OUT):
        inputs = _rows_of(rows, _feeding(key, calls), Kind.OUT, key)
    return not any(row.differs for row in inputs) if inputs else None


def _rows_of(rows: Sequence[Row], modules: Iterable[tuple[str, int]], kind: Kind, not_this: Key) -> list[Row]:
    wanted = set(modules)
    return [
        row
        for row in rows
        if row.pair.b.kind is kind
        and (row.pair.b.module, row.pair.b.call) in wanted
        and not (kind is not_this.kind and row.pair.b.module == not_this.module)
    ]


def _feeding(key: Key, calls: Sequence[CallInfo]) -> list[tuple[str, int]]:
    for one in calls:
        if (one.path, one.call, one.phase) == (key.module, key.call, key.phase):
            return [(calls[place].path, calls[place].call) for place in one.feeds_from if place < len(calls)]
    return []


def floor_bases(rows: Iterable[Row]) -> dict[Basis, int]:
    """How many rows were judged by which kind of floor."""
    found: dict[Basis, int] = {}
    for row in rows:
        found[row.floor.basis] = found.get(row.floor.basis, 0) + 1
    return found
