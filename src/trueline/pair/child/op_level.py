"""One call of a block, operator by operator, the layers in it taken as one operator each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from trueline.adapters.guest.faults import said_for
from trueline.adapters.lines import user_line
from trueline.adapters.nouns import OpCall, Value
from trueline.adapters.tree import leaves
from trueline.apitable.opkinds import op_kind
from trueline.model.json_value import Json
from trueline.model.location import Location
from trueline.model.numbers import plain
from trueline.pair.child.block import Block, Inner, block_of
from trueline.pair.child.calls import held_still
from trueline.pair.child.constants import Constants
from trueline.pair.child.host import Host
from trueline.pair.child.op_values import SeenValues
from trueline.pair.ops.op_graph import Graph, Op
from trueline.pair.questions.blocks import Alteration, WatchOperators

_LAYER: Final = "layer"


def watch_operators(host: Host, question: WatchOperators) -> Graph:
    """The operators of the block in the order they ran."""
    with said_for(host.side, "running"), held_still(host, train=question.train):
        return _watched(host, block_of(host, question.block), question.max_bytes, question.alterations)


def _watched(host: Host, block: Block, max_bytes: int, alterations: Sequence[Alteration]) -> Graph:
    adapter = host.adapter
    names = {id(tensor.value): tensor.name for tensor in adapter.values.tensors(host.model)}
    watching = _Watching(host, SeenValues(adapter.values, names, max_bytes), block, alterations)
    alter = watching.alter if alterations else None
    given = block.tensors()
    inputs = tuple(watching.seen.after(tensor) for tensor in given)
    with (
        adapter.autograd.without_gradient(),
        adapter.ops.making(watching.constants.made),
        adapter.ops.watch(watching.op, alter),
    ):
        output = block.run(given, watching.layer, watching.user_code)
        watching.on = False
    outputs = tuple(watching.number(tensor) for _, tensor in leaves(output, adapter.values.is_tensor))
    lines = watching.constants.lines(watching.seen)
    return Graph(watching.ops, watching.seen.arrays, inputs, outputs, watching.seen.names, lines)


class _Watching:
    """Writes down ops and layers in the order they ran."""

    def __init__(self, host: Host, seen: SeenValues, block: Block, alterations: Sequence[Alteration]) -> None:
        self._alterations = alterations
        self._values, self._framework, self._build = host.adapter.values, host.adapter.name, host.adapter.build
        self._block = block
        self.seen = seen
        self.constants = Constants(host)
        self.ops: list[Op] = []
        self.on = False

    def user_code(self, running: bool) -> None:
        """Whether the block's own code runs, and not a layer in it."""
        self.on = running

    def number(self, tensor: Value) -> int:
        """The number of a value that is just looked at."""
        number = self.seen.before(tensor)
        assert number is not None
        return number

    def alter(self, name: str, line: Location | None, settings: Mapping[str, Json]) -> Mapping[str, Json]:
        """What an operator is to do otherwise, before it runs."""
        found = [
            each
            for each in (self._alterations if self.on else ())
            if name == each.name and settings.get(each.setting) == each.now
        ]
        at = (self._layer_line() or line) if found else None
        return {each.setting: each.wanted for each in found if each.line == at}

    def op(self, call: OpCall) -> None:
        """An operator has run."""
        if not self.on or call.backward:
            return
        numbers = [self.seen.before(tensor, call.outputs) for tensor in call.inputs]
        inputs = tuple(number for number in numbers if number is not None)
        outputs = tuple(self.seen.after(tensor) for tensor in call.outputs)
        if set(outputs) <= set(inputs):
            return
        kind = op_kind(self._framework, call.name)
        line = self._layer_line() or call.line
        self.ops.append(Op(call.name, kind, inputs, outputs, line, None, plain(call.settings)))

    def _layer_line(self) -> Location | None:
        """Where the framework's own layer was built whose code is at work: that is where it would be changed."""
        layer = self._block.at_work[-1] if self._block.at_work else None
        if layer is None or type(layer).__module__.partition(".")[0] != self._framework:
            return None
        built = self._build.built(layer)
        return built.line if built is not None else None

    def layer(
        self, inner: Inner, args: tuple[Value, ...], kwargs: Mapping[str, Value], result: Callable[[], Value]
    ) -> Value:
        """A layer is called."""
        inputs = tuple(self.number(tensor) for _, tensor in leaves((args, kwargs), self._values.is_tensor))
        output = result()
        outputs = tuple(self.seen.after(tensor) for _, tensor in leaves(output, self._values.is_tensor))
        line = user_line(self._build.package()) or inner.line
        self.ops.append(Op(inner.type, _LAYER, inputs, outputs, line, inner.name))
        return output
