"""How a module was built, building it again with one thing changed, and running it by itself."""

from __future__ import annotations

import functools
import inspect
import sys
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn

from trueline.adapters.lines import user_line
from trueline.adapters.protocol import Array, Built, Passed
from trueline.adapters.torch import values
from trueline.adapters.tree import leaves
from trueline.model.run import Line
from trueline.model.trouble import BadUsage

PACKAGE = str(Path(torch.__file__).parent) + "/"
_PLAIN = frozenset((bool, int, float, str, type(None), torch.dtype, torch.device, torch.Size))
_Arguments = tuple[tuple[Any, ...], dict[str, Any], Line | None]
_asked: weakref.WeakKeyDictionary[Any, _Arguments] = weakref.WeakKeyDictionary()
_built: weakref.WeakKeyDictionary[Any, _Arguments] = weakref.WeakKeyDictionary()
_capturing = False


def package() -> str:
    """Torch's folder, with its closing slash."""
    return PACKAGE


class Placeholder:
    """Stands for an argument that is not kept: a tensor or a module."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __repr__(self) -> str:
        return f"<{self.kind}>"


def _kept(value: Any) -> Any:
    if type(value) in _PLAIN or (callable(value) and not isinstance(value, nn.Module)):
        return value
    if isinstance(value, list | tuple) and len(value) <= 64:
        parts = [_kept(one) for one in value]
        return parts if isinstance(value, list) else tuple(parts)
    if isinstance(value, Mapping) and len(value) <= 64:
        return {name: _kept(one) for name, one in value.items()}
    return Placeholder(type(value).__name__)


def capture_built() -> None:
    """Remember the constructor's arguments of every module built from now on; nothing is stored on the module."""
    global _capturing
    if _capturing:
        return
    _capturing = True

    def new(cls: type, *args: Any, **kwargs: Any) -> Any:
        following = super(nn.Module, cls).__new__
        module = following(cls) if following is object.__new__ else following(cls, *args, **kwargs)
        _asked[module] = (
            tuple(_kept(one) for one in args),
            {name: _kept(one) for name, one in kwargs.items()},
            user_line(PACKAGE, frame=sys._getframe(1)),
        )
        return module

    initialise = nn.Module.__init__

    # Copies and unpickled modules are made by __new__ alone, without arguments: only __init__ shows a real one.
    @functools.wraps(initialise)
    def init(module: Any, *args: Any, **kwargs: Any) -> None:
        if module in _asked:
            _built[module] = _asked.pop(module)
        initialise(module, *args, **kwargs)

    nn.Module.__init__ = init
    # Never taken away again: a class whose __new__ was deleted refuses arguments.
    nn.Module.__new__ = staticmethod(new)


def built(module: Any) -> Built | None:
    """How a module was built, or None for one that was there before capturing began."""
    found = _built.get(module)
    if found is None:
        return None
    args, kwargs, line = found
    try:
        bound = inspect.signature(type(module).__init__).bind(module, *args, **kwargs)
    except (TypeError, ValueError):
        return Built(type(module), dict(kwargs), line, complete=False)
    bound.apply_defaults()
    arguments = dict(list(bound.arguments.items())[1:])
    return Built(type(module), arguments, line, complete=not any(map(_holds_placeholder, arguments.values())))


def _holds_placeholder(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_holds_placeholder, value))
    if isinstance(value, Mapping):
        return any(map(_holds_placeholder, value.values()))
    return isinstance(value, Placeholder)


def rebuild(module: Any, **changes: Any) -> Any:
    """A new module of the same arguments and weights with only ``changes`` different."""
    found = built(module)
    if found is None or not found.complete:
        raise BadUsage("torch.cannot_rebuild", module=type(module).__name__)
    arguments = {**found.arguments, **changes}
    signature = inspect.signature(type(module).__init__)
    positional: list[Any] = []
    for name, parameter in signature.parameters.items():
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            positional = list(arguments.pop(name, ()))
        elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
            arguments.update(arguments.pop(name, {}))
    with torch.random.fork_rng():
        made = type(module)(*positional, **arguments)
    old = module.state_dict()
    fitting = {
        name: old[name] for name, value in made.state_dict().items() if name in old and old[name].shape == value.shape
    }
    made.load_state_dict(fitting, strict=False)
    first = next((value for value in old.values() if value.is_floating_point()), None)
    if first is not None:
        made.to(device=first.device, dtype=first.dtype)
    return made.train(module.training)


def run(module: Any, inputs: Sequence[Array], *, gout: Sequence[Array] | None = None, train: bool = False) -> Passed:
    """One module forward, and with ``gout`` backward, leaving its mode, buffers and gradients as they were."""
    modes = [(one, one.training) for one in module.modules()]
    buffers = {name: value.clone() for name, value in module.named_buffers()}
    module.train(train)
    try:
        given = [values.from_numpy(one) for one in inputs]
        for one in given:
            if one.is_floating_point() and gout is not None:
                one.requires_grad_()
        with torch.set_grad_enabled(gout is not None):
            outputs = [one for _, one in leaves(module(*given), torch.is_tensor)]
        copies = [values.to_numpy(one, copy=True) for one in outputs]
        if gout is None:
            return Passed(copies)
        named = [(name, one) for name, one in module.named_parameters() if one.requires_grad]
        wanted = [one for one in given if one.requires_grad] + [one for _, one in named]
        differentiable = [
            (one, values.from_numpy(grad, like=one))
            for one, grad in zip(outputs, gout, strict=True)
            if one.requires_grad
        ]
        found = iter(
            torch.autograd.grad(
                [one for one, _ in differentiable], wanted, [grad for _, grad in differentiable], allow_unused=True
            )
        )
        gin = [_array(next(found)) if one.requires_grad else None for one in given]
        grads = {name: array for (name, _), array in zip(named, map(_array, found), strict=True) if array is not None}
        return Passed(copies, gin, grads)
    finally:
        for one, mode in modes:
            one.training = mode
        for name, value in module.named_buffers():
            value.copy_(buffers[name])


def _array(tensor: Any) -> Array | None:
    return None if tensor is None else values.to_numpy(tensor, copy=True)


def apply_gradients(optimizer: Any, gradients: Sequence[Array]) -> None:
    """Give the optimizer these gradients, in the order of its groups' parameters, and let it step."""
    parameters = [one for group in optimizer.param_groups for one in group["params"]]
    for parameter, gradient in zip(parameters, gradients, strict=True):
        parameter.grad = values.from_numpy(gradient, like=parameter)
    optimizer.step()
