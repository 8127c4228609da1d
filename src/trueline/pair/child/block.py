"""One call of a block run by itself, the layers in it replaced by what they are known to give."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from trueline.adapters.nouns import Network, Value
from trueline.adapters.tree import leaves, replaced
from trueline.kernel.array import Array
from trueline.model.location import Location
from trueline.pair.child.calls import Counting, paths_of, tensors_of
from trueline.pair.child.host import Host
from trueline.pair.child.templates import Template
from trueline.pair.questions.blocks import BlockSpec


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
AtLayer = Callable[[Inner, tuple[Value, ...], Mapping[str, Value], Callable[[], Value]], Value]


@dataclass(slots=True)
class Block:
    """A module's call with its inputs; layers of one path are used up in the order they are listed."""

    host: Host
    module: Network
    template: Template | None
    inputs: Sequence[Array]
    inner: Sequence[Inner]
    # The modules whose code is at work, the innermost last.
    at_work: list[Network] = field(default_factory=list)
    _left: dict[str, list[Inner]] = field(default_factory=dict)

    def tensors(self) -> list[Value]:
        """The inputs as tensors."""
        return [self.host.adapter.values.from_numpy(array) for array in self.inputs]

    def run(
        self, tensors: Sequence[Value], at_layer: AtLayer, user_code: Callable[[bool], None] = lambda _: None
    ) -> Value:
        """Call the module; ``user_code`` hears when its own code begins and stops to run."""
        self._left = {}
        for layer in self.inner:
            self._left.setdefault(layer.path, []).append(layer)
        paths, inside = paths_of(self.host), False

        def around(
            module: Network, args: tuple[Value, ...], kwargs: dict[str, Value], proceed: Callable[..., Value]
        ) -> Value:
            nonlocal inside
            waiting = self._left.get(paths.get(id(module), "?"))
            if inside or not waiting or module is self.module:
                self.at_work.append(module)
                try:
                    return proceed(*args, **kwargs)
                finally:
                    self.at_work.pop()
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

    def _given(
        self, inner: Inner, args: tuple[Value, ...], kwargs: dict[str, Value], proceed: Callable[..., Value]
    ) -> Value:
        """What a layer gives: its output, with the known arrays in it."""
        values = self.host.adapter.values
        if inner.outs is None:
            return proceed(*args, **kwargs)
        template, likes = self.host.outputs.get(inner.path, (None, []))
        if template is None or template.count != len(inner.outs):
            # Copies, since a layer may write into what it is given.
            own_args, own_kwargs = replaced((args, kwargs), values.is_tensor, self._copy)
            output = (proceed(*own_args, **own_kwargs),)
            tensors = [tensor for _, tensor in leaves(output, values.is_tensor)]
            likes = [values.from_numpy(values.to_numpy(tensor).reshape(-1)[:0]) for tensor in tensors]
            template = Template.of(output, {}, values.is_tensor)
            self.host.outputs[inner.path] = template, likes
        else:
            tensors = []
        made = [values.from_numpy(array, like=like) for array, like in zip(inner.outs, likes, strict=False)]
        ((filled,), _) = template.filled([*made, *tensors[len(made) :]])
        return filled

    def _copy(self, _: str, tensor: Value) -> Value:
        values = self.host.adapter.values
        return values.from_numpy(values.to_numpy(tensor, copy=True))


def block_of(host: Host, spec: BlockSpec) -> Block:
    """The block that a question is about."""
    modules = dict(host.adapter.values.modules(host.model))
    layers: list[Inner] = []
    for call in spec.inner:
        key = f"{call.name}#{sum(layer.name == call.name for layer in layers)}"
        module = modules[call.path]
        built = host.adapter.build.built(module)
        line = built.line if built is not None else None
        layers.append(Inner(call.path, call.name, key, call.outs, type(module).__name__, line, call.taken))
    template, inputs = host.templates.get((spec.path, spec.call)), list(spec.inputs)
    if template is not None and spec.places is not None:
        inputs = own_inputs(host, spec.path, spec.call)
        for place, array in zip(spec.places, spec.inputs, strict=True):
            inputs[place] = array
    return Block(host, modules[spec.path], template, inputs, layers)


def own_inputs(host: Host, path: str, call: int) -> list[Array]:
    """What a call is given in a run of the whole model on what it was last recorded with, as the model is held now."""
    key = path, call, host.adapter.values.training(host.model)
    if key not in host.own:
        values, counting = host.adapter.values, Counting(paths_of(host))

        def around(
            module: Network, args: tuple[Value, ...], kwargs: Mapping[str, Value], proceed: Callable[..., Value]
        ) -> Value:
            if counting.begin(module) == (path, call):
                given = [tensor for _, tensor in leaves((args, kwargs), values.is_tensor)]
                host.own[key] = [values.to_numpy(tensor, copy=True) for tensor in given]
            return proceed(*args, **kwargs)

        with host.adapter.autograd.without_gradient(), host.adapter.intercept.intercept(around):
            host.model(*tensors_of(host, host.given))
    return list(host.own[key])
