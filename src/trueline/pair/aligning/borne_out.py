"""Parameters that are cut or laid otherwise, where values bear it out.

A port may have a convolution over two joined inputs as two that are added, one parameter for all layers, a linear layer
on patches. Shapes only say what may be. What is guessed is tried: the port is given the benchmark's weights so, and the
block around runs on the benchmark's inputs. Where it then makes what the benchmark makes of these weights, and did not
before, the tensors are each other's. What holds in a block holds in others of its classes.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations
from typing import Final

from trueline.compare.align import Layout
from trueline.compare.align.shapes import layout
from trueline.kernel.array import Array
from trueline.model.finding import Certainty
from trueline.pair.aligning.aligned import Aligned, apart, carry_over
from trueline.pair.aligning.cuts import Cut, Lay, cuts
from trueline.pair.aligning.param_pair import ParamPair
from trueline.pair.aligning.rest import with_rest
from trueline.pair.aligning.watched_block import Blocks, WatchedBlock
from trueline.pair.aligning.whole_and_pieces import Pieces
from trueline.pair.ops.op_graph import Graph
from trueline.pair.questions.model import GetWeights, PutWeights
from trueline.pair.questions.recording import Recording
from trueline.pair.sides.side import Side

_MOST_TRIES: Final = 8
_MOST_ROTATED: Final = 8
_MOST_REORDERED: Final = 3
_MOST_AXES: Final = 5
# Of blocks of the same classes so many are run.
_INSTANCES: Final = 2


def with_cuts(sides: tuple[Side, Side], aligned: Aligned, recordings: tuple[Recording, Recording]) -> Aligned:
    """The same with tensors of both sides put together that only lie or are cut otherwise, as values show."""
    found = list(cuts(aligned))
    if not found:
        return aligned
    bench, port = sides
    carry_over(bench, port, aligned)
    names = {tensor.name for ways in found for cut in ways for tensor in cut.pieces.port}
    own = port.answer(GetWeights(sorted(names)))
    accepted = _Trying(sides, Blocks.of(sides, aligned, recordings), _wholes(found)).run()
    given = {tensor.name for pieces in accepted for tensor in pieces.port}
    port.answer(PutWeights({name: array for name, array in own.items() if name not in given}))
    return with_rest(_joined(aligned, accepted), recordings)


def _joined(aligned: Aligned, accepted: Sequence[Pieces]) -> Aligned:
    """Single tensors that lie alike are a pair as any other, and so are their layers; the others are in pieces.

    So are those that a port uses in another order.
    """
    pairs, modules = list(aligned.pairs), dict(aligned.modules)
    cut = []
    for pieces in accepted:
        fits = layout(pieces.bench[0].shape, pieces.port[0].shape)
        if pieces.order is None and (len(pieces.bench) > 1 or len(pieces.port) > 1 or fits is None):
            cut.append(pieces)
            continue
        (there,), (here,) = pieces.bench_paths(aligned.bench), pieces.port_paths(aligned.port)
        # Weights are flattened as they lie: that a port uses them in another order is to be found.
        lies = Layout.TRANSPOSED if pieces.turned else fits or Layout.SQUEEZED
        pairs.append(ParamPair(pieces.bench[0], pieces.port[0], there, here, lies, Certainty.LIKELY))
        owners = here.rpartition(".")[0], there.rpartition(".")[0]
        if owners[0] not in modules and owners[1] not in modules.values():
            modules[owners[0]] = owners[1]
    known = {id(tensor) for pair in pairs for tensor in (pair.bench, pair.port)}
    left = [[tensor for tensor in lone if id(tensor) not in known] for lone in (aligned.only_bench, aligned.only_port)]
    return apart(replace(aligned, pairs=pairs, modules=modules, only_bench=left[0], only_port=left[1]), cut)


@dataclass
class _Wholes:
    """Tensors at the same place of blocks of the same classes, with the cuts of each by their kinds, likeliest first.

    ``best`` is what bore out most: its kind, the order of its pieces, and how many of them.
    """

    ways: Sequence[Mapping[Hashable, Cut]]
    tried: list[Hashable] = field(default_factory=list)
    best: tuple[Hashable, Sequence[int], int] | None = None

    @property
    def kinds(self) -> list[Hashable]:
        return list(dict.fromkeys(kind for ways in self.ways for kind in ways))

    @property
    def is_whole(self) -> bool:
        """Whether all pieces are borne out."""
        return self.best is not None and self.best[2] == len(self.best[1])

    def of(self, kind: Hashable) -> list[Cut]:
        return [ways[kind] for ways in self.ways if kind in ways]

    def taken(self, kind: Hashable) -> set[int]:
        return {id(tensor) for cut in self.of(kind) for tensor in (*cut.pieces.bench, *cut.pieces.port)}


def _wholes(found: Sequence[Sequence[Cut]]) -> list[_Wholes]:
    groups: dict[Hashable, list[Mapping[Hashable, Cut]]] = {}
    for ways in found:
        by_kind: dict[Hashable, Cut] = {}
        for cut in ways:
            by_kind.setdefault(cut.kind, cut)
        groups.setdefault(ways[0].whole, []).append(by_kind)
    return [_Wholes(ways) for ways in groups.values()]


_Try = tuple[_Wholes, Hashable, Sequence[int] | None]


class _Trying:
    def __init__(self, sides: tuple[Side, Side], blocks: Blocks, wholes: Sequence[_Wholes]) -> None:
        self.bench, self.port = sides
        self._wholes = wholes
        self._watched: dict[tuple[str, str], list[WatchedBlock]] = {}
        for cut in self._instances():
            if cut.block not in self._watched:
                self._watched[cut.block] = list(blocks.watched(cut.block))
        names = sorted({tensor.name for cut in self._all() for tensor in cut.pieces.bench})
        self._weights: Mapping[str, Array] = self.bench.answer(GetWeights(names))

    def run(self) -> list[Pieces]:
        """The cuts that are borne out, with their pieces in the order that is."""
        for _ in range(_MOST_TRIES):
            chosen = self._chosen()
            if not chosen:
                break
            self._try([(wholes, kind, None) for wholes, kind in chosen])
        for wholes in self._wholes:
            if not wholes.is_whole and wholes.tried:
                self._reorder(wholes)
        return [*self._accepted(), *(pieces for wholes in self._wholes for pieces in self._in_another_order(wholes))]

    def _all(self) -> Iterator[Cut]:
        return (cut for wholes in self._wholes for ways in wholes.ways for cut in ways.values())

    def _instances(self) -> Iterator[Cut]:
        return (cut for wholes in self._wholes for ways in wholes.ways[:_INSTANCES] for cut in ways.values())

    def _chosen(self) -> list[tuple[_Wholes, Hashable]]:
        """For each that is not decided the next way that takes nothing that is taken."""
        taken = {
            tensor
            for wholes in self._wholes
            if wholes.best is not None and wholes.is_whole
            for tensor in wholes.taken(wholes.best[0])
        }
        found = []
        for wholes in self._wholes:
            if wholes.is_whole:
                continue
            free = (kind for kind in wholes.kinds if kind not in wholes.tried and not taken & wholes.taken(kind))
            kind = next(free, None)
            if kind is not None:
                wholes.tried.append(kind)
                taken |= wholes.taken(kind)
                found.append((wholes, kind))
        return found

    def _try(self, chosen: Sequence[_Try]) -> list[set[int]]:
        """Give the port the weights so, and see which pieces of each are borne out."""
        made = [[_ordered(cut, order) for cut in wholes.of(kind)] for wholes, kind, order in chosen]
        put = (item for some in made for cut in some for item in cut.pieces.laid(self._weights))
        self.port.answer(PutWeights(dict(put)))
        graphs: dict[int, Graph | None] = {}
        found: list[set[int]] = []
        for (wholes, kind, order), some in zip(chosen, made, strict=True):
            places = max((self._borne_out(cut, graphs) for cut in some), key=len, default=set())
            found.append(places)
            if places and (wholes.best is None or len(places) > wholes.best[2]):
                wholes.best = kind, order or range(len(some[0].pieces.parts)), len(places)
        return found

    def _borne_out(self, cut: Cut, graphs: dict[int, Graph | None]) -> set[int]:
        found: set[int] = set()
        for block in self._watched.get(cut.block, ()):
            if id(block) not in graphs:
                graphs[id(block)] = block.now(self.port)
            graph = graphs[id(block)]
            found |= block.borne_out(graph, cut.pieces) if graph is not None else set()
        return found

    def _in_another_order(self, wholes: _Wholes) -> Iterator[Pieces]:
        """A single tensor that a port uses with its axes in another order: pixels that are flattened otherwise."""
        flat = [kind for kind in wholes.tried if wholes.best is None and wholes.of(kind)[0].lay is Lay.FLAT]
        for kind in flat:
            (cut, *_) = made = wholes.of(kind)
            axes = max(len(tensor.shape or ()) for tensor in (cut.pieces.whole, *cut.pieces.parts))
            if len(cut.pieces.parts) > 1 or axes > _MOST_AXES:
                continue
            for inner in permutations(range(1, axes)):
                turned = [replace(other, pieces=replace(other.pieces, order=(0, *inner))) for other in made]
                put = (item for other in turned for item in other.pieces.laid(self._weights))
                self.port.answer(PutWeights(dict(put)))
                if any(self._borne_out(other, {}) for other in turned):
                    yield from (other.pieces for other in turned)
                    return

    def _reorder(self, wholes: _Wholes) -> None:
        """Its pieces in other orders than that of their definition, in the likeliest ways to cut."""
        for kind in [wholes.best[0]] if wholes.best is not None else wholes.tried[:_MOST_REORDERED]:
            count = len(wholes.of(kind)[0].pieces.parts)
            if 1 < count <= _MOST_ROTATED and not wholes.is_whole:
                self._rotate(wholes, kind, count)

    def _rotate(self, wholes: _Wholes, kind: Hashable, count: int) -> None:
        """Each piece in each place, then all where they are borne out."""
        at: dict[int, int] = {}
        for turn in range(count):
            order = [(place + turn) % count for place in range(count)]
            (places,) = self._try([(wholes, kind, order)])
            for place in places:
                if order[place] not in at.values():
                    at.setdefault(place, order[place])
        rest = [part for part in range(count) if part not in at.values()]
        order = [at[place] if place in at else rest.pop(0) for place in range(count)]
        if wholes.best is not None and len(at) > wholes.best[2]:
            self._try([(wholes, kind, order)])

    def _accepted(self) -> Iterator[Pieces]:
        """What is borne out for half of its pieces at least; what is for more of them comes first."""
        best = [(wholes, *wholes.best) for wholes in self._wholes if wholes.best is not None]
        taken: set[int] = set()
        for wholes, kind, order, count in sorted(best, key=lambda found: -found[3] / len(found[2])):
            tensors = wholes.taken(kind)
            if 2 * count >= len(order) and not taken & tensors:
                taken |= tensors
                yield from (_ordered(cut, order).pieces for cut in wholes.of(kind))


def _ordered(cut: Cut, order: Sequence[int] | None) -> Cut:
    """A cut with its pieces in another order."""
    if order is None:
        return cut
    parts, pieces = [cut.pieces.parts[place] for place in order], cut.pieces
    several = len(pieces.bench) > 1
    return replace(cut, pieces=replace(pieces, bench=parts) if several else replace(pieces, port=parts))
