"""A block of both sides, operator by operator, with what certain tensors make in it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from trueline.adapters.guest.trouble import SideTrouble
from trueline.kernel.array import Array
from trueline.pair.aligning.aligned import Aligned
from trueline.pair.aligning.effects import behind, known_on, moved, own_values
from trueline.pair.aligning.matching import Matched, match_calls
from trueline.pair.aligning.whole_and_pieces import Pieces
from trueline.pair.ops.channels import laid_as
from trueline.pair.ops.input_mapping import taken
from trueline.pair.ops.op_graph import Graph
from trueline.pair.questions.blocks import BlockSpec, InnerSpec, WatchOperators
from trueline.pair.questions.recording import Call, Recording
from trueline.pair.sides.side import Side


@dataclass(frozen=True)
class WatchedBlock:
    """One call of a block on the benchmark's values: its operators there, and the port's with its own weights."""

    spec: BlockSpec
    bench: Graph
    before: Graph

    def now(self, port: Side) -> Graph | None:
        """The port's operators with the weights that it has now; None where these do not suit it."""
        try:
            return port.answer(WatchOperators(self.spec, train=False))
        except SideTrouble:
            return None

    def borne_out(self, port: Graph, pieces: Pieces) -> set[int]:
        """The places of the pieces out of which the port, since it has them, makes what the benchmark makes of it."""
        names = [[tensor.name for tensor in tensors] for tensors in (pieces.bench, pieces.port)]
        theirs = behind(self.bench, own_values(self.bench, names[0]))
        ours = behind(port, own_values(port, names[1]))
        changed = list(moved(port, self.before, ours))
        if len(names[0]) > 1:
            known = known_on(self.bench, theirs, port, changed)
            return {place for place, name in enumerate(names[0]) if _reach(self.bench, name, known)}
        known = known_on(port, changed, self.bench, theirs)
        return {place for place, name in enumerate(names[1]) if _reach(port, name, known, changed)}


def _reach(graph: Graph, name: str, known: Collection[int], changed: Collection[int] | None = None) -> bool:
    """Whether some values are made out of a tensor, by way of what it directly makes; that has ``changed``, too."""
    own = [value for value in own_values(graph, [name]) if changed is None or value in changed]
    return bool({*behind(graph, own)} & {*known})


@dataclass(frozen=True)
class Blocks:
    """The calls of both sides; ``lone`` are paths of tensors without a counterpart, the benchmark's and the port's."""

    sides: tuple[Side, Side]
    recordings: tuple[Recording, Recording]
    matched: Sequence[Matched]
    lone: tuple[Sequence[str], Sequence[str]]

    @classmethod
    def of(cls, sides: tuple[Side, Side], aligned: Aligned, recordings: tuple[Recording, Recording]) -> Blocks:
        """Of what both sides recorded."""
        lone = [
            [described.paths.get(parameter.name, parameter.name) for parameter in left]
            for described, left in ((aligned.bench, aligned.only_bench), (aligned.port, aligned.only_port))
        ]
        return cls(sides, recordings, match_calls(aligned, *recordings), (lone[0], lone[1]))

    def watched(self, block: tuple[str, str]) -> Iterator[WatchedBlock]:
        """The last and the first call of a block, or of the innermost around it that runs on the benchmark's inputs."""
        calls = [call for call in self.matched if (call.bench.path, call.port.path) == block]
        for call in dict.fromkeys((*calls[-1:], *calls[:1])):
            around: Matched | None = call
            while around is not None:
                watched = self._watched(around)
                if watched is not None:
                    yield watched
                    break
                around = self._around(around)

    def _watched(self, matched: Matched) -> WatchedBlock | None:
        bench, port = self.sides
        inputs = self._inputs(matched)
        if inputs is None:
            return None
        inner = list(self._inner(matched))
        spec = BlockSpec(matched.port.path, matched.port.call, inputs, [here for _, here in inner])
        given = [self.recordings[0].arrays[place] for place in matched.bench.ins]
        other = BlockSpec(matched.bench.path, matched.bench.call, given, [there for there, _ in inner])
        try:
            before = port.answer(WatchOperators(spec, train=False))
            return WatchedBlock(spec, bench.answer(WatchOperators(other, train=False)), before)
        except SideTrouble:
            return None

    def _inputs(self, matched: Matched) -> list[Array] | None:
        """The benchmark's inputs as the port's call takes them."""
        arrays = [self.recordings[0].arrays[place] for place in matched.ins]
        shapes = [self.recordings[1].shapes[place] for place in matched.port.ins]
        if len(arrays) != len(shapes):
            places = taken([(array.dtype.name, array.shape) for array in arrays], shapes)
            if places is None:
                return None
            arrays = [arrays[place] for place in places]
        return _laid(arrays, shapes)

    def _inner(self, matched: Matched) -> Iterator[tuple[InnerSpec, InnerSpec]]:
        """The calls in a block that have nothing without a counterpart in them, as both sides are asked for them."""
        by_name = {call.called: call for call in self.matched}
        for call in self.matched:
            if not self._is_given(call) or call.silent:
                continue
            above = self.recordings[1].calls[call.port.parent] if call.port.parent is not None else None
            while above is not None and above is not matched.port:
                known = by_name.get((above.path, above.call))
                if known is not None and not known.silent and self._is_given(known):
                    break
                above = self.recordings[1].calls[above.parent] if above.parent is not None else None
            if above is matched.port:
                there, here = self._outs(call)
                yield (
                    InnerSpec(call.bench.path, call.bench.path, there, None),
                    InnerSpec(call.port.path, call.bench.path, here, None),
                )

    def _is_given(self, call: Matched) -> bool:
        """Whether a call has nothing to do with the tensors in question, and its result may be the benchmark's."""
        held = (_is_in(call.bench, self.lone[0]), _is_in(call.port, self.lone[1]))
        return call.own is None and not any(held) and self._outs(call)[1] is not None

    def _outs(self, call: Matched) -> tuple[list[Array], list[Array] | None]:
        """What the benchmark's call gave, and that as the port's gives it, if it can be."""
        arrays = [self.recordings[0].arrays[place] for place in call.bench.outs]
        shapes = [self.recordings[1].shapes[place] for place in call.port.outs]
        return arrays, _laid(arrays, shapes) if len(arrays) == len(shapes) else None

    def _around(self, matched: Matched) -> Matched | None:
        by_name = {call.called: call for call in self.matched}
        place = matched.port.parent
        while place is not None:
            call = self.recordings[1].calls[place]
            if (call.path, call.call) in by_name:
                return by_name[call.path, call.call]
            place = call.parent
        return None


def _laid(arrays: Sequence[Array], shapes: Sequence[tuple[str, tuple[int, ...]]]) -> list[Array] | None:
    """Arrays as the port has them; None where one is something else there, as a mask may be."""
    laid = [laid_as(array, shape) for array, (_, shape) in zip(arrays, shapes, strict=True)]
    pairs = zip(laid, shapes, strict=True)
    fits = all(
        array.shape == shape and (array.dtype.kind in "biu") is ("float" not in dtype)
        for array, (dtype, shape) in pairs
    )
    return laid if fits else None


def _is_in(call: Call, tensors: Sequence[str]) -> bool:
    return not call.path or any(path.startswith(f"{call.path}.") for path in tensors)
