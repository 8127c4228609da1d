"""One run of the whole model: what went into every module's call, what came out, and the gradient that came back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from trueline.adapters.guest.faults import said_for
from trueline.adapters.guest.wire import Content
from trueline.adapters.lines import user_line
from trueline.adapters.protocol import Values
from trueline.adapters.tree import leaves, replaced
from trueline.kernel.array import Array
from trueline.model.location import Location
from trueline.pair.child.calls import Counting, held_still, paths_of, tensors_of
from trueline.pair.child.host import Answer, Host
from trueline.pair.child.templates import Template


def answer_record(host: Host, content: Content, arrays: list[Array]) -> Answer:
    """The calls in order, and with ``send`` all that was seen, with ``train`` also backward."""
    taken = _Taking(host, train=content["train"], light=not content["send"], far=content["far"])
    with said_for(host.side, "running", arrays), held_still(host, train=content["train"], share=taken.dropped):
        outputs, grads = _run(host, taken, arrays, content["train"], content["seed"])
    host.kept["templates"] = taken.templates
    host.kept["outputs"] = taken.outputs
    host.kept["taken"] = taken
    names = list(grads)
    told: Content = {
        "calls": taken.calls,
        "gradients": {str(place): one for place, one in taken.gradients.items()},
        "shapes": taken.shapes,
        "outputs": len(outputs),
        "grads": names,
        "drops": taken.drops,
        "returned": taken.returned,
        "drop_lines": [one.line_json() if one is not None else None for one in taken.drop_lines],
    }
    return told, [*outputs, *(grads[name] for name in names), *(taken.arrays if content["send"] else ())]


def _run(
    host: Host, taken: _Taking, arrays: Sequence[Array], train: bool, seed: int
) -> tuple[list[Array], dict[str, Array]]:
    adapter = host.adapter
    given = tensors_of(host, arrays)
    with adapter.intercept.intercept(taken.around):
        if not train or taken.light:
            with adapter.autograd.without_gradient():
                result = host.model(*given)
            found = [one for _, one in leaves(result, adapter.values.is_tensor)]
            taken.returned = _returned(result, adapter.values)
            return [adapter.values.to_numpy(one, copy=True) for one in found], {}
        named = _trainable(host)
        pulled = adapter.autograd.vjp(lambda *tensors: host.model(*tensors), given, list(named.values()), _gout(seed))
    grads = {name: one for name, one in zip(named, pulled.grads, strict=True) if one is not None}
    return list(pulled.outputs), grads


def _returned(result: Any, values: Values) -> dict[str, Any]:
    """How the output is put together."""
    form = "tensor" if values.is_tensor(result) else "sequence" if isinstance(result, list | tuple) else "mapping"
    names = [name for name, _ in leaves(result, values.is_tensor)]
    return {"form": form, "kind": type(result).__name__, "names": names}


def _trainable(host: Host) -> dict[str, Any]:
    found: dict[int, tuple[str, Any]] = {}
    for one in host.adapter.values.tensors(host.model):
        if one.trainable and not one.buffer:
            found.setdefault(id(one.value), (one.name, one.value))
    return dict(found.values())


def _gout(seed: int) -> Callable[[Sequence[Array]], Sequence[Array]]:
    """The same gradients for outputs of the same shapes, on both sides."""

    def draw(outputs: Sequence[Array]) -> list[Array]:
        random = np.random.default_rng(seed)
        return [random.standard_normal(one.shape).astype(np.float32) for one in outputs]

    return draw


class _Taking:
    """Copies what is seen, each tensor once: what is rewritten in place counts as another one.

    ``light`` copies nothing, and only knows which tensor is which; ``far`` moves what layers give out.
    """

    def __init__(self, host: Host, *, train: bool, light: bool, far: float) -> None:
        self._host, self._train, self.light, self._far = host, train, light, far
        self._values = host.adapter.values
        self._counting = Counting(paths_of(host))
        self._held: dict[int, tuple[Any, int]] = {}
        self.arrays: list[Array] = []
        self.shapes: list[tuple[str, list[int]]] = []
        self.calls: list[dict[str, Any]] = []
        self.gradients: dict[int, int] = {}
        self.templates: dict[tuple[str, int], Template] = {}
        self.outputs: dict[str, tuple[Template, list[Any]]] = {}
        self.drops: list[tuple[int | None, float]] = []
        self.drop_lines: list[Location | None] = []
        self.returned: dict[str, Any] | None = None

    def around(self, module: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], proceed: Callable[..., Any]) -> Any:
        """Record one call."""
        begun = self._counting.begin(module)
        if begun is None:
            return proceed(*args, **kwargs)
        open_calls = self._counting.open
        told: dict[str, Any] = {"path": begun[0], "call": begun[1], "parent": open_calls[-1] if open_calls else None}
        told["ins"] = [self._take(one) for one in self._tensors((args, kwargs))]
        self.templates[begun] = Template.of(args, kwargs, self._values.is_tensor)
        told["plain"] = self.templates[begun].plain
        open_calls.append(len(self.calls))
        self.calls.append(told)
        try:
            output = proceed(*args, **kwargs)
        finally:
            open_calls.pop()
        if self._far != 1 and self._is_layer(module):
            output = replaced(output, self._values.is_tensor, self._moved)
        told["outs"] = [self._take(one) for one in self._tensors(output)]
        self._keep_structure(begun[0], output)
        if self._train and not self.light:
            for tensor, place in zip(self._tensors(output), told["outs"], strict=True):
                self._await_gradient(tensor, place)
        return output

    def dropped(self, share: float) -> float:
        """A dropout, in which call and on which line of the user's: it drops nothing here."""
        self.drop_lines.append(user_line(self._host.adapter.build.package()))
        self.drops.append((self._counting.open[-1] if self._counting.open else None, share))
        return 0.0

    def _is_layer(self, module: Any) -> bool:
        """Whether a module has tensors, and none inside it has."""
        below = (one for path, one in self._values.modules(module) if path)
        return any(self._values.tensors(module)) and not any(any(self._values.tensors(one)) for one in below)

    def _moved(self, _: str, tensor: Any) -> Any:
        """Far out; of every second sample all negative, which a maximum over many values else never is."""
        if "float" not in self._values.dtype(tensor):
            return tensor
        array = self._values.to_numpy(tensor, copy=True)
        if array.ndim > 1 and float(array.min(initial=0)) < 0 < float(array.max(initial=0)):
            array[1::2] = -np.abs(array[1::2])
        return self._values.from_numpy(array * array.dtype.type(self._far), like=tensor)

    def _tensors(self, value: Any) -> list[Any]:
        return [one for _, one in leaves(value, self._values.is_tensor)]

    def _take(self, tensor: Any) -> int:
        held = self._held.get(id(tensor))
        if self.light:
            if held is not None:
                return held[1]
        else:
            array = self._values.to_numpy(tensor)
            if held is not None and _same(self.arrays[held[1]], array):
                return held[1]
            self.arrays.append(np.array(array, copy=True))
        self.shapes.append((self._values.dtype(tensor), list(self._values.shape(tensor))))
        # The tensor itself is held too, so that no other can get its identity.
        self._held[id(tensor)] = (tensor, len(self.shapes) - 1)
        return len(self.shapes) - 1

    def _keep_structure(self, path: str, output: Any) -> None:
        """How an output is put together, for whoever is to give another in its place."""
        if path not in self.outputs:
            likes = [self._values.from_numpy(np.empty(0, np.float32), like=one) for one in self._tensors(output)]
            self.outputs[path] = Template.of((output,), {}, self._values.is_tensor), likes

    def _await_gradient(self, tensor: Any, place: int) -> None:
        if place in self.gradients or "float" not in self._values.dtype(tensor):
            return

        def tell(gradient: Any) -> None:
            if place not in self.gradients:
                self.gradients[place] = len(self.arrays)
                self.arrays.append(self._values.to_numpy(gradient, copy=True))
                self.shapes.append((self.arrays[-1].dtype.name, list(self.arrays[-1].shape)))

        self._host.adapter.hooks.on_gradient(tensor, tell)


def _same(a: Array, b: Array) -> bool:
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    one, other = (np.ascontiguousarray(array).reshape(-1).view(np.uint8) for array in (a, b))
    return np.array_equal(one, other)
