"""One call of a block run by itself, the layers in it replaced by what they are known to give."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from trueline.adapters.guest.wire import Content
from trueline.adapters.tree import leaves, replaced
from trueline.kernel.array import Array
from trueline.model.location import Location
from trueline.pair.child.calls import paths_of
from trueline.pair.child.host import Host
from trueline.pair.child.templates import Template


@dataclass(frozen=True, slots=True)
class Inner:
    """One call of a layer in the block: ``name`` is the benchmark's for it, ``outs`` what it gives; None as it is.

    ``key`` is the name with the number of the call; ``taken`` are the places of its inputs among the benchmark's, where
    it takes fewer.
    """

    path: str
    name: str
    key: str
    outs: Sequence[Array] | None = None
    type: str = ""
    line: Location | None = None
    taken: Sequence[int] | None = None

    def place(self, place: int) -> int:
        """The place of an input among the benchmark's."""
        return self.taken[place] if self.taken is not None and place < len(self.taken) else place


# What stands at a layer's call: (which, args, kwargs, result) to the output; ``result()`` is the layer's.
AtLayer = Callable[[Inner, tuple[Any, ...], Mapping[str, Any], Callable[[], Any]], Any]


@dataclass(slots=True)
class Block:
    """A module's call with its inputs; layers of one path are used up in the order they are listed."""

    host: Host
    module: Any
    template: Template | None
    inputs: Sequence[Array]
    inner: Sequence[Inner]
    _left: dict[str, list[Inner]] = field(default_factory=dict)

    def tensors(self) -> list[Any]:
        """The inputs as tensors."""
        return [self.host.adapter.values.from_numpy(one) for one in self.inputs]

    def run(self, tensors: Sequence[Any], at_layer: AtLayer, user_code: Callable[[bool], None] = lambda _: None) -> Any:
        """Call the module; ``user_code`` hears when its own code begins and stops to run."""
        self._left = {}
        for one in self.inner:
            self._left.setdefault(one.path, []).append(one)
        paths, inside = paths_of(self.host), False

        def around(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any], proceed: Callable[..., Any]) -> Any:
            nonlocal inside
            waiting = self._left.get(paths.get(id(module), "?"))
            if inside or not waiting or module is self.module:
                return proceed(*args, **kwargs)
            inner, inside = waiting.pop(0), True
            user_code(False)
            try:
                return at_layer(inner, args, kwargs, lambda: self._given(inner, args, kwargs, proceed))
            finally:
                inside = False
                user_code(True)

        args, kwargs = self.template.filled(tensors) if self.template is not None else (tuple(tensors), {})
        with self.host.adapter.intercept.intercept(around):
            user_code(True)
            return self.module(*args, **kwargs)

    def _given(self, inner: Inner, args: tuple[Any, ...], kwargs: dict[str, Any], proceed: Callable[..., Any]) -> Any:
        """What a layer gives: its output, with the known arrays in it."""
        values = self.host.adapter.values
        if inner.outs is None:
            return proceed(*args, **kwargs)
        known: dict[str, tuple[Template, list[Any]]] = self.host.kept.setdefault("outputs", {})
        template, likes = known.get(inner.path, (None, []))
        if template is None or template.count != len(inner.outs):
            # Copies, since a layer may write into what it is given.
            own_args, own_kwargs = replaced((args, kwargs), values.is_tensor, self._copy)
            output = (proceed(*own_args, **own_kwargs),)
            tensors = [one for _, one in leaves(output, values.is_tensor)]
            likes = [values.from_numpy(values.to_numpy(one).reshape(-1)[:0]) for one in tensors]
            template = Template.of(output, {}, values.is_tensor)
            known[inner.path] = template, likes
        else:
            tensors = []
        made = [values.from_numpy(array, like=like) for array, like in zip(inner.outs, likes, strict=False)]
        ((found,), _) = template.filled([*made, *tensors[len(made) :]])
        return found

    def _copy(self, _: str, tensor: Any) -> Any:
        values = self.host.adapter.values
        return values.from_numpy(values.to_numpy(tensor, copy=True))


def block_of(host: Host, content: Content, arrays: Iterable[Array]) -> Block:
    """The block that a question is about; of the arrays its inputs come first, and then what its layers give."""
    modules = dict(host.adapter.values.modules(host.model))
    module = modules[content["path"]]
    known = iter(arrays)
    inputs = list(islice(known, content["inputs"]))
    inner: list[Inner] = []
    for one in content.get("opaque", ()):
        key = f"{one['module']}#{sum(before.name == one['module'] for before in inner)}"
        outs = None if one["outs"] is None else list(islice(known, one["outs"]))
        built = host.adapter.build.built(modules[one["path"]])
        line = built.line if built is not None else None
        kind = type(modules[one["path"]]).__name__
        inner.append(Inner(one["path"], one["module"], key, outs, kind, line, one["taken"]))
    template = host.kept.get("templates", {}).get((content["path"], content["call"]))
    return Block(host, module, template, inputs, inner)
