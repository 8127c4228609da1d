"""Functions compiled with jit: only their inputs and outputs are visible."""

from __future__ import annotations

import types
from collections.abc import Iterable, Iterator

from mindspore import amp

from trueline.adapters.mindspore import values
from trueline.adapters.mindspore.gradients import report_loss, report_parameters
from trueline.adapters.mindspore.internals import JitExecutor
from trueline.adapters.mindspore.session import Session
from trueline.adapters.mindspore.wrappers import OPTIMIZERS
from trueline.adapters.nouns import Foreign, Function, Optimizer, Value
from trueline.adapters.patching import Patches
from trueline.adapters.tree import leaves

# How many calls deep an optimizer is looked for in a compiled function.
_MAX_CALL_DEPTH = 4


def watch(session: Session, patches: Patches) -> None:
    """Report every compiled function that the user calls."""
    patches.wrap(JitExecutor, "__call__", lambda original: _calls(session, original))


def _calls(session: Session, original: Function) -> Function:
    def call(executor: Foreign, *args: object, **kwargs: object) -> Value:
        if not session.is_reporting():
            return original(executor, *args, **kwargs)
        function = executor.fn
        if str(function.__module__).startswith("mindspore."):
            gradient = _closure(function).get("grad_")
            if gradient is None:
                return original(executor, *args, **kwargs)
            return _differentiate(session, original, executor, gradient, args, kwargs)
        session.notice("mindspore.jit", function.__qualname__, function=function.__qualname__)
        optimizer = _mentioned(function, OPTIMIZERS, owner=executor.obj)
        if optimizer is None:
            with session.silence():
                return original(executor, *args, **kwargs)
        return _train(session, original, executor, optimizer, args, kwargs)

    return call


def _train(
    session: Session, original: Function, executor: Foreign, optimizer: Optimizer, args: Value, kwargs: Value
) -> Value:
    """A whole training step in one function: its first output is taken as the loss."""
    session.optimizer = optimizer
    session.observer.step_due(optimizer)
    session.observer.step_began(optimizer, None)
    try:
        with session.silence():
            output = original(executor, *args, **kwargs)
        first = next((tensor for _, tensor in leaves(output, values.is_tensor)), None)
        if first is not None and first.size == 1:
            session.observer.loss(first, "model")
    except BaseException:
        session.observer.aside("undone", optimizer=optimizer)
        raise
    finally:
        session.observer.step_ended(optimizer, False)
    return output


def _differentiate(
    session: Session, original: Function, executor: Foreign, gradient: Value, args: Value, kwargs: Value
) -> Value:
    """``value_and_grad`` in graph mode: forward and backward in one graph."""
    session.settle()
    inside = _closure(executor.fn)
    function = inside.get("fn")
    session.observer.forward_began([argument for argument in args if values.is_tensor(argument)])
    name = getattr(function, "__qualname__", type(function).__name__)
    session.notice("mindspore.graph_mode", name, module=name)
    with session.silence():
        output = original(executor, *args, **kwargs)
    if getattr(gradient, "get_value", False) and isinstance(output, tuple):
        scaler = _mentioned(function, (amp.DynamicLossScaler, amp.StaticLossScaler))
        session.scaled = [(None, None, values.keep(scaler.scale_value))] if scaler is not None else []
        report_loss(session, output[0], "value_and_grad")
    session.observer.backward_began()
    session.observer.backward_ended()
    report_parameters(session, inside.get("weights"), (), inside.get("grad_position"), args)
    return output


def _closure(function: object) -> dict[str, Foreign]:
    code = getattr(function, "__code__", None)
    cells = getattr(function, "__closure__", None)
    if code is None or not cells:
        return {}
    return dict(_filled(zip(code.co_freevars, cells, strict=True)))


def _filled(cells: Iterable[tuple[str, types.CellType]]) -> Iterator[tuple[str, Foreign]]:
    for name, cell in cells:
        try:
            yield name, cell.cell_contents
        except ValueError:
            # Assigned only later in the enclosing function.
            continue


def _mentioned(function: Foreign, kinds: tuple[type, ...], *, owner: Foreign = None, depth: int = 0) -> Foreign:
    """The first object of these types that a function, or a function it calls, refers to by name."""
    owner = getattr(function, "__self__", owner)
    function = getattr(function, "__func__", function)
    function = getattr(function, "__wrapped__", function)
    if depth > _MAX_CALL_DEPTH or not isinstance(function, types.FunctionType):
        return None
    names = function.__code__.co_names
    held = [function.__globals__[name] for name in names if name in function.__globals__]
    held.extend(_closure(function).values())
    held.extend(getattr(owner, name) for name in names if owner is not None and hasattr(owner, name))
    for value in held:
        if isinstance(value, kinds):
            return value
    for value in held:
        if callable(value) and not str(getattr(value, "__module__", "")).startswith("mindspore"):
            mentioned = _mentioned(value, kinds, depth=depth + 1)
            if mentioned is not None:
                return mentioned
    return None
