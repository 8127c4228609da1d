"""Op level in PyNative: MindSpore has no dispatch mode, so the entry points of its kernels are wrapped temporarily."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager

import mindspore as ms
from mindspore import nn
from mindspore.ops import Primitive

from trueline.adapters.lines import user_line
from trueline.adapters.mindspore import internals, values
from trueline.adapters.mindspore.build import PACKAGE
from trueline.adapters.mindspore.internals import JitExecutor, grad_node
from trueline.adapters.nouns import Alter, Foreign, Function, OpCall, Value
from trueline.adapters.patching import Patches
from trueline.adapters.settings import plain_settings
from trueline.adapters.tree import leaves
from trueline.model.json_value import Json
from trueline.model.location import Location

_OPERATORS = (
    *("__add__", "__radd__", "__iadd__", "__sub__", "__rsub__", "__isub__", "__mul__", "__rmul__", "__imul__"),
    *("__truediv__", "__rtruediv__", "__itruediv__", "__floordiv__", "__mod__", "__pow__", "__rpow__"),
    *("__matmul__", "__neg__", "__abs__", "__getitem__", "__setitem__"),
)


class _Watching:
    """Reports the outermost of nested entry points, so that each operator is reported once."""

    def __init__(self, callback: Callable[[OpCall], None], alter: Alter | None, *, backward: bool = True) -> None:
        self.callback, self.alter, self.backward = callback, alter, backward
        self.inside = False
        self.on = True
        self.reported = 0

    def wrap(self, name: str, original: Function) -> Function:
        def call(*args: object, **kwargs: object) -> Value:
            if self.inside or not self.on:
                return original(*args, **kwargs)
            self.inside = True
            try:
                if self.alter is not None:
                    changed = self.alter(name, user_line(PACKAGE), _settings(args, kwargs))
                    args, kwargs = _with(args, kwargs, changed) if changed else (args, kwargs)
                output = original(*args, **kwargs)
                self.report(name, (args, kwargs), output, _settings(args, kwargs))
            finally:
                self.inside = False
            return output

        return call

    def wrap_run_op(self, original: Function) -> Function:
        def run_op(primitive: Foreign, name: str, args: Value) -> Value:
            if self.inside or not self.on:
                return original(primitive, name, args)
            self.inside = True
            try:
                output = original(primitive, name, args)
                attributes = plain_settings(primitive.attrs, internals.DTYPE_MODULE)
                self.report(name, args, output, {**attributes, **_settings(args, {})})
            finally:
                self.inside = False
            return output

        return run_op

    def report(self, name: str, given: Value, output: Value, settings: dict[str, Json]) -> None:
        outputs = [tensor for _, tensor in leaves(output, values.is_tensor)]
        if not outputs:
            return
        line = user_line(PACKAGE)
        inputs = [tensor for _, tensor in leaves(given, values.is_tensor)]
        self.reported += 1
        self.callback(OpCall(name, inputs, outputs, line, settings=settings, node=self.reported))
        node = grad_node(outputs[0]) if self.backward else None
        if node is not None:
            node.register_hook(self._backward(name, line, self.reported))

    def _backward(self, name: str, line: Location | None, number: int) -> Callable[[Value, Value], None]:
        def arrived(gin: Value, gout: Value) -> None:
            if self.on:
                before = [tensor for _, tensor in leaves(gout, values.is_tensor)]
                after = [tensor for _, tensor in leaves(gin, values.is_tensor)]
                self.callback(OpCall(name, before, after, line, backward=True, node=number))

        return arrived


def _settings(args: Sequence[object], kwargs: Mapping[str, object]) -> dict[str, Json]:
    """The plain arguments, by position where unnamed; the first argument of a method is the tensor itself."""
    placed = {str(place): argument for place, argument in enumerate(_placed(args))}
    return plain_settings({**placed, **kwargs}, internals.DTYPE_MODULE)


def _placed(args: Sequence[object]) -> Sequence[object]:
    """What an operator is given; kernels take a primitive and the list of its arguments."""
    last = args[-1] if args else None
    return last if len(args) == 2 and isinstance(args[0], Primitive) and isinstance(last, list | tuple) else args


def _with(
    args: tuple[object, ...], kwargs: Mapping[str, object], changed: Mapping[str, Json]
) -> tuple[tuple[object, ...], dict[str, object]]:
    """The arguments, some of them changed."""
    before = _placed(args)
    placed = [changed.get(str(place), value) for place, value in enumerate(before)]
    named = {**kwargs, **{name: value for name, value in changed.items() if name in kwargs}}
    return (tuple(placed) if before is args else (args[0], placed)), named


_ABSENT = object()


class _Entries:
    """Attribute replacements that can be applied and reverted repeatedly."""

    def __init__(self) -> None:
        self._entries: list[tuple[object, str, object, object]] = []

    def add(self, owner: object, name: str, replacement: object) -> None:
        self._entries.append((owner, name, vars(owner).get(name, _ABSENT), replacement))

    def put(self) -> None:
        for owner, name, _, replacement in self._entries:
            setattr(owner, name, replacement)

    def take(self) -> None:
        for owner, name, before, _ in self._entries:
            if before is _ABSENT:
                delattr(owner, name)
            else:
                setattr(owner, name, before)


def _add_functions(watching: _Watching, entries: _Entries) -> None:
    """Add kernels held as ``pyboost_*`` and ``_*_instance``, and the entry of the older primitives, in every module."""
    made: dict[int, Function] = {}
    for module in internals.python_modules():
        for held, value in list(vars(module).items()):
            if not callable(value) or isinstance(value, type):
                continue
            if held == internals.RUN_OPERATOR:
                wrapped = made.setdefault(id(value), watching.wrap_run_op(value))
            elif (kernel := internals.kernel_name(held, value)) is not None:
                wrapped = made.setdefault(id(value), watching.wrap(kernel, value))
            else:
                continue
            entries.add(module, held, wrapped)


def _add_methods(watching: _Watching, entries: _Entries) -> None:
    """Add Tensor methods implemented in C++, and C++ primitives."""
    base = ms.Tensor.__mro__[1]
    for name in {*internals.CPP_METHODS, *_OPERATORS}:
        method = vars(base).get(name)
        if method is not None and callable(method) and name not in vars(ms.Tensor):
            entries.add(ms.Tensor, name, watching.wrap(name.strip("_"), method))
    for name, kind in internals.cpp_primitives():
        entries.add(kind, "__call__", watching.wrap(name, vars(kind)["__call__"]))


def _leave_compiling_alone(entries: _Entries, patches: Patches) -> None:
    """Functions and cells compiled in the block, such as optimizers, must find MindSpore's own functions."""

    def make(original: Function) -> Function:
        def compile_untouched(*args: object, **kwargs: object) -> object:
            entries.take()
            try:
                return original(*args, **kwargs)
            finally:
                entries.put()

        return compile_untouched

    patches.wrap(JitExecutor, "compile", make)
    patches.wrap(nn.Cell, "compile", make)


def watch(callback: Callable[[OpCall], None], alter: Alter | None = None) -> AbstractContextManager[None]:
    """Report every operator call in this block, and its backward when gradients arrive."""
    return _watched(_Watching(callback, alter))


def begin(callback: Callable[[OpCall], None]) -> Callable[[], bool] | None:
    """Report every operator call of forward passes from now on."""
    looking = _watched(_Watching(callback, None, backward=False))
    looking.__enter__()

    def end() -> bool:
        looking.__exit__(None, None, None)
        return True

    return end


@contextmanager
def _watched(watching: _Watching) -> Iterator[None]:
    patches = Patches()
    entries = _Entries()
    _add_functions(watching, entries)
    _add_methods(watching, entries)
    _leave_compiling_alone(entries, patches)
    entries.put()
    try:
        yield
    finally:
        watching.on = False
        patches.remove()
        entries.take()


@contextmanager
def making(callback: Callable[[Value, Location | None], None]) -> Iterator[None]:
    """Report every tensor that is made of data in this block."""

    def make(original: Function) -> Function:
        def init(tensor: Value, *args: object, **kwargs: object) -> None:
            original(tensor, *args, **kwargs)
            callback(tensor, user_line(PACKAGE))

        return init

    patches = Patches()
    patches.wrap(ms.Tensor, "__init__", make)
    try:
        yield
    finally:
        patches.remove()
