"""One run of the whole model: what went into every module's call, what came out, and the gradient that came back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from trueline.adapters.guest.faults import said_for
from trueline.adapters.lines import user_line
from trueline.adapters.nouns import Network, Value
from trueline.adapters.protocol import Values
from trueline.adapters.tree import leaves, replaced
from trueline.kernel.array import Array
from trueline.model.location import Location
from trueline.pair.child.calls import Counting, held_still, paths_of, tensors_of
from trueline.pair.child.host import Host
from trueline.pair.child.templates import GivenOut, Template
from trueline.pair.questions.recording import Call, Record, Recording, Returned

# No value is moved further out than this: beyond, squares and sums of squares leave what a float holds, and what is
# added to scores that are not to be seen is no longer far from all others.
_FURTHEST: Final = 1e3


def record(host: Host, question: Record) -> Recording:
    """The calls in order, and with ``send`` all that was seen, with ``train`` also backward."""
    train = question.train
    backward = train and question.backward
    taking = _Taking(host, backward=backward, light=not question.send, far=question.far)
    with said_for(host.side, "running", question.inputs), held_still(host, train=train, share=taking.dropped):
        outputs, grads, returned = _run(host, taking, question.inputs, backward, question.seed)
    host.templates, host.outputs, host.recorded = taking.templates, taking.outputs, taking.arrays
    host.taken, host.own_inputs = taking.taken, {}
    return Recording(
        train,
        taking.calls,
        outputs,
        taking.shapes,
        taking.gradients,
        grads,
        taking.arrays if question.send else (),
        taking.drops,
        taking.drop_lines,
        returned,
        backward,
        taking.lines,
    )


def _run(
    host: Host, taking: _Taking, inputs: Sequence[Array], backward: bool, seed: int
) -> tuple[Sequence[Array], dict[str, Array], Returned | None]:
    adapter = host.adapter
    given = tensors_of(host, inputs)
    with adapter.intercept.intercept(taking.around):
        if not backward or taking.light:
            with adapter.autograd.without_gradient():
                result = host.model(*given)
            tensors = [tensor for _, tensor in leaves(result, adapter.values.is_tensor)]
            outputs = [adapter.values.to_numpy(tensor, copy=True) for tensor in tensors]
            return outputs, {}, _returned(result, adapter.values)
        named = _trainable(host)
        pulled = adapter.autograd.vjp(lambda *tensors: host.model(*tensors), given, list(named.values()), _gout(seed))
    grads = {name: grad for name, grad in zip(named, pulled.grads, strict=True) if grad is not None}
    return pulled.outputs, grads, None


def _returned(result: Value, values: Values) -> Returned:
    """How the output is put together."""
    form = "tensor" if values.is_tensor(result) else "sequence" if isinstance(result, list | tuple) else "mapping"
    names = tuple(name for name, _ in leaves(result, values.is_tensor))
    return Returned(form, type(result).__name__, names)


def _trainable(host: Host) -> dict[str, Value]:
    first: dict[int, tuple[str, Value]] = {}
    for tensor in host.adapter.values.tensors(host.model):
        if tensor.trainable and not tensor.buffer:
            first.setdefault(id(tensor.value), (tensor.name, tensor.value))
    return dict(first.values())


def _gout(seed: int) -> Callable[[Sequence[Array]], Sequence[Array]]:
    """The same gradients for outputs of the same shapes, on both sides."""

    def draw(outputs: Sequence[Array]) -> list[Array]:
        random = np.random.default_rng(seed)
        return [random.standard_normal(output.shape).astype(np.float32) for output in outputs]

    return draw


class _Taking:
    """Copies what is seen, each tensor once: what is rewritten in place counts as another one.

    ``light`` copies nothing, and only knows which tensor is which; ``far`` moves what layers give out.
    """

    def __init__(self, host: Host, *, backward: bool, light: bool, far: float) -> None:
        self._host, self._backward, self.light, self._far = host, backward, light, far
        self._values = host.adapter.values
        self._counting = Counting(paths_of(host))
        self._held: dict[int, tuple[Value, int]] = {}
        self.arrays: list[Array] = []
        self.shapes: list[tuple[str, tuple[int, ...]]] = []
        self.calls: list[Call] = []
        self.lines: list[Location | None] = []
        self.gradients: dict[int, int] = {}
        self.templates: dict[tuple[str, int], Template] = {}
        self.taken: dict[tuple[str, int], Sequence[tuple[int, ...]]] = {}
        self.outputs: dict[str, GivenOut] = {}
        self._likes: dict[str, Value] = {}
        self._layers = frozenset(_layers(host)) if far != 1 else frozenset()
        self.drops: list[tuple[int | None, float]] = []
        self.drop_lines: list[Location | None] = []

    def around(
        self, module: Network, args: tuple[Value, ...], kwargs: Mapping[str, Value], proceed: Callable[..., Value]
    ) -> Value:
        """Record one call."""
        begun = self._counting.begin(module)
        if begun is None:
            return proceed(*args, **kwargs)
        open_calls = self._counting.open
        template = self.templates[begun] = Template.of(args, kwargs, self._values.is_tensor)
        given = self._tensors((args, kwargs))
        self.taken[begun] = [self._values.shape(tensor) for tensor in given]
        ins = tuple(self._take(tensor) for tensor in given)
        if open_calls:
            # What a layer hands to a module that it holds is its own result, and no other call's.
            self._await_gradients(given, ins)
        place, parent = len(self.calls), open_calls[-1] if open_calls else None
        self.calls.append(Call(*begun, parent, ins, (), template.plain))
        self.lines.append(user_line(self._host.adapter.build.package()))
        open_calls.append(place)
        try:
            output = proceed(*args, **kwargs)
        finally:
            open_calls.pop()
        if id(module) in self._layers:
            output = replaced(output, self._values.is_tensor, self._moved)
        outs = tuple(self._take(tensor) for tensor in self._tensors(output))
        self.calls[place] = replace(self.calls[place], outs=outs)
        self._keep_structure(begun[0], output)
        self._await_gradients(self._tensors(output), outs)
        return output

    def dropped(self, share: float) -> float:
        """A dropout, in which call and on which line of the user's: it drops nothing here."""
        self.drop_lines.append(user_line(self._host.adapter.build.package()))
        self.drops.append((self._counting.open[-1] if self._counting.open else None, share))
        return 0.0

    def _moved(self, _: str, tensor: Value) -> Value:
        """Far out; of every second sample all negative, which a maximum over many values else never is."""
        if "float" not in self._values.dtype(tensor):
            return tensor
        array = self._values.to_numpy(tensor, copy=True)
        if array.ndim > 1 and float(array.min(initial=0)) < 0 < float(array.max(initial=0)):
            array[1::2] = -np.abs(array[1::2])
        largest = float(np.abs(array).max(initial=0))
        # From layer to layer the factors multiply; where nothing is finite any more, nothing is to be seen.
        factor = min(self._far, _FURTHEST / largest) if largest else self._far
        return self._values.from_numpy(array * array.dtype.type(factor), like=tensor)

    def _tensors(self, value: Value) -> list[Value]:
        return [tensor for _, tensor in leaves(value, self._values.is_tensor)]

    def _take(self, tensor: Value) -> int:
        held = self._held.get(id(tensor))
        if self.light:
            if held is not None:
                return held[1]
        else:
            array = self._values.to_numpy(tensor)
            if held is not None and _same(self.arrays[held[1]], array):
                return held[1]
            self.arrays.append(np.array(array, copy=True))
        self.shapes.append((self._values.dtype(tensor), self._values.shape(tensor)))
        # The tensor itself is held too, so that no other can get its identity.
        self._held[id(tensor)] = (tensor, len(self.shapes) - 1)
        return len(self.shapes) - 1

    def _keep_structure(self, path: str, output: Value) -> None:
        """How an output is put together, for whoever is to give another in its place."""
        if path not in self.outputs:
            tensors = self._tensors(output)
            likes = [self._like(tensor) for tensor in tensors]
            shapes = [self._values.shape(tensor) for tensor in tensors]
            self.outputs[path] = GivenOut(Template.of((output,), {}, self._values.is_tensor), likes, shapes)

    def _like(self, tensor: Value) -> Value:
        """An empty tensor of the same kind, for which the first of its type stands."""
        dtype = self._values.dtype(tensor)
        if dtype not in self._likes:
            self._likes[dtype] = self._values.from_numpy(np.empty(0, np.float32), like=tensor)
        return self._likes[dtype]

    def _await_gradients(self, tensors: Sequence[Value], places: Sequence[int]) -> None:
        if self._backward and not self.light:
            for tensor, place in zip(tensors, places, strict=True):
                self._await_gradient(tensor, place)

    def _await_gradient(self, tensor: Value, place: int) -> None:
        if place in self.gradients or "float" not in self._values.dtype(tensor):
            return

        def keep(gradient: Value) -> None:
            if place not in self.gradients:
                self.gradients[place] = len(self.arrays)
                self.arrays.append(self._values.to_numpy(gradient, copy=True))
                self.shapes.append((self.arrays[-1].dtype.name, self.arrays[-1].shape))

        self._host.adapter.hooks.on_gradient(tensor, keep)


def _layers(host: Host) -> Iterator[int]:
    """The modules that have tensors, and hold none that has, by identity."""
    modules = {path: id(module) for path, module in host.adapter.values.modules(host.model)}
    above = [list(_above(tensor.name, modules)) for tensor in host.adapter.values.tensors(host.model)]
    holders = {paths[0] for paths in above if paths}
    return (modules[path] for path in holders - {path for paths in above for path in paths[1:]})


def _above(name: str, modules: Mapping[str, int]) -> Iterator[str]:
    """The modules that a tensor is in, the innermost first."""
    while name:
        name = name.rpartition(".")[0]
        if name in modules:
            yield name


def _same(a: Array, b: Array) -> bool:
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    first, second = (np.ascontiguousarray(array).reshape(-1).view(np.uint8) for array in (a, b))
    return np.array_equal(first, second)
