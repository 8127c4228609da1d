"""One call of a block, operator by operator, the layers in it taken as one operator each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from trueline.adapters.guest.faults import said_for
from trueline.adapters.guest.wire import Content
from trueline.adapters.nouns import OpCall
from trueline.adapters.tree import leaves
from trueline.apitable.opkinds import op_kind
from trueline.kernel.array import Array
from trueline.pair.child.between import gradients_between
from trueline.pair.child.block import Block, Inner, block_of
from trueline.pair.child.calls import held_still
from trueline.pair.child.differences import check_backward, custom_backwards
from trueline.pair.child.host import Answer, Host
from trueline.pair.child.op_values import MOST_BYTES, SeenValues
from trueline.pair.ops.op_graph import Graph, Op

_LAYER = "layer"
_ELSEWHERE: Final = {
    "gradients": gradients_between,
    "differences": check_backward,
    "custom": custom_backwards,
}


def answer_watch_ops(host: Host, content: Content, arrays: list[Array]) -> Answer:
    """What ``want`` asks for: ``graph``, or what the files beside this one answer."""
    if content["want"] in _ELSEWHERE:
        return _ELSEWHERE[content["want"]](host, content, arrays)
    with said_for(host.side, "running"), held_still(host, train=content["train"]):
        graph, left_out = _watched(host, block_of(host, content, arrays), content.get("most", MOST_BYTES))
    return {"graph": graph.to_json(), "left_out": left_out}, graph.arrays


def _watched(host: Host, block: Block, most: int) -> tuple[Graph, int]:
    adapter = host.adapter
    names = {id(one.value): one.name for one in adapter.values.tensors(host.model)}
    watching = _Watching(host, SeenValues(adapter.values, names, most))
    given = block.tensors()
    inputs = tuple(watching.seen.after(one) for one in given)
    with adapter.autograd.without_gradient(), adapter.ops.watch(watching.op):
        output = block.run(given, watching.layer, watching.user_code)
        watching.on = False
    outputs = tuple(watching.number(one) for _, one in leaves(output, adapter.values.is_tensor))
    found = watching.seen
    return Graph(watching.ops, found.arrays, inputs, outputs, found.names), found.left_out


class _Watching:
    """Writes down ops and layers in the order they ran."""

    def __init__(self, host: Host, seen: SeenValues) -> None:
        self._values, self._framework = host.adapter.values, host.adapter.name
        self.seen = seen
        self.ops: list[Op] = []
        self.on = False

    def user_code(self, running: bool) -> None:
        """Whether the block's own code runs, and not a layer in it."""
        self.on = running

    def number(self, tensor: Any) -> int:
        """The number of a value that is just looked at."""
        found = self.seen.before(tensor)
        assert found is not None
        return found

    def op(self, call: OpCall) -> None:
        """An operator has run."""
        if not self.on or call.backward:
            return
        numbers = [self.seen.before(one, call.outputs) for one in call.inputs]
        inputs = tuple(one for one in numbers if one is not None)
        outputs = tuple(self.seen.after(one) for one in call.outputs)
        if set(outputs) <= set(inputs):
            return
        kind = op_kind(self._framework, call.name)
        self.ops.append(Op(call.name, kind, inputs, outputs, call.line, None, call.settings))

    def layer(self, inner: Inner, args: tuple[Any, ...], kwargs: Mapping[str, Any], result: Callable[[], Any]) -> Any:
        """A layer is called."""
        inputs = tuple(self.number(one) for _, one in leaves((args, kwargs), self._values.is_tensor))
        output = result()
        outputs = tuple(self.seen.after(one) for _, one in leaves(output, self._values.is_tensor))
        self.ops.append(Op(inner.type, _LAYER, inputs, outputs, inner.line, inner.name))
        return output
