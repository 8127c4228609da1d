"""A call means something else in the other framework, and the port does not say what it wants.

What it looks at
----------------
Layers, losses and optimizers of a script and of the benchmark it was ported from, one beside the other in the order in
which they are built. Where torch and MindSpore have other defaults for the same argument, or mean something else
by the same number, and the port leaves the argument out, the values that are used are compared: bias and padding of
convolutions, strides of pools, eps of LayerNorm, momentum of BatchNorm, slopes, GELU's approximation, what Dropout
drops, reductions of losses, defaults of optimizers. The facts are those of torch 2.13 and MindSpore 2.10. In MindSpore
the release matters: since 2.0 Dropout takes p (its first argument still is the share that is kept), and since 2.1
Conv2d and Dense are initialised as torch's are; with older releases give them their initialisers.
Without a benchmark: settings that make sense by the other framework's convention only. A momentum of BatchNorm that
replaces nearly all of the statistics at every step, a Dropout that drops nearly everything, a divergence that is not
told its reduction, a recurrent layer without batch_first that gets batches, a loss of MindSpore that is not reduced.

Why it hurts
------------
Nothing crashes and the shapes fit: the port trains, and ends a little or a lot worse than its benchmark. Bisecting two
networks tensor by tensor finds it in hours; the argument list shows it at once.

What to do
----------
Write the argument down with the benchmark's value: `has_bias=True, pad_mode="pad", padding=1`, `stride=2`,
`epsilon=1e-5`, `p=0.1`. Or take the layer from mindspore.mint.nn, which has torch's arguments and defaults.

When it is wrong
----------------
The port wants something else than the benchmark, and does not write it down. Weights or statistics that are loaded
later may make a difference in the constructor void.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from trueline.checks.engine.check import check, found, na, none
from trueline.model.finding import Finding
from trueline.script.analysis.differing import BY_NAME, MINDSPORE, TORCH, Argument, Difference, Pair
from trueline.script.script import Script
from trueline.script.trace import UNCALLED, Event
from trueline.script.values import Const, Seq, Value
from trueline.script.walking import walk

_NOT_KNOWN: Final = object()


@dataclass(frozen=True, slots=True)
class _Call:
    """A call that the table knows, of one framework."""

    event: Event
    framework: str
    pair: Pair

    def value(self, difference: Difference) -> Any:
        """What the argument is here, in the form that both share; _NOT_KNOWN where it is not written down."""
        return _FORMS[difference.form](self, difference.of(self.framework))

    def passes(self, difference: Difference) -> bool:
        """Whether the argument is written down."""
        argument = difference.of(self.framework)
        if difference.form == "dropped" and self.framework == MINDSPORE:
            return "p" in self.event.kwargs or "keep_prob" in self.event.kwargs
        if difference.form == "rest_of_one":
            # The same number means another thing: written down is as bad as left out.
            return False
        return _given(self.event, argument) is not None


@check("api.01", "an API means something else in the other framework")
def from_script(script: Script) -> Iterator[Finding]:
    """Which calls would have to be looked at; whether they are wrong, only the benchmark tells."""
    calls = _calls(script)
    left = [one for one in calls if any(not one.passes(each) for each in one.pair.differ)]
    if left:
        yield na("api_01.no_benchmark", where=left[0].event.place.where(), count=len(left))
    else:
        yield na("api_01.nothing_differs")


@check("api.01")
def from_scripts(script: Script, bench_script: Script) -> Iterator[Finding]:
    """The arguments that a port leaves out, against those of its benchmark."""
    own, other = _calls(script), _calls(bench_script)
    frameworks = {one.framework for one in own}, {one.framework for one in other}
    if not own or not other or frameworks[0] & frameworks[1]:
        yield na("api_01.no_port")
        return
    told: set[tuple[str, int]] = set()
    same: list[str] = []
    for pair in dict.fromkeys(one.pair for one in own):
        here = [one for one in own if one.pair is pair]
        there = [one for one in other if one.pair is pair]
        for at, call in enumerate(here):
            for difference in pair.differ:
                bench = _beside(at, call, here, there, difference)
                if bench is None or call.passes(difference):
                    continue
                ours, theirs = call.value(difference), bench.value(difference)
                if ours is _NOT_KNOWN or theirs is _NOT_KNOWN:
                    continue
                key = (call.event.place.file, call.event.place.line)
                if ours == theirs:
                    same.append(str(call.event.place))
                elif key not in told:
                    told.add(key)
                    yield found(
                        "api_01.differs",
                        call.event.place.where(),
                        evidence=[{"own": str(call.event.place), "bench": str(bench.event.place)}],
                        name=call.event.name,
                        argument=difference.of(call.framework).name,
                        own=_shown(ours),
                        bench_name=bench.event.name,
                        bench=_shown(theirs),
                    )
    if same and not told:
        yield none("api_01.alike", evidence=sorted(set(same)))
    elif not told:
        yield na("api_01.nothing_to_compare")


def _calls(script: Script) -> list[_Call]:
    """Calls that the table knows, each line's functions once."""
    seen: set[str] = set()
    found_: list[_Call] = []
    for event in script.trace.events:
        if any(one.kind == UNCALLED for one in event.scopes) or event.open:
            continue
        for framework in (TORCH, MINDSPORE):
            pair = BY_NAME[framework].get(event.name)
            if pair is None:
                continue
            is_function = event.method[:1].islower()
            if is_function and str(event.place) in seen:
                continue
            seen.add(str(event.place))
            found_.append(_Call(event, framework, pair))
    return found_


def _beside(
    at: int, call: _Call, here: Sequence[_Call], there: Sequence[_Call], difference: Difference
) -> _Call | None:
    """The benchmark's call that stands for this one: as many of a kind in the same order, or all of them alike."""
    if len(here) == len(there):
        return there[at]
    values = [one.value(difference) for one in there]
    if values and difference.form not in ("padding", "window") and all(one == values[0] for one in values):
        return there[0]
    shape = _shape(call)
    alike = [one for one in there if shape and _shape(one) == shape]
    values = [one.value(difference) for one in alike]
    return alike[0] if alike and all(one == values[0] for one in values) else None


def _shape(call: _Call) -> tuple[Any, ...]:
    """The first arguments of a layer, where they are numbers."""
    found_ = tuple(_plain(one) for one in call.event.args[:3])
    return () if _NOT_KNOWN in found_ else found_


def _given(event: Event, argument: Argument) -> Value | None:
    return event.arg(argument.place, argument.name)


@walk(_NOT_KNOWN)
def _plain(value: Value | None, nested: int = 3) -> Any:
    """A constant, or a list of them; an argument has no lists in lists in lists."""
    if isinstance(value, Const):
        return value.value
    if isinstance(value, Seq) and not value.open and nested:
        held = [_plain(one, nested - 1) for one in value.items]
        if _NOT_KNOWN in held:
            return _NOT_KNOWN
        return held[0] if held and all(one == held[0] for one in held) else tuple(held)
    return _NOT_KNOWN


def _same(call: _Call, argument: Argument) -> Any:
    given = _given(call.event, argument)
    return argument.default if given is None else _plain(given)


def _window(call: _Call, argument: Argument) -> Any:
    """torch's pools step by their own size where no stride is given."""
    stride = _same(call, argument)
    at = 0 if argument.place == 1 else 1
    return _plain(call.event.arg(at, "kernel_size")) if stride is None else stride


def _rest_of_one(call: _Call, argument: Argument) -> Any:
    """MindSpore keeps the share that torch replaces."""
    share = _same(call, argument)
    if call.framework == TORCH or not isinstance(share, int | float):
        return share
    return round(1 - share, 12)


def _tanh(call: _Call, argument: Argument) -> Any:
    value = _same(call, argument)
    return value if value is _NOT_KNOWN else value in (True, "tanh")


def _dropped(call: _Call, argument: Argument) -> Any:
    """The share that is dropped; MindSpore's first argument is the share that is kept."""
    if call.framework == TORCH:
        return _same(call, argument)
    event = call.event
    if "p" in event.kwargs or len(event.args) > 1:
        return _plain(event.arg(1, "p"))
    kept = event.arg(0, "keep_prob")
    value = _plain(kept) if kept is not None else argument.default
    return round(1 - value, 12) if isinstance(value, int | float) else value


def _padding(call: _Call, argument: Argument) -> Any:
    """How much is put around a picture: the number on each side, or how it is found."""
    event = call.event
    kernel, stride = _plain(event.arg(2, "kernel_size")), event.arg(3, "stride")
    step = _plain(stride) if stride is not None else 1
    if call.framework == TORCH:
        return _same(call, argument)
    mode = _same(call, argument)
    if mode == "pad":
        return _plain(event.arg(5, "padding") or Const(0))
    if mode == "valid":
        return 0
    if mode == "same" and isinstance(kernel, int) and isinstance(step, int):
        if call.event.name.endswith("Transpose"):
            return (kernel - step) // 2 if kernel >= step and (kernel - step) % 2 == 0 else "same"
        dilation = _plain(event.arg(6, "dilation") or Const(1))
        if kernel == 1 or kernel == step:
            # Windows that lie side by side need nothing around the picture, where they fit into it.
            return 0
        if step == 1 and kernel % 2 and isinstance(dilation, int):
            return dilation * (kernel - 1) // 2
        return "same"
    return _NOT_KNOWN


_FORMS: Final = {
    "same": _same,
    "window": _window,
    "window_of_call": _window,
    "rest_of_one": _rest_of_one,
    "tanh": _tanh,
    "dropped": _dropped,
    "padding": _padding,
}


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
