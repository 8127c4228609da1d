"""Where gradients end or are made by hand, as a framework's adapter knows it."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol, cast

from trueline.adapters.nouns import Network, Value
from trueline.model.location import Location


class GradientFlow(Protocol):
    """The adapters' ``gradient_flow``."""

    def carries(self, tensor: Value) -> bool:
        """Whether a gradient would come back to the tensor."""
        ...

    def custom(self, node: object) -> tuple[str, Location | None] | None:
        """The name and line of a backward that a user wrote, for an autograd node."""
        ...

    def functions_written(self) -> bool:
        """Whether the user has any autograd function of their own."""
        ...

    def written_backward(self, module: Network) -> tuple[str, Location | None] | None:
        """The name and line of a module's own backward."""
        ...

    def widened(self, module: Network) -> Network:
        """A copy of the module that computes in float64; None where there is none."""
        ...

    def unstopped(self, undo: Callable[[Location | None], bool]) -> AbstractContextManager[None]:
        """In the block nothing of the user's stops a gradient on the lines that ``undo`` says yes to."""
        ...


def flow_of(framework: str) -> GradientFlow:
    """The module of a framework's adapter; it imports the framework."""
    return cast(GradientFlow, importlib.import_module(f"trueline.adapters.{framework}.gradient_flow"))
