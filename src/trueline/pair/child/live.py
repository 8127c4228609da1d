"""One run of the model on its own values, with known arrays put in at some calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from trueline.adapters.guest.faults import said_for
from trueline.adapters.nouns import Network, Value
from trueline.adapters.tree import leaves, replaced
from trueline.kernel.array import Array
from trueline.pair.child.calls import Counting, held_still, paths_of, tensors_of
from trueline.pair.child.forcing import level_of
from trueline.pair.child.host import Host
from trueline.pair.child.running import NoHooks
from trueline.pair.ops.channels import laid_as
from trueline.pair.questions.forced import Measured, Reshaped
from trueline.pair.questions.live import LiveCall, LiveRun, LiveSpec, RunLive


def run_live(host: Host, question: RunLive) -> LiveRun:
    """Compare each of the calls with the arrays it names, and put those in where that is asked for."""
    live = _Live(host, question)
    values = host.adapter.values
    with said_for(host.side, "running", question.inputs), held_still(host, train=False):
        with (
            _moved(host, question.perturbed),
            host.adapter.intercept.intercept(live.around),
            host.adapter.autograd.without_gradient(),
        ):
            result = host.model(*tensors_of(host, question.inputs))
        outputs = [values.to_numpy(tensor, copy=True) for _, tensor in leaves(result, values.is_tensor)]
    return LiveRun(live.calls, outputs)


@contextmanager
def _moved(host: Host, seed: int | None) -> Iterator[None]:
    """In the block every layer's output is moved by a rounding unit, where a seed is given."""
    if seed is None:
        yield
        return
    perturbing = host.adapter.perturb.install(seed, NoHooks, ulps=1)
    try:
        yield
    finally:
        perturbing.remove()


class _Live:
    def __init__(self, host: Host, question: RunLive) -> None:
        self._values, self._known = host.adapter.values, question.known
        self._specs = {(spec.path, spec.call): spec for spec in question.calls}
        self._counting = Counting(paths_of(host))
        self._clock = 0
        self.calls: list[LiveCall] = []

    def around(
        self, module: Network, args: tuple[Value, ...], kwargs: Mapping[str, Value], proceed: Callable[..., Value]
    ) -> Value:
        """One call."""
        begun = self._counting.begin(module)
        spec = self._specs.get(begun) if begun is not None else None
        if begun is None or spec is None:
            return proceed(*args, **kwargs)
        call = LiveCall(*begun, self._tick())
        self.calls.append(call)
        self._compare(call, "in", self._tensors((args, kwargs)), spec.ins, whole=False)
        output = proceed(*args, **kwargs)
        call.ended = self._tick()
        tensors = self._tensors(output)
        self._compare(call, "out", tensors, spec.outs, whole=not spec.path)
        return self._grafted(output, tensors, spec, call) if spec.graft else output

    def _tick(self) -> int:
        self._clock += 1
        return self._clock - 1

    def _tensors(self, value: Value) -> list[Value]:
        return [tensor for _, tensor in leaves(value, self._values.is_tensor)]

    def _compare(
        self, call: LiveCall, kind: str, tensors: Sequence[Value], places: Sequence[int], *, whole: bool
    ) -> None:
        """How far apart; a ``whole`` network's output keeps its shape, since there a caller sees the difference."""
        if len(tensors) != len(places):
            if kind == "in":
                # Which is which, nobody says.
                return
            call.counts = len(tensors), len(places)
        for index, (tensor, place) in enumerate(zip(tensors, places, strict=False)):
            array = self._values.to_numpy(tensor)
            ref = self._known[place] if whole else laid_as(self._known[place], array.shape)
            level, scale, comparable = level_of(array, ref)
            call.checks.append(Measured(kind, str(index), level, scale, comparable, array.dtype.name))

    def _grafted(self, output: Value, tensors: Sequence[Value], spec: LiveSpec, call: LiveCall) -> Value:
        """What the call gives out, with the known arrays in it; nothing of it where one does not fit."""
        fitting: list[Array] = []
        for place, (tensor, known) in enumerate(zip(tensors, spec.outs, strict=False)):
            shape = self._values.shape(tensor)
            ref = laid_as(self._known[known], shape)
            if tuple(ref.shape) != tuple(shape):
                call.misfits.append(Reshaped(place, tuple(shape), tuple(ref.shape)))
            fitting.append(ref)
        if call.misfits or call.counts is not None:
            return output
        arrays = iter(fitting)
        return replaced(
            output, self._values.is_tensor, lambda _, tensor: self._values.from_numpy(next(arrays), like=tensor)
        )
