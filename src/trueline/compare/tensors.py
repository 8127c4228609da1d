"""Tensors of a step, file or dump in their order: how far each pair is apart, and the first that really is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from trueline.compare.align import Item, Layout, Pair, Rules, Structure, align
from trueline.compare.by_values import pair_by_values
from trueline.compare.fan_out import measure_all
from trueline.compare.floors import Floors
from trueline.compare.judging import Judge
from trueline.compare.levels import BACKWARD, KEPT
from trueline.compare.measure import Task, distance_of_numbers
from trueline.compare.rows import Network, Row, Tensor, Tensors
from trueline.model.distance import Distance
from trueline.model.key import Key, Kind
from trueline.model.run import CallInfo

_AT_ONCE: Final = 1 << 20


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
    here, there = {tensor.key: tensor for tensor in a}, {tensor.key: tensor for tensor in b}
    alignment = align(
        _structure(a, networks[0]), _structure(b, networks[1]), how.rules, lambda x, y: _same(here[x], there[y])
    )
    alignment = pair_by_values(alignment, here, there)
    pairs = [(pair, here[pair.a], there[pair.b]) for pair in alignment.pairs]
    judge = Judge(how.floors, networks[1], step, in_order)
    if before is not None:
        judge.switched, judge.seen = before.switched, before.seen
    rows = judge.rows(pairs, _distances(pairs, how))
    first = next((place for place, row in enumerate(rows) if row.differs), None)
    agree = _inputs_agree(rows, first, networks[1].calls) if first is not None else None
    return Tensors(step, a, b, rows, alignment, first, agree, judge.switched, judge.seen)


def _structure(tensors: Sequence[Tensor], network: Network) -> Structure:
    return Structure([Item(tensor.key, tensor.shape, tensor.dtype) for tensor in tensors], network.types, network.calls)


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
        Task(a.stored, b.stored, pair.layout if pair.b.kind in KEPT else Layout.SAME, rtol, atol)
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
    for call in calls:
        if (call.path, call.call, call.phase) == (key.module, key.call, key.phase):
            return [(calls[place].path, calls[place].call) for place in call.feeds_from if place < len(calls)]
    return []
