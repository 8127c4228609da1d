"""Rounding that could as well have gone the other way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from adapters.numpy_toy import framework

from trueline.adapters.patching import Patches
from trueline.adapters.perturbation import Calls, Draws, moved_in
from trueline.adapters.protocol import Installed


class Perturbing:
    """A perturbation and the hooks around it."""

    def __init__(self, seed: int, ulps: int) -> None:
        self.draws = Draws(seed, ulps)
        self.patches = Patches()
        self.hooks: Installed | None = None

    def remove(self) -> None:
        """Take both away."""
        if self.hooks is not None:
            self.hooks.remove()
        self.patches.remove()

    def counts(self) -> dict[str, Any]:
        """What was moved."""
        return self.draws.counts()

    def moved(self, value: Any) -> Any:
        """One value."""
        if type(value) is not framework.Tensor or value.data.dtype.kind != "f":
            return value
        unit = self.draws.size(float(np.finfo(value.data.dtype).eps))
        factors = 1 + self.draws.signs(value.data.size).reshape(value.data.shape) * unit
        whole = value.data == np.trunc(value.data)
        return framework.masked(value, np.where(whole, 1, factors).astype(value.data.dtype))


def install(seed: int, hooks: Callable[[], Installed], *, ulps: int = 1) -> Perturbing:
    """Put the hooks in place, and between them and the network a perturbation."""
    perturbing = Perturbing(seed, ulps)
    calls = Calls()

    def make(original: Callable[..., Any]) -> Callable[..., Any]:
        def call(module: Any, *args: Any, **kwargs: Any) -> Any:
            if calls.begins(module):
                args = moved_in(args, perturbing.moved)
                perturbing.draws.inputs += 1
            output = None
            try:
                output = original(module, *args, **kwargs)
            finally:
                last = calls.ends(module)
            if last:
                output = moved_in(output, perturbing.moved)
                perturbing.draws.layers += 1
            return output

        return call

    perturbing.patches.wrap(framework.Module, "__call__", make)
    perturbing.hooks = hooks()
    return perturbing
