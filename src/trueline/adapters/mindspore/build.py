"""How a cell was constructed; rebuilding it with changed arguments; running it in isolation."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import mindspore as ms
import numpy as np
from mindspore import context, nn

from trueline.adapters.arguments import Arguments, describe, holds_placeholder, keep_all, make_changed
from trueline.adapters.identity import ByIdentity
from trueline.adapters.lines import user_line
from trueline.adapters.mindspore import values
from trueline.adapters.mindspore.autograd import vjp
from trueline.adapters.mindspore.wrappers import OPTIMIZERS
from trueline.adapters.nouns import Built, Network, Optimizer, Passed, Value
from trueline.adapters.tree import leaves
from trueline.kernel.array import Array
from trueline.model.location import Location
from trueline.model.trouble import BadUsage

PACKAGE = str(Path(ms.__file__).parent) + "/"
_built: ByIdentity[Arguments] = ByIdentity()
_capturing = False


def package() -> str:
    """MindSpore's package folder with a trailing slash: frames in it are not the user's."""
    return PACKAGE


def _is_heavy(value: object) -> bool:
    return isinstance(value, nn.Cell | ms.Tensor)


def capture_built() -> None:
    """From now on capture the constructor arguments of every cell; nothing is stored on the cell."""
    global _capturing
    if _capturing:
        return
    _capturing = True
    original = nn.Cell.__new__

    def new(class_: type, *args: object, **kwargs: object) -> Network:
        cell = original(class_, *args, **kwargs)
        caller = sys._getframe(1)
        # A copy is made without arguments, which would not be the ones it was built with.
        if caller.f_code.co_name != "__newobj__":
            with suppress(Exception):
                _built.set(cell, keep_all(args, kwargs, user_line(PACKAGE, frame=caller), _is_heavy))
        return cell

    nn.Cell.__new__ = staticmethod(new)


def built_cells() -> list[Network]:
    """Live cells whose construction was captured, in order."""
    return list(_built)


def last_optimizer() -> Optimizer:
    """The live optimizer constructed last."""
    return next(reversed(optimizers()), None)


def optimizers() -> list[Optimizer]:
    """Live optimizers whose construction was captured, in order."""
    return [cell for cell in _built if isinstance(cell, OPTIMIZERS)]


def built(module: Network) -> Built | None:
    """How a cell was constructed; None for one constructed before capturing began."""
    arguments = _built.get(module)
    return describe(module, arguments) if arguments is not None else None


def line_of(optimizer: Optimizer) -> Location | None:
    """The user's line that constructed an optimizer, if captured."""
    arguments = _built.get(optimizer) if isinstance(optimizer, nn.Cell) else None
    return arguments.line if arguments is not None else None


def rebuild(module: Network, **changes: object) -> Network:
    """A new cell with the same arguments and weights except for ``changes``."""
    original = built(module)
    arguments = original.arguments if original is not None else {}
    if original is None or holds_placeholder({**arguments, **changes}) or not (original.complete or arguments):
        raise BadUsage("mindspore.cannot_rebuild", module=type(module).__name__)
    # Initial values are drawn from NumPy's generator, and are overwritten below.
    drawn = np.random.get_state()
    made = make_changed(type(module), arguments, changes, "mindspore")
    np.random.set_state(drawn)
    old = {tensor.name: tensor.value for tensor in values.tensors(module)}
    for tensor in values.tensors(made):
        before = old.get(tensor.name)
        if before is not None and values.shape(before) == values.shape(tensor.value):
            values.assign(tensor.value, values.to_numpy(before, copy=True))
    return made.set_train(module.training)


@contextmanager
def undisturbed(module: Network, train: bool) -> Iterator[None]:
    """Run op by op in the given mode, then restore modes and running statistics."""
    mode, jit = context.get_context("mode"), os.environ.get("MS_JIT")
    # What is decorated to be compiled is run as it was written too.
    os.environ["MS_JIT"] = "0"
    if mode == ms.GRAPH_MODE:
        context.set_context(mode=ms.PYNATIVE_MODE)
    try:
        with modes_kept(module, train):
            yield
    finally:
        if jit is None:
            del os.environ["MS_JIT"]
        else:
            os.environ["MS_JIT"] = jit
        if mode == ms.GRAPH_MODE:
            context.set_context(mode=mode)


@contextmanager
def modes_kept(module: Network, train: bool) -> Iterator[None]:
    """Run in the given mode, then restore modes, names of parameters and running statistics."""
    modes = [(cell, bool(cell.training)) for _, cell in values.modules(module)]
    # A slice of a list of cells renames their parameters, each time it is taken.
    names = [(parameter, parameter.name) for parameter in module.get_parameters()]
    buffers = [
        (buffer.value, values.to_numpy(buffer.value, copy=True))
        for buffer in values.tensors(module)
        if not buffer.trainable
    ]
    if any(mode is not train for _, mode in modes):
        module.set_train(train)
    try:
        yield
    finally:
        for cell, mode in modes:
            # Setting it reaches all that a cell holds: most have it by then.
            if bool(cell.training) is not mode:
                cell.set_train(mode)
        for parameter, name in names:
            if parameter.name != name:
                parameter.name = name
        for tensor, before in buffers:
            values.assign(tensor, before)


def run(
    module: Network, inputs: Sequence[Array], *, gout: Sequence[Array] | None = None, train: bool = False
) -> Passed:
    """Forward pass of one cell, with ``gout`` also backward, leaving its mode and buffers unchanged."""
    given = [values.from_numpy(array) for array in inputs]
    with undisturbed(module, train):
        if gout is None:
            with values.without_gradient():
                return Passed(_arrays(module(*given)))
        return _run_backward(module, given, gout)


def _arrays(output: Value) -> list[Array]:
    return [values.to_numpy(tensor, copy=True) for _, tensor in leaves(output, values.is_tensor)]


def _run_backward(module: Network, given: list[Value], gout: Sequence[Array]) -> Passed:
    named = {tensor.name: tensor.value for tensor in values.tensors(module) if tensor.trainable}
    pulled = vjp(module, given, list(named.values()), gout)
    grads = {name: gradient for name, gradient in zip(named, pulled.grads, strict=True) if gradient is not None}
    return Passed(pulled.outputs, pulled.gin, grads)


def apply_gradients(optimizer: Optimizer, gradients: Sequence[Array]) -> None:
    """One optimizer step with these gradients, in the order of its groups' parameters."""
    parameters = [parameter for group in values.groups(optimizer) for parameter in group.parameters]
    given = {
        id(parameter): values.from_numpy(gradient, like=parameter)
        for parameter, gradient in zip(parameters, gradients, strict=True)
    }
    optimizer(tuple(given[id(parameter)] for parameter in optimizer.parameters))
