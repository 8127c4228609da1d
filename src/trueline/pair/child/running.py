"""The model run on given inputs, as it is or with every rounding moved."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from trueline.adapters.guest.faults import said_for
from trueline.adapters.nouns import Network, OpCall, Value
from trueline.adapters.protocol import Adapter
from trueline.kernel.array import Array
from trueline.pair.child.calls import paths_of, typed
from trueline.pair.child.host import Host
from trueline.pair.questions.model import Forward, Operators, RanOperators


class NoHooks:
    """Where hooks are asked for, and none are needed."""

    def remove(self) -> None:
        """There is nothing to take away."""


def run_forward(host: Host, question: Forward) -> list[Array]:
    """The tensors of the output."""
    inputs, train, seed, ulps = question.inputs, question.train, question.perturbed, question.ulps
    with said_for(host.side, "running", inputs):
        return _forward(host.model, host.adapter, typed(host, inputs), train=train, seed=seed, ulps=ulps)


def operators(host: Host, question: Operators) -> RanOperators:
    """The names of the operators of each module's own code."""
    names: dict[str, set[str]] = {}
    paths, at_work = paths_of(host), [""]

    def around(
        module: Network, args: tuple[Value, ...], kwargs: Mapping[str, Value], proceed: Callable[..., Value]
    ) -> Value:
        at_work.append(paths.get(id(module), at_work[-1]))
        try:
            return proceed(*args, **kwargs)
        finally:
            at_work.pop()

    def ran(call: OpCall) -> None:
        names.setdefault(at_work[-1], set()).add(call.name.lower())

    with said_for(host.side, "running", question.inputs):
        with host.adapter.ops.watch(ran), host.adapter.intercept.intercept(around):
            host.adapter.build.run(host.model, typed(host, question.inputs))
        return RanOperators({path: sorted(found) for path, found in names.items()})


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
