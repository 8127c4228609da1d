"""Where gradients are stopped or hand-written: detection, and trial removal of stops."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch

from trueline.adapters.lines import user_line
from trueline.adapters.nouns import Foreign, Function, Network, Value
from trueline.adapters.patching import Patches
from trueline.adapters.torch import internals
from trueline.adapters.torch.build import PACKAGE
from trueline.adapters.user_code import any_of_users, line_of_users_frame, line_of_users_function
from trueline.model.location import Location


def carries(tensor: Value) -> bool:
    """Whether gradients flow back to the tensor."""
    return bool(tensor.requires_grad)


def custom(node: Foreign) -> tuple[str, Location | None] | None:
    """Name and backward line of the user's ``autograd.Function`` behind a node."""
    made_by = internals.function_class(node)
    if made_by is None:
        return None
    line = line_of_users_function(getattr(made_by, "backward", None), PACKAGE)
    return (made_by.__name__, line) if line is not None else None


def functions_written() -> bool:
    """Whether the user defines any ``autograd.Function``."""
    return any_of_users(torch.autograd.Function, PACKAGE)


def written_backward(_: object) -> tuple[str, Location | None] | None:
    """None: in torch only autograd functions have a backward of their own, no modules."""
    return None


def widened(module: Network) -> Network | None:
    """A float64 copy of the module; None where it cannot be copied."""
    try:
        return copy.deepcopy(module).double()
    except (RuntimeError, TypeError, ValueError, AttributeError):
        return None


@contextmanager
def unstopped(undo: Callable[[Location | None], bool]) -> Iterator[None]:
    """In this block ``detach``, ``data`` and ``no_grad`` have no effect on user lines for which ``undo`` is true."""

    def wanted() -> bool:
        caller = sys._getframe(2)
        if caller.f_code.co_filename.endswith(internals.GRAD_MODE_DECORATOR):
            return undo(user_line(PACKAGE, frame=caller))
        line = line_of_users_frame(caller, PACKAGE)
        return line is not None and undo(line)

    def returning_itself(original: Function) -> Function:
        return lambda tensor: tensor if wanted() else original(tensor)

    def not_entering(original: Function) -> Function:
        def enter(block: Foreign) -> object:
            entered = original(block)
            if wanted():
                torch.set_grad_enabled(block.prev)
            return entered

        return enter

    patches = Patches()
    patches.wrap(torch.Tensor, "detach", returning_itself)
    patches.wrap(torch.Tensor, "detach_", returning_itself)
    patches.wrap(torch.no_grad, "__enter__", not_entering)
    data = torch.Tensor.data
    torch.Tensor.data = property(
        lambda tensor: tensor if wanted() else data.__get__(tensor), lambda tensor, value: data.__set__(tensor, value)
    )
    try:
        yield
    finally:
        del torch.Tensor.data
        patches.remove()
