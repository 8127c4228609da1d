"""One call of a block run by itself, the layers in it replaced by what they are known to give."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from trueline.adapters.nouns import Network, Value
from trueline.adapters.tree import leaves, replaced
from trueline.kernel.array import Array
from trueline.model.location import Location
from trueline.pair.child.calls import paths_of
from trueline.pair.child.host import Host
from trueline.pair.child.templates import GivenOut, Template
from trueline.pair.ops.channels import laid_as
from trueline.pair.questions.blocks import BlockSpec


@dataclass(frozen=True, slots=True)
class Inner:
    """One call of a layer in the block: ``name`` is the benchmark's for it, ``outs`` what it gives; None as it is.

    ``key`` is the name with the number of the call; ``taken`` are the places of its inputs among the benchmark's, where
    it takes fewer, ``like`` the shapes of those.
    """

    path: str
    name: str
    key: str
    outs: Sequence[Array] | None = None
    type: str = ""
    line: Location | None = None
    taken: Sequence[int] | None = None
    like: Sequence[Sequence[int]] = ()

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
    # The shapes of what the benchmark's gives out.
    like: Sequence[Sequence[int]] = ()
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
        known = self.host.outputs.get(inner.path)
        tensors: list[Value] = []
        if known is None or known.template.count != len(inner.outs):
            # Copies, since a layer may write into what it is given.
            own_args, own_kwargs = replaced((args, kwargs), values.is_tensor, self._copy)
            output = (proceed(*own_args, **own_kwargs),)
            tensors = [tensor for _, tensor in leaves(output, values.is_tensor)]
            likes = [values.from_numpy(values.to_numpy(tensor).reshape(-1)[:0]) for tensor in tensors]
            shapes = [values.shape(tensor) for tensor in tensors]
            known = self.host.outputs[inner.path] = GivenOut(Template.of(output, {}, values.is_tensor), likes, shapes)
        # The layer's own shape, as the code around it was written for that.
        laid = map(laid_as, inner.outs, known.shapes)
        made = [values.from_numpy(array, like=like) for array, like in zip(laid, known.likes, strict=False)]
        ((filled,), _) = known.template.filled([*made, *tensors[len(made) :]])
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
        layers.append(Inner(call.path, call.name, key, call.outs, type(module).__name__, line, call.taken, call.like))
    template = host.templates.get((spec.path, spec.call))
    inputs = list(spec.inputs)
    own = host.own_inputs.get((spec.path, spec.call), {})
    if template is not None and len(inputs) + len(own) == template.count:
        for place in sorted(own):
            inputs.insert(place, own[place])
    shapes = host.taken.get((spec.path, spec.call), ())
    if len(shapes) == len(inputs):
        inputs = [laid_as(array, shape) for array, shape in zip(inputs, shapes, strict=True)]
    return Block(host, modules[spec.path], template, inputs, layers, spec.like)
