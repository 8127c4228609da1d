"""Two weight files, folders of arrays or dumps."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Final

from trueline.compare.align import Alignment, Layout, Leftover
from trueline.compare.measure import Task
from trueline.compare.rows import Network, Row, Tensor, Tensors
from trueline.compare.tensors import How, compare_tensors
from trueline.compare.verdict import Verdict, worst
from trueline.formats.dump import Dump, Dumped
from trueline.formats.stored import Stored
from trueline.formats.weights import MODEL, Weights
from trueline.kernel import Parts
from trueline.model.key import Key, Kind
from trueline.model.trouble import BadUsage

_NO_COUNTERPART: Final = frozenset({"num_batches_tracked"})
_WITHIN: Final = {Kind.IN: 0, Kind.PARAM: 0, Kind.BUFFER: 0}
_DIGITS: Final = re.compile(r"(\d+)")
# Two numbers always have a factor, or nearly.
_MIN_SCALED_ELEMENTS: Final = 3
# What is left of a scaled tensor's distance once its factor is taken out.
_ONE_FACTOR: Final = 1 - 1e-9


@dataclass(frozen=True, slots=True)
class Part:
    """What was compared at once: a section of weight files, or a step and rank of dumps."""

    name: str
    tensors: Tensors
    step: int | None = None
    rank: int | None = None
    section: bool = False


@dataclass(frozen=True, slots=True)
class ArraysComparison:
    """``a`` against the benchmark ``b``; ``in_order`` where the order of tensors is that of execution.

    ``unmatched`` are sections that only one side has.
    """

    a: Path
    b: Path
    parts: Sequence[Part]
    in_order: bool
    unmatched: Mapping[str, str] = field(default_factory=dict)

    @property
    def verdict(self) -> Verdict | None:
        """The worst of all, None where nothing could be compared."""
        verdicts = [part.tensors.verdict for part in self.parts]
        left = any(self.leftovers(part) != (0, 0) for part in self.parts)
        return worst([verdict for verdict in verdicts if verdict is not None] + [Verdict.DIFFERS] * left)

    @property
    def main(self) -> Part | None:
        """The first part that differs, else the first."""
        differing = (part for part in self.parts if part.tensors.first is not None)
        return next(differing, self.parts[0] if self.parts else None)

    @property
    def first(self) -> Row | None:
        """The first row that differs; where order means nothing, the furthest apart."""
        part = self.main
        if part is None or part.tensors.first is None:
            return None
        if self.in_order:
            return part.tensors.first_row
        return max(part.tensors.differing, key=lambda row: row.level)

    @property
    def alignments(self) -> Sequence[Alignment]:
        """How names were paired, part by part."""
        return [part.tensors.alignment for part in self.parts]

    def leftovers(self, part: Part) -> tuple[int, int]:
        """How many tensors only a, only b has, without those that cannot have a counterpart."""
        # What an optimizer keeps is every framework's own affair.
        if part.section and part.name != MODEL:
            return 0, 0
        tensors, alignment = part.tensors, part.tensors.alignment
        return len(counted(alignment.only_a, tensors.a)), len(counted(alignment.only_b, tensors.b))


def counted(left: Sequence[Leftover], tensors: Sequence[Tensor]) -> list[Leftover]:
    """Those left over that could have a counterpart: not counters, nor second names of what has one."""
    if not left:
        return []
    of = {tensor.key: tensor for tensor in tensors}
    alone = {leftover.key for leftover in left}
    shared = {tensor.stored.shared_with for tensor in tensors if tensor.stored is not None and tensor.key not in alone}
    named = {tensor.name for tensor in tensors if tensor.key not in alone}
    return [
        leftover
        for leftover in left
        if leftover.key.index not in _NO_COUNTERPART and not _has_another_name(of[leftover.key], named, shared)
    ]


def _has_another_name(tensor: Tensor, named: set[str], shared: set[str | None]) -> bool:
    stored = tensor.stored
    return stored is not None and (stored.shared_with in named or stored.name in shared or tensor.name in shared)


def compare_weights(a: Weights, b: Weights, how: How) -> ArraysComparison:
    """Two weight files, section by section."""
    parts = []
    unmatched = {}
    for section in dict.fromkeys([MODEL, *a.sections, *b.sections]):
        here, there = a.sections.get(section, {}), b.sections.get(section, {})
        if section != MODEL and not (here and there):
            unmatched[section] = str(a.path if here else b.path)
            continue
        tensors = compare_tensors(_named(here, Kind.PARAM), _named(there, Kind.PARAM), how, in_order=False)
        parts.append(Part(section, tensors, section=True))
    return ArraysComparison(a.path, b.path, parts, in_order=False, unmatched=unmatched)


def compare_folders(
    a: Path, b: Path, here: Mapping[str, Stored], there: Mapping[str, Stored], how: How
) -> ArraysComparison:
    """Two folders of arrays, in the order of their names, numbers in them counting as numbers."""
    sides = [dict(sorted(one.items(), key=lambda item: natural(item[0]))) for one in (here, there)]
    here_all, there_all = (_named(side, Kind.OUT) for side in sides)
    if len(here_all) == len(there_all) == 1:
        # Two single arrays are meant to be compared, whatever they are called.
        here_all = [replace(here_all[0], key=there_all[0].key)]
    tensors = compare_tensors(here_all, there_all, how)
    return ArraysComparison(a, b, [Part("", tensors)], in_order=True)


def compare_dumps(a: Dump, b: Dump, how: How, rank: int | None = None) -> ArraysComparison:
    """Two dumps: the steps that both have, rank by rank, up to the first step that differs."""
    both = sorted(set(a.steps) & set(b.steps))
    if not both:
        steps = {"steps_a": _places(a), "steps_b": _places(b)}
        raise BadUsage("compare.no_common_step", a=str(a.path), b=str(b.path), **steps)
    if rank is not None:
        ranks = ", ".join(str(one) for one in sorted({number for _, number in both}))
        both = [one for one in both if one[1] == rank]
        if not both:
            raise BadUsage("compare.no_such_rank", rank=rank, ranks=ranks)
    parts: list[Part] = []
    stopped: int | None = None
    for step, number in both:
        if stopped is not None and step > stopped:
            break
        sides = (a.steps[step, number], b.steps[step, number])
        networks = (_network(sides[0]), _network(sides[1]))
        tensors = compare_tensors(_dumped(sides[0]), _dumped(sides[1]), how, step=step, networks=networks)
        parts.append(Part("", tensors, step, number))
        if tensors.first is not None:
            stopped = step
    return ArraysComparison(a.path, b.path, parts, in_order=True)


def natural(name: str) -> list[object]:
    """A name as it sorts where numbers count as numbers."""
    return [(1, int(part), "") if part.isdigit() else (0, 0, part) for part in _DIGITS.split(name)]


def one_factor(row: Row) -> float | None:
    """The factor that alone makes ``a`` of ``b``, where there is one."""
    found = row.distance
    if row.a.stored is None or row.b.stored is None or found.worst_index is None or not found.comparable:
        return None
    if isinstance(row.a.stored.elements(), Parts) or isinstance(row.b.stored.elements(), Parts):
        return None
    if (
        not abs(found.cosine) > _ONE_FACTOR
        or found.relative_l2 <= row.floor.value
        or found.count < _MIN_SCALED_ELEMENTS
    ):
        return None
    if row.a.stored.dtype.kind in "iub":
        return None
    here, there = row.a.stored.array(), row.b.stored.array()
    if here.shape != there.shape:
        return None
    bottom = float(there[found.worst_index])
    factor = float(here[found.worst_index]) / bottom if bottom else math.nan
    return factor if math.isfinite(factor) and f"{factor:.6g}" != "1" else None


def is_transposed(row: Row) -> bool:
    """Whether a square matrix is the other side's, transposed."""
    if row.a.stored is None or row.b.stored is None or len(row.a.shape) != 2 or row.a.shape[0] != row.a.shape[1]:
        return False
    swapped = replace(row.pair, layout=Layout.TRANSPOSED)
    return Task(row.a.stored, row.b.stored, swapped.layout).run().identical


def _named(arrays: Mapping[str, Stored], kind: Kind) -> list[Tensor]:
    found = []
    for name, stored in arrays.items():
        key = Key.of_parameter(name, kind) if kind is Kind.PARAM else Key.of(name, kind)
        found.append(Tensor(key, name, stored.shape, str(stored.dtype), stored))
    return found


def _dumped(tensors: Iterable[Dumped]) -> list[Tensor]:
    """In order of execution; a layer's own weights come before what it makes of them."""
    ordered: list[Dumped] = []
    for _, group in groupby(tensors, key=lambda tensor: (tensor.key.phase, tensor.key.module, tensor.key.call)):
        ordered += sorted(group, key=lambda dumped: _WITHIN.get(dumped.key.kind, 1))
    return [
        Tensor(dumped.key, dumped.name, dumped.shape, dumped.dtype, dumped.stored, dumped.numbers) for dumped in ordered
    ]


def _network(tensors: Sequence[Dumped]) -> Network:
    return Network({tensor.key.module: tensor.type for tensor in tensors if tensor.type})


def _places(dump: Dump) -> str:
    """The steps of a dump, as a sentence lists them."""
    steps = sorted({step for step, _ in dump.steps})
    shown = ", ".join(str(step) for step in steps[:10])
    return f"{shown}, ..." if len(steps) > 10 else shown or "-"
