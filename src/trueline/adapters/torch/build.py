"""How a module was constructed; rebuilding it with changed arguments; running it in isolation."""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

import torch
from torch import nn

from trueline.adapters.arguments import Arguments, describe, holds_placeholder, keep_all, make_changed
from trueline.adapters.identity import ByIdentity
from trueline.adapters.lines import user_line
from trueline.adapters.nouns import Built, Network, Optimizer, Passed
from trueline.adapters.torch import internals, values
from trueline.adapters.torch.autograd import vjp
from trueline.adapters.tree import leaves
from trueline.kernel.array import Array
from trueline.model.location import Location
from trueline.model.trouble import BadUsage

PACKAGE = str(Path(torch.__file__).parent) + "/"
_asked: ByIdentity[Arguments] = ByIdentity()
_built: ByIdentity[Arguments] = ByIdentity()
_lines: ByIdentity[Location] = ByIdentity()
_capturing = False


def package() -> str:
    """torch's package folder with a trailing slash."""
    return PACKAGE


def _is_heavy(value: object) -> bool:
    return isinstance(value, nn.Module | torch.Tensor)


def capture_built() -> None:
    """From now on capture the constructor arguments of every module; nothing is stored on the module."""
    global _capturing
    if _capturing:
        return
    _capturing = True

    def new(cls: type, *args: object, **kwargs: object) -> Network:
        following = super(nn.Module, cls).__new__
        module = following(cls) if following is object.__new__ else following(cls, *args, **kwargs)
        with contextlib.suppress(Exception):
            _asked.set(module, keep_all(args, kwargs, user_line(PACKAGE, frame=sys._getframe(1)), _is_heavy))
        return module

    initialise = nn.Module.__init__

    # Copies and unpickled modules are made by __new__ alone, without arguments: only __init__ shows a real one.
    @functools.wraps(initialise)
    def init(module: Network, *args: object, **kwargs: object) -> None:
        with contextlib.suppress(Exception):
            asked = _asked.pop(module)
            if asked is not None:
                _built.set(module, asked)
        initialise(module, *args, **kwargs)

    make_optimizer = torch.optim.Optimizer.__init__

    @functools.wraps(make_optimizer)
    def init_optimizer(optimizer: Optimizer, *args: object, **kwargs: object) -> None:
        with contextlib.suppress(Exception):
            line = user_line(PACKAGE, frame=sys._getframe(1))
            if line is not None:
                _lines.set(optimizer, line)
        make_optimizer(optimizer, *args, **kwargs)

    torch.optim.Optimizer.__init__ = init_optimizer
    nn.Module.__init__ = init
    # Never taken away again: a class whose __new__ was deleted refuses arguments.
    nn.Module.__new__ = staticmethod(new)


def built(module: Network) -> Built | None:
    """How a module was constructed; None for one constructed before capturing began."""
    arguments = _built.get(module)
    return describe(module, arguments) if arguments is not None else None


def line_of(optimizer: Optimizer) -> Location | None:
    """The user's line that constructed an optimizer, if captured."""
    return _lines.get(optimizer)


def optimizers() -> list[Optimizer]:
    """Live optimizers whose construction was captured."""
    return list(_lines)


def rebuild(module: Network, **changes: object) -> Network:
    """A new module with the same arguments and weights except for ``changes``."""
    original = built(module)
    if original is None or not original.complete or holds_placeholder({**original.arguments, **changes}):
        raise BadUsage("torch.cannot_rebuild", module=type(module).__name__)
    with torch.random.fork_rng():
        made = make_changed(type(module), original.arguments, changes, "torch")
    old = module.state_dict()
    fitting = {
        name: old[name] for name, value in made.state_dict().items() if name in old and old[name].shape == value.shape
    }
    made.load_state_dict(fitting, strict=False)
    first = next((value for value in old.values() if value.is_floating_point()), None)
    if first is not None:
        made.to(device=first.device, dtype=first.dtype)
    return made.train(module.training)


@contextmanager
def undisturbed(module: Network, train: bool) -> Iterator[None]:
    """Run op by op in the given mode, then restore modes and buffers."""
    with as_written(), modes_kept(module, train):
        yield


def as_written() -> AbstractContextManager[None]:
    """In this block compiled code runs eagerly."""
    if not internals.is_compiler_loaded():
        return nullcontext()
    stance: AbstractContextManager[None] = torch.compiler.set_stance("force_eager")
    return stance


@contextmanager
def modes_kept(module: Network, train: bool) -> Iterator[None]:
    """Run in the given mode, then restore modes and buffers."""
    modes = [(part, part.training) for part in module.modules()]
    buffers = {name: value.clone() for name, value in module.named_buffers()}
    if any(mode is not train for _, mode in modes):
        module.train(train)
    try:
        yield
    finally:
        for part, mode in modes:
            if part.training is not mode:
                part.training = mode
        with torch.no_grad():
            for name, value in module.named_buffers():
                value.copy_(buffers[name])


def run(
    module: Network, inputs: Sequence[Array], *, gout: Sequence[Array] | None = None, train: bool = False
) -> Passed:
    """Forward pass of one module, with ``gout`` also backward, leaving its mode, buffers and gradients unchanged."""
    with undisturbed(module, train):
        return passed(module, inputs, gout)


def passed(module: Network, inputs: Sequence[Array], gout: Sequence[Array] | None) -> Passed:
    """A module run in its current mode."""
    given = [values.from_numpy(array) for array in inputs]
    if gout is None:
        with torch.no_grad():
            outputs = [tensor for _, tensor in leaves(module(*given), torch.is_tensor)]
        return Passed([values.to_numpy(tensor, copy=True) for tensor in outputs])
    named = [(name, parameter) for name, parameter in module.named_parameters() if parameter.requires_grad]
    pulled = vjp(module, given, [parameter for _, parameter in named], gout)
    grads = {name: gradient for (name, _), gradient in zip(named, pulled.grads, strict=True) if gradient is not None}
    return Passed(pulled.outputs, pulled.gin, grads)


def apply_gradients(optimizer: Optimizer, gradients: Sequence[Array]) -> None:
    """One optimizer step with these gradients, in the order of its groups' parameters."""
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    for parameter, gradient in zip(parameters, gradients, strict=True):
        parameter.grad = values.from_numpy(gradient, like=parameter)
    optimizer.step()
