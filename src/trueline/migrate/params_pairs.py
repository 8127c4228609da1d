"""Two parameter tables side by side: which tensor is which, what differs, what only one side has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from trueline.compare.align import Alignment, Item, Layout, Leftover, Pair, Rules, Structure, align
from trueline.compare.align.shapes import layout
from trueline.migrate.modules import Naming
from trueline.migrate.params import Listed, Listing
from trueline.migrate.params_numbers import mark_of
from trueline.model.key import Key, Kind
from trueline.model.message import Message, message

_COUNTER: Final = "num_batches_tracked"


class Differs(StrEnum):
    """In what a pair differs; another dtype alone is no other network."""

    SHAPE = "shape"
    TRAINED = "trained"
    DTYPE = "dtype"


@dataclass(frozen=True, slots=True)
class Paired:
    """A tensor here and the same one there; ``layout`` is None where the shapes contradict."""

    pair: Pair
    a: Listed
    b: Listed
    layout: Layout | None

    @property
    def differs(self) -> list[Differs]:
        """In what they differ."""
        found = [Differs.SHAPE] if self.layout is None else []
        known = self.a.trainable is not None and self.b.trainable is not None
        kept = self.a.buffer or self.b.buffer
        if known and not kept and self.a.trainable is not self.b.trainable:
            found.append(Differs.TRAINED)
        return [*found, Differs.DTYPE] if self.a.dtype != self.b.dtype else found

    @property
    def counts(self) -> bool:
        """Whether it makes another network."""
        return any(differs is not Differs.DTYPE for differs in self.differs)


@dataclass(frozen=True, slots=True)
class Alone:
    """A tensor of one side only; ``why`` says why that is no difference, None where it is one."""

    one: Listed
    nearest: str | None = None
    why: Message | None = None


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Pairs in the order of ``b``, what is left on both sides, and how many the user left out."""

    a: Listing
    b: Listing
    pairs: Sequence[Paired]
    only_a: Sequence[Alone]
    only_b: Sequence[Alone]
    ignored: int = 0

    def with_difference(self, what: Differs) -> list[Paired]:
        """The pairs that differ in this."""
        return [pair for pair in self.pairs if what in pair.differs]

    def by_size(self) -> SideBySide:
        """The same, the largest first."""
        only_a, only_b = (sorted(left, key=lambda alone: -alone.one.count) for left in (self.only_a, self.only_b))
        pairs = sorted(self.pairs, key=lambda pair: -max(pair.a.count, pair.b.count))
        return replace(self, pairs=pairs, only_a=only_a, only_b=only_b)


def pair_up(a: Listing, b: Listing, rules: Rules | None = None) -> SideBySide:
    """Align two listings by names, layers and shapes; elements decide only between equally good candidates."""
    here, there = _by_key(a), _by_key(b)
    marks = _Marks()
    alignment = align(
        Structure([Item(key, tensor.shape, tensor.dtype) for key, tensor in here.items()], a.types),
        Structure([Item(key, tensor.shape, tensor.dtype) for key, tensor in there.items()], b.types),
        rules or Rules(),
        lambda x, y: marks.same(here[x], there[y]),
    )
    if rules is not None:
        rules.need_used([alignment])
    pairs = [_paired(pair, here[pair.a], there[pair.b]) for pair in alignment.pairs]
    left_a = _Leaving(a, b, [pair.a for pair in pairs], marks, _renamed(alignment, of_a=True))
    left_b = _Leaving(b, a, [pair.b for pair in pairs], marks, _renamed(alignment, of_a=False))
    return SideBySide(
        a,
        b,
        pairs,
        [left_a.alone(here[leftover.key], leftover) for leftover in alignment.only_a],
        [left_b.alone(there[leftover.key], leftover) for leftover in alignment.only_b],
        alignment.ignored,
    )


def _by_key(listing: Listing) -> dict[Key, Listed]:
    return {Key.of_parameter(tensor.name, Kind.PARAM): tensor for tensor in listing.tensors}


def _paired(pair: Pair, a: Listed, b: Listed) -> Paired:
    return Paired(pair, a, b, layout(a.shape, b.shape))


def _renamed(alignment: Alignment, *, of_a: bool) -> Mapping[str, str]:
    """A module's path on the other side, where it is another."""
    return {a: b for b, a in alignment.renamed.items()} if of_a else alignment.renamed


class _Marks:
    """What tells equal elements, read when first asked for."""

    def __init__(self) -> None:
        self._known: dict[int, int | None] = {}

    def of(self, tensor: Listed) -> int | None:
        if tensor.summary is not None:
            return tensor.summary.fingerprint
        if tensor.stored is None:
            return None
        if id(tensor) not in self._known:
            self._known[id(tensor)] = mark_of(tensor.stored)
        return self._known[id(tensor)]

    def same(self, a: Listed, b: Listed) -> bool | None:
        here, there = self.of(a), self.of(b)
        return here == there if here is not None and there is not None else None


class _Leaving:
    """Tells what is left over on one side because the other's framework has no such thing, from what is missing."""

    def __init__(
        self, side: Listing, listing: Listing, paired: Sequence[Listed], marks: _Marks, renamed: Mapping[str, str]
    ) -> None:
        self._other = listing
        self._renamed = renamed
        self._marks = marks
        self._extras = side.naming is Naming.MINDSPORE and listing.naming is Naming.TORCH
        self._names = {listed.name for listed in paired}
        self._sharing = {listed.shared_with: listed.name for listed in paired if listed.shared_with is not None}
        self._paths = {listed.path for listed in paired}
        self._alike: dict[tuple[tuple[int, ...], str], list[Listed]] = {}
        for tensor in paired:
            self._alike.setdefault((tensor.shape, tensor.dtype), []).append(tensor)

    def alone(self, tensor: Listed, left: Leftover) -> Alone:
        return Alone(tensor, left.nearest.parameter if left.nearest is not None else None, self._why(tensor))

    def _why(self, tensor: Listed) -> Message | None:
        row = tensor.row
        only = (*row.only_torch, *row.only_mindspore) if row is not None else ()
        if tensor.leaf == _COUNTER or tensor.leaf in only:
            return message("params.no_counterpart", leaf=tensor.leaf)
        same = self._same_as(tensor)
        if same is not None:
            return message("params.same_tensor", name=same)
        if (
            row is not None
            and self._extras
            and row.torch_leaf(tensor.leaf) in row.neutral
            and self._layer_is_there(tensor)
        ):
            return message("params.neutral", layer=tensor.layer)
        return None

    def _same_as(self, tensor: Listed) -> str | None:
        """A tensor of the same side that has found its like and has the same elements."""
        if tensor.shared_with in self._names:
            return tensor.shared_with
        if tensor.name in self._sharing:
            return self._sharing[tensor.name]
        # Vectors of zeros or ones are equal without being the same.
        alike = self._alike.get((tensor.shape, tensor.dtype), ()) if len(tensor.shape) > 1 else ()
        return next((listed.name for listed in alike if self._marks.same(tensor, listed)), None)

    def _layer_is_there(self, tensor: Listed) -> bool:
        """Whether the other side has the layer: with fewer tensors, or with none."""
        if tensor.path in self._paths:
            return True
        layer = self._other.layer_at(self._renamed.get(tensor.path, tensor.path))
        return layer is not None and layer is tensor.row
