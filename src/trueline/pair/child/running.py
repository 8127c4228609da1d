"""The model run on given inputs, as it is or with every rounding moved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trueline.adapters.protocol import Adapter
from trueline.pair.wire import Array


class _NoHooks:
    def remove(self) -> None:
        """There is nothing to take away."""


def forward(
    model: Any, adapter: Adapter, inputs: Sequence[Array], *, train: bool, seed: int | None, ulps: int
) -> list[Array]:
    """Every tensor of the output, in order; with a ``seed`` inputs and layers are moved by rounding units."""
    if seed is not None:
        return _perturbed(model, adapter, inputs, train, seed, ulps)
    try:
        return list(adapter.build.run(model, inputs, train=train).outputs)
    except (RuntimeError, TypeError, ValueError):
        # MindSpore's errors come late, and are of these kinds. Moving a layer's output waits for it: then the error
        # is where it belongs.
        _perturbed(model, adapter, inputs, train, 0, 1)
        raise


def ops(model: Any, adapter: Adapter, inputs: Sequence[Array]) -> list[str]:
    """The names of the operators that the inputs go through in evaluation."""
    found: set[str] = set()
    with adapter.ops.watch(lambda call: found.add(call.name.lower())):
        adapter.build.run(model, inputs)
    return sorted(found)


def _perturbed(model: Any, adapter: Adapter, inputs: Sequence[Array], train: bool, seed: int, ulps: int) -> list[Array]:
    perturbing = adapter.perturb.install(seed, _NoHooks, ulps=ulps)
    try:
        return list(adapter.build.run(model, inputs, train=train).outputs)
    finally:
        perturbing.remove()
