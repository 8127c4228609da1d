"""The gradients of what a block does between its layers, by itself.

The block's inputs and what its layers give go in; what its layers are given and the block's outputs come out. Gradients
at what comes out, the same on both sides, are brought back to what goes in: no layer has a part in it.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from trueline.adapters.guest.faults import said_for
from trueline.adapters.guest.wire import Content
from trueline.adapters.tree import leaves, replaced
from trueline.kernel.array import Array
from trueline.model.location import Location
from trueline.pair.child.block import Block, Inner, block_of
from trueline.pair.child.calls import held_still
from trueline.pair.child.ends import Ends
from trueline.pair.child.flow import flow_of
from trueline.pair.child.host import Answer, Host


def gradients_between(host: Host, content: Content, arrays: list[Array]) -> Answer:
    """For each of ``blocks`` gradients by what goes in (``sources``), from all that comes out or ``only`` some.

    ``stops`` are the lines where the user's code stopped a gradient, in order, if ``undo`` asks for them: "all", or the
    places in that order of those that are to stop none. With ``watched`` the lines where gradients ended are ``ends``.
    """
    told: list[Content] = []
    sent: list[Array] = []
    given = iter(arrays)
    with said_for(host.side, "running"), held_still(host, train=content["train"]):
        for spec in content["blocks"]:
            between = _Between(host, block_of(host, spec, given), content["only"], watched=content["watched"])
            with _undoing(host, content["undo"], between.stops):
                sources = between.pull()
            found = {name: one for name, one in sources.items() if one is not None}
            lines = {"stops": _json(between.stops), "ends": _json(between.ends)}
            told.append({"sinks": between.sinks, "sources": list(sources), "present": list(found), **lines})
            sent += found.values()
    return {"blocks": told}, sent


def _json(lines: Sequence[Location]) -> list[Any]:
    return [one.line_json() for one in lines]


@contextmanager
def _undoing(host: Host, wanted: Any, stops: list[Location]) -> Iterator[None]:
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


class _Between:
    def __init__(self, host: Host, block: Block, only: Sequence[str] | None, *, watched: bool) -> None:
        self._adapter, self._values, self._block, self._only = host.adapter, host.adapter.values, block, only
        self._ends = Ends(host, flow_of(host.adapter.name)) if watched else None
        self._given: dict[str, list[Any]] = {}
        self.sinks: list[str] = []
        self.stops: list[Location] = []
        self.ends: list[Location] = []

    def pull(self) -> dict[str, Array | None]:
        """Run, and bring gradients back."""
        block, values = self._block, self._values
        known = {one.key: list(one.outs or ()) for one in block.inner}
        places = [(key, place) for key, outs in known.items() for place in range(len(outs))]
        inputs = [*block.tensors(), *(values.from_numpy(known[key][place]) for key, place in places)]
        named = self._own_parameters()
        pulled = self._adapter.autograd.vjp(
            lambda *tensors: self._run(tensors, places), inputs, list(named.values()), self._cotangents
        )
        names = [f"in/{place}" for place in range(len(block.inputs))]
        names += [f"{key}/out/{place}" for key, place in places]
        gin = dict(zip(names, pulled.gin, strict=True))
        grads = {f"param/{name}": one for name, one in zip(named, pulled.grads, strict=True)}
        return {**gin, **grads}

    def _own_parameters(self) -> dict[str, Any]:
        """The trainable ones that no layer of the block holds."""
        held = {
            id(one.value)
            for path, module in self._values.modules(self._block.host.model)
            if path in {inner.path for inner in self._block.inner}
            for one in self._values.tensors(module)
        }
        found = (one for one in self._values.tensors(self._block.module) if one.trainable and not one.buffer)
        return {one.name: one.value for one in found if id(one.value) not in held}

    def _run(self, tensors: Sequence[Any], places: Sequence[tuple[str, int]]) -> list[Any]:
        count = len(self._block.inputs)
        self._given = {}
        for (key, _), tensor in zip(places, tensors[count:], strict=True):
            self._given.setdefault(key, []).append(tensor)
        self.sinks.clear()
        out: list[Any] = []

        def layer(inner: Inner, args: Any, kwargs: Mapping[str, Any], result: Callable[[], Any]) -> Any:
            self._sink(f"{inner.key}/in", (args, kwargs), out, inner.place)
            known = iter(self._given.get(inner.key, ()))
            return replaced(result(), self._values.is_tensor, lambda _, tensor: next(known, tensor))

        if self._ends is None:
            self._sink("out", self._block.run(tensors[:count], layer), out, int)
            return out
        with self._adapter.ops.watch(self._ends.op):
            output = self._block.run(tensors[:count], layer, self._ends.listen)
            self._ends.listen(False)
        self._sink("out", output, out, int)
        self.ends = self._ends.lines(out)
        return out

    def _sink(self, name: str, tree: Any, out: list[Any], named: Callable[[int], int]) -> None:
        for place, (_, tensor) in enumerate(leaves(tree, self._values.is_tensor)):
            if "float" in self._values.dtype(tensor):
                self.sinks.append(f"{name}/{named(place)}")
                out.append(tensor)

    def _cotangents(self, outputs: Sequence[Array]) -> list[Array | None]:
        """Drawn by name, so that both sides have the same, in whatever order they call their layers."""
        return [
            _drawn(name, one.shape) if self._only is None or name in self._only else None
            for name, one in zip(self.sinks, outputs, strict=True)
        ]


def _drawn(name: str, shape: tuple[int, ...]) -> Array:
    return np.random.default_rng(zlib.crc32(name.encode())).standard_normal(shape).astype(np.float32)
