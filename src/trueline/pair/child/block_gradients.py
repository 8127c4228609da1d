"""The gradients of what a block does between its layers, by itself.

The block's inputs and what its layers give go in; what its layers are given and the block's outputs come out. Gradients
at what comes out, the same on both sides, are brought back to what goes in: no layer has a part in it.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np

from trueline.adapters.guest.faults import said_for
from trueline.adapters.nouns import Value
from trueline.adapters.tree import leaves, replaced
from trueline.kernel.array import Array
from trueline.model.location import Location
from trueline.pair.child.block import Block, Inner, block_of
from trueline.pair.child.calls import held_still
from trueline.pair.child.gradient_ends import Ends
from trueline.pair.child.gradient_flow import flow_of
from trueline.pair.child.host import Host
from trueline.pair.ops.channels import laid_as
from trueline.pair.questions.blocks import Between, GradientsBetween, Undo


def gradients_between(host: Host, question: GradientsBetween) -> list[Between]:
    """Of each block its gradients by what goes in."""
    answers: list[Between] = []
    with said_for(host.side, "running"), held_still(host, train=question.train):
        for spec in question.blocks:
            pulling = _Pulling(host, block_of(host, spec), question.only, watched=question.watched)
            with _undoing(host, question.undo, pulling.stops):
                gradients = pulling.pull()
            answers.append(Between(pulling.sinks, gradients, pulling.stops, pulling.ends))
    return answers


@contextmanager
def _undoing(host: Host, wanted: Undo, stops: list[Location]) -> Iterator[None]:
    def undo(line: Location | None) -> bool:
        if line is None:
            return False
        stops.append(line)
        return wanted == "all" or len(stops) - 1 in wanted

    if not wanted:
        yield
        return
    with flow_of(host.adapter.name).unstopped(undo):
        yield


class _Pulling:
    def __init__(self, host: Host, block: Block, only: Sequence[str] | None, *, watched: bool) -> None:
        self._adapter, self._values, self._block, self._only = host.adapter, host.adapter.values, block, only
        self._ends = Ends(host, flow_of(host.adapter.name)) if watched else None
        self._given: dict[str, list[Value]] = {}
        self.sinks: list[str] = []
        self._like: list[Sequence[int]] = []
        self.stops: list[Location] = []
        self.ends: list[Location] = []

    def pull(self) -> dict[str, Array | None]:
        """Run, and bring gradients back."""
        block, values = self._block, self._values
        known = {layer.key: list(layer.outs or ()) for layer in block.inner}
        places = [(key, place) for key, outs in known.items() for place in range(len(outs))]
        inputs = [*block.tensors(), *(values.from_numpy(known[key][place]) for key, place in places)]
        named = self._own_parameters()
        pulled = self._adapter.autograd.vjp(
            lambda *tensors: self._run(tensors, places), inputs, list(named.values()), self._cotangents
        )
        names = [f"in/{place}" for place in range(len(block.inputs))]
        names += [f"{key}/out/{place}" for key, place in places]
        gin = dict(zip(names, pulled.gin, strict=True))
        grads = {f"param/{name}": grad for name, grad in zip(named, pulled.grads, strict=True)}
        return {**gin, **grads}

    def _own_parameters(self) -> dict[str, Value]:
        """The trainable ones that no layer of the block holds."""
        held = {
            id(tensor.value)
            for path, module in self._values.modules(self._block.host.model)
            if path in {inner.path for inner in self._block.inner}
            for tensor in self._values.tensors(module)
        }
        tensors = self._values.tensors(self._block.module)
        trained = (tensor for tensor in tensors if tensor.trainable and not tensor.buffer)
        return {tensor.name: tensor.value for tensor in trained if id(tensor.value) not in held}

    def _run(self, tensors: Sequence[Value], places: Sequence[tuple[str, int]]) -> list[Value]:
        count = len(self._block.inputs)
        self._given = {}
        for (key, _), tensor in zip(places, tensors[count:], strict=True):
            self._given.setdefault(key, []).append(tensor)
        self.sinks.clear()
        self._like.clear()
        out: list[Value] = []

        def layer(inner: Inner, args: Value, kwargs: Mapping[str, Value], result: Callable[[], Value]) -> Value:
            self._sink(f"{inner.key}/in", (args, kwargs), out, inner.place, inner.like)
            known = iter(self._given.get(inner.key, ()))
            return replaced(result(), self._values.is_tensor, lambda _, tensor: next(known, tensor))

        if self._ends is None:
            self._sink("out", self._block.run(tensors[:count], layer), out, int, self._block.like)
            return out
        with self._adapter.ops.watch(self._ends.op):
            output = self._block.run(tensors[:count], layer, self._ends.listen)
            self._ends.listen(False)
        self._sink("out", output, out, int, self._block.like)
        self.ends = self._ends.lines(out)
        return out

    def _sink(
        self, name: str, tree: Value, out: list[Value], named: Callable[[int], int], like: Sequence[Sequence[int]]
    ) -> None:
        tensors = [tensor for _, tensor in leaves(tree, self._values.is_tensor)]
        # What a layer is given twice, as a query that is the key too, is one value.
        first = {id(tensor): place for place, tensor in reversed([*enumerate(tensors)])}
        for place, tensor in enumerate(tensors):
            if "float" in self._values.dtype(tensor) and first[id(tensor)] == place:
                at = named(place)
                self.sinks.append(f"{name}/{at}")
                self._like.append(like[at] if at < len(like) else self._values.shape(tensor))
                out.append(tensor)

    def _cotangents(self, outputs: Sequence[Array]) -> list[Array | None]:
        """Drawn by name, so that both sides have the same, in whatever order they call their layers."""
        return [
            _drawn(name, output.shape, like) if self._only is None or name in self._only else None
            for name, output, like in zip(self.sinks, outputs, self._like, strict=True)
        ]


def _drawn(name: str, shape: tuple[int, ...], like: Sequence[int]) -> Array:
    """As of the benchmark's shape, its channels then where this side has them."""
    drawn = np.random.default_rng(zlib.crc32(name.encode()))
    laid = laid_as(drawn.standard_normal(tuple(like)).astype(np.float32), shape)
    return laid if laid.shape == shape else drawn.standard_normal(shape).astype(np.float32)
