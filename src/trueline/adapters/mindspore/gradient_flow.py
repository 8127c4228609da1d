"""Where gradients are stopped or hand-written: detection, and trial removal of stops."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from mindspore import ops

from trueline.adapters.lines import user_line
from trueline.adapters.mindspore.build import PACKAGE
from trueline.adapters.mindspore.internals import AutogradFunction, NoGrad, grad_node, pynative
from trueline.adapters.nouns import Foreign, Function, Network, Value
from trueline.adapters.patching import Patches
from trueline.adapters.user_code import any_of_users, line_of_users_frame, line_of_users_function
from trueline.model.location import Location


def carries(tensor: Value) -> bool:
    """Whether gradients flow back to the tensor."""
    return grad_node(tensor) is not None


def custom(node: Foreign) -> tuple[str, Location | None] | None:
    """Name and backward line of the user's autograd function behind a node; ``bprop`` is found elsewhere."""
    kind = type(node.held)
    line = line_of_users_function(getattr(kind, "backward", None), PACKAGE)
    return (kind.__name__, line) if line is not None else None


def functions_written() -> bool:
    """Whether the user defines any autograd function."""
    return AutogradFunction is not None and any_of_users(AutogradFunction, PACKAGE)


def written_backward(module: Network) -> tuple[str, Location | None] | None:
    """Name and line of a cell's own ``bprop``."""
    line = line_of_users_function(getattr(type(module), "bprop", None), PACKAGE)
    return (f"{type(module).__name__}.bprop", line) if line is not None else None


def widened(_: object) -> Network:
    """None: too few of MindSpore's kernels support float64."""
    return None


@contextmanager
def unstopped(undo: Callable[[Location | None], bool]) -> Iterator[None]:
    """In this block ``stop_gradient`` and ``_no_grad`` have no effect on user lines for which ``undo`` is true."""

    def stopping(original: Function) -> Function:
        return lambda primitive, value: value if undo(user_line(PACKAGE)) else original(primitive, value)

    def not_entering(original: Function) -> Function:
        def enter(block: Foreign) -> object:
            before = bool(pynative.enable_grad())
            entered = original(block)
            line = line_of_users_frame(sys._getframe(1), PACKAGE)
            if before and line is not None and undo(line):
                pynative.set_enable_grad(True)
            return entered

        return enter

    patches = Patches()
    patches.wrap(ops.StopGradient, "__call__", stopping)
    patches.wrap(NoGrad, "__enter__", not_entering)
    try:
        yield
    finally:
        patches.remove()
