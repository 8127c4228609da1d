"""One call of a block, operator by operator, the layers in it taken as one operator each."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Final

from trueline.adapters.guest.faults import said_for
from trueline.adapters.lines import helper_called_at, user_line
from trueline.adapters.nouns import OpCall, Value
from trueline.adapters.tree import leaves
from trueline.apitable.opkinds import op_kind
from trueline.model.json_value import Json
from trueline.model.location import Location
from trueline.model.numbers import plain
from trueline.pair.child.assigned import line_of
from trueline.pair.child.block import Block, Inner, block_of
from trueline.pair.child.calls import held_still
from trueline.pair.child.constants import Constants
from trueline.pair.child.held import held_constants, holding
from trueline.pair.child.host import Host
from trueline.pair.child.op_values import SeenValues
from trueline.pair.ops.op_graph import Graph, Op
from trueline.pair.questions.blocks import WatchOperators

_LAYER: Final = "layer"
# What a module's own code is called.
_METHODS: Final = ("forward", "construct", "__call__")


def watch_operators(host: Host, question: WatchOperators) -> Graph:
    """The operators of the block in the order they ran."""
    putting = holding(host, question.held)
    with said_for(host.side, "running"), held_still(host, train=question.train), putting:
        return _watched(host, block_of(host, question.block), question)


def _watched(host: Host, block: Block, question: WatchOperators) -> Graph:
    adapter, alterations = host.adapter, question.alterations
    names = {id(tensor.value): tensor.name for tensor in adapter.values.tensors(host.model)}
    watching = _Watching(host, SeenValues(adapter.values, names, question.max_bytes), block, question)
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
    seen = watching.seen
    held = held_constants(host, seen.arrays, {*inputs, *(out for op in watching.ops for out in op.outputs)}, seen.names)
    names, made = {**seen.names, **held.names}, watching.constants.lines(seen)
    return Graph(watching.ops, seen.arrays, inputs, outputs, names, held.assigned, made)


class _Watching:
    """Writes down ops and layers in the order they ran."""

    def __init__(self, host: Host, seen: SeenValues, block: Block, question: WatchOperators) -> None:
        self._alterations, self._made = question.alterations, question.made
        self._values, self._framework, self._build = host.adapter.values, host.adapter.name, host.adapter.build
        self._block = block
        self.seen = seen
        self.constants = Constants()
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
        instead = self._made.get(len(self.ops))
        if instead is not None and len(call.outputs) == 1:
            self._values.assign(call.outputs[0], instead.reshape(self._values.shape(call.outputs[0])))
        outputs = tuple(self.seen.after(tensor) for tensor in call.outputs)
        if set(outputs) <= set(inputs):
            return
        kind = op_kind(self._framework, call.name)
        built = self._layer_line()
        called = call.line if built is not None else None
        settings = plain(call.settings)
        caller = helper_called_at(self._build.package(), _METHODS, frame=sys._getframe())
        where = (called, caller, self._set_at(settings))
        self.ops.append(Op(call.name, kind, inputs, outputs, built or call.line, None, settings, *where))

    def _set_at(self, settings: Mapping[str, Json]) -> Location | None:
        """Where the module whose code is at work is given the number that an operator takes."""
        module = self._block.at_work[-1] if self._block.at_work else None
        for value in settings.values():
            if isinstance(value, float) and not (value * 2).is_integer() and module is not None:
                names = [name for name, held in vars(module).items() if type(held) is float and held == value]
                if len(names) == 1:
                    return line_of(module, names[0], computed=True)
        return None

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
