"""Why gradients part where all values agree: stopped, scaled, or made by a backward that is not its forward's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final

from trueline.adapters.guest.trouble import SideTrouble
from trueline.compare.noise import tensor_floor
from trueline.kernel.array import Array
from trueline.model.location import Location
from trueline.model.message import Message, message
from trueline.pair.backward.block_gradients import furthest, gradients_between, multiple_of, parted, size_of
from trueline.pair.backward.custom_backward import custom_backward_causes
from trueline.pair.backward.gradient_words import line_text, number_text, value_name
from trueline.pair.backward.missing_stop import unstopped_at
from trueline.pair.backward.reach import stops_by_reach
from trueline.pair.backward.slopes import CheckedBackward, check_custom_backward, check_differences
from trueline.pair.backward.stops import without_stops
from trueline.pair.blame import Blame, Cause, Stage, module_name
from trueline.pair.ops.op_level import BlockCall, op_graphs
from trueline.pair.questions.blocks import Between, Undo
from trueline.pair.sides.side import Side

_DEPTH: Final = 8
_MOST_INPUTS: Final = 64
# Gradients that are nearer than this are the same, whatever rounding there is; a fault moves them much further.
_SAME_GRADIENT: Final = 1e-3
_RAISED: Final = "side.raised_running"
# One question carries no more than this.
_MAX_BYTES: Final = 64 << 20
_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})


def backward_causes(
    bench: Side,
    port: Side,
    blocks: Iterable[BlockCall],
    *,
    inputs: Sequence[Array],
    counterparts: Mapping[str, str],
    parameters: Mapping[str, str] = _NOTHING,
    floor: float | None = None,
    differing: Collection[str] = (),
) -> list[Blame]:
    """What is wrong with the gradients of these blocks, and with every backward that someone wrote.

    ``blocks`` are the calls whose gradients may part, with all that both sides have in them as layers; ``inputs`` the
    model's; ``counterparts`` the benchmark's path of each of the port's modules, ``parameters`` that of each parameter;
    ``differing`` are blocks whose values differ already: of them only what can be confirmed is looked for.
    """
    custom = check_custom_backward(bench, inputs), check_custom_backward(port, inputs)
    blames: list[Blame] = []
    for some in _portions(blocks):
        pairs = zip(
            some,
            _asked(bench, some, of_port=False),
            _asked(port, some, of_port=True, parameters=parameters),
            strict=True,
        )
        for block, there, here in pairs:
            if there is not None and here is not None:
                values_differ = block.path in differing
                searching = _Searching(bench, port, block, custom, parameters, floor, values_differ)
                blames += searching.blames(there, here)
    named = {blame.module for blame in blames}
    return blames + [
        blame
        for blame in custom_backward_causes(bench, port, inputs, counterparts, custom)
        if blame.module not in named
    ]


def _portions(blocks: Iterable[BlockCall]) -> Iterator[list[BlockCall]]:
    """Blocks to be asked for together: in one mode, and not too large."""
    some: list[BlockCall] = []
    size = 0
    for block in blocks:
        if some and (size + block.nbytes > _MAX_BYTES or some[0].train != block.train):
            yield some
            some, size = [], 0
        some.append(block)
        size += block.nbytes
    if some:
        yield some


def _asked(side: Side, blocks: Sequence[BlockCall], *, of_port: bool, **more: Any) -> list[Between | None]:
    """None for a block that does not run by itself on this side."""
    try:
        return list(gradients_between(side, blocks, of_port=of_port, **more))
    except SideTrouble as trouble:
        if trouble.message.id != _RAISED:
            raise
        if len(blocks) == 1:
            return [None]
        return [between for block in blocks for between in _asked(side, [block], of_port=of_port, **more)]


class _Searching:
    """One block: compare, try without what stops gradients, and else say what is left."""

    def __init__(
        self,
        bench: Side,
        port: Side,
        block: BlockCall,
        custom: tuple[Sequence[CheckedBackward], Sequence[CheckedBackward]],
        parameters: Mapping[str, str],
        floor: float | None,
        values_differ: bool,
    ) -> None:
        self._bench, self._port, self._block, self._floor = bench, port, block, floor
        self._custom, self._parameters = custom, parameters
        self._values_differ = values_differ
        self._only: Sequence[str] | None = None

    def blames(self, bench: Between, port: Between) -> list[Blame]:
        """All there is to say of the block; nothing where both sides have other layers in it."""
        if sorted(bench.sinks) != sorted(port.sinks):
            # What a layer of only one side takes is left out.
            if not set(bench.sinks) ^ set(port.sinks) <= self._untaken:
                return self._one_sided(bench, port, {})
            self._only = [sink for sink in port.sinks if sink in bench.sinks]
            there, here = self._undone(self._bench, ()), self._undone(self._port, ())
            if there is None or here is None:
                return []
            bench, port = there, here
        bad = parted(bench, port, self.limit)
        if not bad:
            return []
        return self._stopped(bench, port, bad) or list(self._other(self._only or port.sinks, bad))

    @property
    def limit(self) -> float:
        """What counts as equal."""
        if self._floor is not None:
            return self._floor
        longest = max((array.size for array in self._block.inputs), default=1)
        return max(_SAME_GRADIENT, tensor_floor(("float32", "float32"), _DEPTH, reduction=longest))

    def _stopped(self, bench: Between, port: Between, bad: Mapping[str, float]) -> list[Blame]:
        """Stops of the port that the benchmark has not, and of the benchmark that the port has not."""
        left: float | None = None

        def agree(there: Between, here: Between) -> bool:
            nonlocal left
            left = furthest(there, here)
            return not parted(there, here, self.limit)

        found = without_stops(
            lambda undo: self._undone(self._port, undo),
            lambda undo: self._undone(self._bench, undo),
            lambda there, here: agree(there or bench, here or port),
        )
        value = next(iter(bad))
        blames = [
            *(self._stop(line, value, bad, of_port=True, left=left) for line in found.extra),
            *(self._stop(line, value, bad, of_port=False, left=left) for line in found.missing),
        ]
        return blames or (self._one_sided(bench, port, bad) if self._values_differ else [])

    def _one_sided(self, bench: Between, port: Between, bad: Mapping[str, float]) -> list[Blame]:
        """Stops of one side on ways that the other has open, where gradients differ with the values."""

        def pull(side: Side, undo: Undo, only: Sequence[str], watched: bool) -> Between | None:
            (between,) = self._ask(side, undo=undo, only=only, watched=watched)
            return between

        found = stops_by_reach(
            lambda undo, only, *, watched=False: pull(self._bench, undo, only, watched),
            lambda undo, only, *, watched=False: pull(self._port, undo, only, watched),
            [sink for sink in bench.sinks if sink in port.sinks],
            lambda of_port: self._written(of_port=of_port) is not None,
        )
        return [self._stop(stop.line, stop.value, bad, of_port=stop.of_port) for stop in found]

    def _stop(
        self, line: Location, key: str, bad: Mapping[str, float], *, of_port: bool, left: float | None = None
    ) -> Blame:
        module, shown, value = module_name(self._block.path), line_text(line), value_name(key)
        if of_port:
            text = message("pair_ops.stopped", module=module, line=shown, value=value)
            edit = message("pair_ops.stopped_edit", line=shown)
            return self._blame(Cause.DETACHED, text, bad, line=line, edit=edit, confirmed=True, left=left)
        other = module_name(self._block.other_path)
        text = message("pair_ops.not_stopped", module=module, other_module=other, line=shown, value=value)
        edit = message("pair_ops.not_stopped_edit", module=module, line=shown)
        place = self._unstopped_at(line)
        return self._blame(Cause.DETACHED, text, bad, line=place, other_line=line, edit=edit, confirmed=True, left=left)

    def _unstopped_at(self, line: Location) -> Location | None:
        try:
            return unstopped_at(*op_graphs(self._bench, self._port, self._block), line)
        except SideTrouble as trouble:
            if trouble.message.id != _RAISED:
                raise
            return None

    def _undone(self, side: Side, undo: Undo) -> Between | None:
        (between,) = self._ask(side, undo=undo, only=self._only)
        return between

    def _ask(self, side: Side, **more: Any) -> list[Between | None]:
        of_port = side is self._port
        return _asked(side, [self._block], of_port=of_port, parameters=self._parameters, **more)

    @property
    def _untaken(self) -> set[str]:
        """What goes into layers of which one side's takes fewer inputs: some of it has no counterpart."""
        calls: Counter[str] = Counter()
        found: set[str] = set()
        for layer in self._block.inner:
            key = f"{layer.other_path}#{calls[layer.other_path]}"
            calls[layer.other_path] += 1
            if layer.taken is not None:
                found |= {f"{key}/in/{place}" for place in range(_MOST_INPUTS)}
        return found

    def _other(self, sinks: Sequence[str], bad: Mapping[str, float]) -> Iterator[Blame]:
        """Path by path, from one thing that comes out back to one that goes in: each cause is named once."""
        named: set[Cause] = set()
        for sink in sinks:
            (bench,), (port,) = (self._ask(side, only=[sink], watched=True) for side in (self._bench, self._port))
            if bench is None or port is None:
                continue
            for name in parted(bench, port, self.limit):
                blame = self._path(name, sink, bench, port, bad)
                if blame is not None and blame.cause not in named:
                    named.add(blame.cause)
                    yield blame

    def _path(self, name: str, sink: str, bench: Between, port: Between, bad: Mapping[str, float]) -> Blame | None:
        here, there = port.gradients[name], bench.gradients[name]
        module, value = module_name(self._block.path), value_name(name)
        if not size_of(here):
            line = port.ends[0] if port.ends else None
            text = message("pair_ops.lost", module=module, value=value, sink=value_name(sink), line=line_text(line))
            return self._blame(Cause.DETACHED, text, bad, line=line)
        written = self._written(of_port=True)
        line = written.line if written is not None else None
        factor = multiple_of(here, there, self.limit)
        if factor is None and (self._values_differ or not self._is_wrong):
            # Where several inputs share the largest value, frameworks choose as they like.
            return None
        if factor is None:
            text = message("pair_ops.other_gradient", module=module, value=value)
            return self._blame(Cause.CUSTOM_BACKWARD if written else Cause.UNKNOWN, text, bad, line=line)
        text = message("pair_ops.scaled", module=module, value=value, factor=number_text(factor))
        by = written.name if written is not None else module
        edit = message("pair_ops.scaled_edit", name=by, line=line_text(line), factor=number_text(factor))
        cause = Cause.CUSTOM_BACKWARD
        return self._blame(cause, text, bad, line=line, edit=edit, confirmed=True, bench=1.0, port=factor)

    def _written(self, *, of_port: bool) -> CheckedBackward | None:
        """The first backward of the user's own that is at work in the block."""
        path = self._block.path if of_port else self._block.other_path
        return next((backward for backward in self._custom[of_port] if _inside(backward.path, path)), None)

    @cached_property
    def _is_wrong(self) -> bool:
        """Whether finite differences tell the two sides apart."""
        sides = ((self._bench, False), (self._port, True))
        bench, port = (bool(check_differences(side, self._block, of_port=of_port).wrong) for side, of_port in sides)
        return bench != port

    def _blame(self, cause: Cause, text: Message, bad: Mapping[str, float], **more: Any) -> Blame:
        block = self._block
        return Blame(
            Stage.BACKWARD,
            cause,
            text,
            module=block.path,
            other_module=block.other_path,
            measured=max(bad.values(), default=None),
            limit=self.limit,
            **more,
        )


def _inside(path: str, module: str) -> bool:
    return path == module or path.startswith(f"{module}." if module else "")
