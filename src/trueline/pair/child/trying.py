"""One module by itself, as it is or with one thing changed, on given arrays; the model stays as it was."""

from __future__ import annotations

import inspect
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import numpy as np

from trueline.adapters.guest.faults import first_line
from trueline.adapters.guest.wire import Content
from trueline.adapters.tree import leaves
from trueline.kernel.array import Array
from trueline.model.trouble import Trouble
from trueline.pair.child.host import Answer, Host


def answer_run_module(host: Host, content: Content, arrays: list[Array]) -> Answer:
    """Outputs, and with ``gout`` the gradients; ``failed`` is what the try raised, where it could not be done."""
    try:
        return _Trying(host, content, arrays).answer()
    except Exception as error:  # noqa: BLE001 - a changed module may fail in any way, which is an answer too
        traceback.print_exception(error)
        text = error.message.text("en") if isinstance(error, Trouble) else first_line(error)
        return {"failed": f"{type(error).__name__}: {text}"}, []


class _Trying:
    def __init__(self, host: Host, content: Content, arrays: list[Array]) -> None:
        self.host, self.content = host, content
        self.values, self.build = host.adapter.values, host.adapter.build
        self.module = dict(self.values.modules(host.model))[content["path"]]
        rest = iter(arrays)
        self.inputs = [next(rest) for _ in range(content["inputs"])]
        self.gout = None
        if content["gout"] is not None:
            self.gout = [next(rest) if there else None for there in content["gout"]]
        self.given = {name: next(rest) for name in content["given"]}
        self.lacking = {name: next(rest) for name in content["lacking"]}

    def answer(self) -> Answer:
        """Run, and tell what came of it."""
        module = self._changed()
        train = bool(self.content["train"])
        self.host.adapter.state.seed(self.content["seed"], deterministic=False)
        with self._set(module), self._assigned(module), self.build.undisturbed(module, train), self._dropping(module):
            outputs, gin, grads = self._run(module)
            after = {} if not train else self._buffers(module)
        parts = [*outputs, *(one for one in gin if one is not None), *grads.values(), *after.values()]
        told = {
            "outputs": len(outputs),
            "gin": [one is not None for one in gin],
            "grads": list(grads),
            "after": list(after),
            "dtypes": sorted({self.values.dtype(one.value) for one in self.values.tensors(module)}),
        }
        return told, parts

    def _dropping(self, module: Any) -> AbstractContextManager[None]:
        """In the block each dropout drops what it does, nothing, or what is wished, in their order."""
        wished = self.content["dropout"]
        if wished is True:
            return nullcontext()
        steady = self.host.adapter.steady
        if wished is False:
            return steady.without_dropout(module)
        remaining = iter(wished)
        return steady.without_dropout(module, lambda share: next(remaining, share))

    def _changed(self) -> Any:
        """The module, or a new one in its place."""
        changes, other = self.content["changes"], self.content["build"]
        if other is not None:
            return self._other(other["class"], _tuples(other["arguments"]))
        if changes is not None:
            return self.build.rebuild(self.module, **self._in_place(_tuples(changes)))
        return self.module

    def _in_place(self, changes: dict[str, Any]) -> dict[str, Any]:
        """Changes of a constructor that takes all it is given as ``*args`` and ``**kwargs``."""
        names, built = self.content["positional"], self.build.built(self.module)
        parameters = inspect.signature(type(self.module).__init__).parameters
        if built is None or not names or not {"args", "kwargs"} <= set(parameters):
            return changes
        before = dict(zip(names, built.arguments.get("args", ()), strict=False))
        return {"args": (), "kwargs": {**before, **built.arguments.get("kwargs", {}), **changes}}

    def _other(self, name: str, arguments: dict[str, Any]) -> Any:
        """A module of another class of the framework, with the tensors that it shares with the one in its place."""
        package, _, word = name.rpartition(".")
        made = getattr(sys.modules[package], word)(**arguments)
        old = {one.name: one.value for one in self.values.tensors(self.module)}
        for one in self.values.tensors(made):
            before = old.get(one.name)
            if before is not None and self.values.shape(before) == self.values.shape(one.value):
                self.values.assign(one.value, self.values.to_numpy(before, copy=True))
        return made

    @contextmanager
    def _set(self, module: Any) -> Iterator[None]:
        """In the block attributes have other values."""
        sets = self.content["sets"] or {}
        before = {name: getattr(module, name) for name in sets}
        for name, value in sets.items():
            setattr(module, name, tuple(value) if isinstance(before[name], tuple) else value)
        try:
            yield
        finally:
            for name, value in before.items():
                setattr(module, name, value)

    @contextmanager
    def _assigned(self, module: Any) -> Iterator[None]:
        """In the block tensors have other values."""
        own = {one.name: one.value for one in self.values.tensors(module)}
        before = {one.name: self.values.shape(one.value) for one in self.values.tensors(self.module)}
        fresh = {
            name: one
            for name, one in self.lacking.items()
            if name in own and before.get(name) != self.values.shape(own[name])
        }
        wanted = {name: one for name, one in {**fresh, **self.given}.items() if name in own}
        kept = {name: self.values.to_numpy(own[name], copy=True) for name in wanted}
        for name, one in wanted.items():
            self.values.assign(own[name], one.reshape(self.values.shape(own[name])))
        try:
            yield
        finally:
            for name, array in kept.items():
                self.values.assign(own[name], array)

    def _run(self, module: Any) -> tuple[Sequence[Array], Sequence[Array | None], Mapping[str, Array]]:
        given = [self.values.from_numpy(one) for one in self._padded()]
        call = self._call(module)
        named = {one.name: one.value for one in self.values.tensors(module) if one.trainable and not one.buffer}
        if self.gout is None:
            with self.host.adapter.autograd.without_gradient():
                return self._forward(call, given), [], {}
        found = self.host.adapter.autograd.vjp(call, given, list(named.values()), self.gout)
        grads = {name: one for name, one in zip(named, found.grads, strict=True) if one is not None}
        return found.outputs, self._cropped(found.gin), grads

    def _forward(self, call: Callable[..., Any], given: Sequence[Any]) -> list[Array]:
        found = leaves(call(*given), self.values.is_tensor)
        return [self.values.to_numpy(one, copy=True) for _, one in found]

    def _call(self, module: Any) -> Callable[..., Any]:
        template = self.host.kept.get("templates", {}).get((self.content["path"], self.content["call"]))
        if template is None or template.count != len(self.inputs):
            called: Callable[..., Any] = module
            return called

        def call(*tensors: Any) -> Any:
            args, kwargs = template.filled(tensors)
            return module(*args, **kwargs)

        return call

    def _padded(self) -> list[Array]:
        """The first input with a border, where one is asked for."""
        pads = self.content["pads"]
        if not pads:
            return self.inputs
        first = self.inputs[0]
        whole = [(0, 0)] * (first.ndim - len(pads)) + [tuple(one) for one in pads]
        return [np.pad(first, whole, constant_values=self.content["pad_value"]), *self.inputs[1:]]

    def _cropped(self, gin: Sequence[Array | None]) -> list[Array | None]:
        pads = self.content["pads"]
        if not pads or not gin or gin[0] is None:
            return list(gin)
        first: Array = gin[0]
        for axis, (before, after) in enumerate(pads, first.ndim - len(pads)):
            first = first.take(range(before, first.shape[axis] - after), axis)
        return [first, *gin[1:]]

    def _buffers(self, module: Any) -> dict[str, Array]:
        found = (one for one in self.values.tensors(module) if one.buffer)
        return {one.name: self.values.to_numpy(one.value, copy=True) for one in found}


def _tuples(values: Mapping[str, Any]) -> dict[str, Any]:
    """JSON has lists where constructors want tuples."""
    return {name: tuple(one) if isinstance(one, list) else one for name, one in values.items()}
