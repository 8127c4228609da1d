"""The model run on given inputs, as it is or with every rounding moved."""

from __future__ import annotations

from collections.abc import Sequence

from trueline.adapters.guest.faults import said_for
from trueline.adapters.nouns import Network
from trueline.adapters.protocol import Adapter
from trueline.kernel.array import Array
from trueline.pair.child.calls import typed
from trueline.pair.child.host import Host
from trueline.pair.questions.model import Forward, Operators


class NoHooks:
    """Where hooks are asked for, and none are needed."""

    def remove(self) -> None:
        """There is nothing to take away."""


def run_forward(host: Host, question: Forward) -> list[Array]:
    """The tensors of the output."""
    inputs, train, seed, ulps = question.inputs, question.train, question.perturbed, question.ulps
    with said_for(host.side, "running", inputs):
        return _forward(host.model, host.adapter, typed(host, inputs), train=train, seed=seed, ulps=ulps)


def operators(host: Host, question: Operators) -> list[str]:
    """The names of the operators that the inputs go through in evaluation."""
    names: set[str] = set()
    with said_for(host.side, "running", question.inputs):
        with host.adapter.ops.watch(lambda call: names.add(call.name.lower())):
            host.adapter.build.run(host.model, typed(host, question.inputs))
        return sorted(names)


def _forward(
    model: Network, adapter: Adapter, inputs: Sequence[Array], *, train: bool, seed: int | None, ulps: int
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


def _perturbed(
    model: Network, adapter: Adapter, inputs: Sequence[Array], train: bool, seed: int, ulps: int
) -> list[Array]:
    perturbing = adapter.perturb.install(seed, NoHooks, ulps=ulps)
    try:
        return list(adapter.build.run(model, inputs, train=train).outputs)
    finally:
        perturbing.remove()
