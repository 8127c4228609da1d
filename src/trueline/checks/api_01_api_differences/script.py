"""What a script says of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from trueline.checks.api_01_api_differences.differing import BY_NAME, MINDSPORE, TORCH, Argument, Difference, Pair
from trueline.checks.engine.check import check, undecided
from trueline.model.finding import Finding
from trueline.script.script import Script
from trueline.script.trace import UNCALLED, Event
from trueline.script.values import Const, Seq, Value
from trueline.script.walking import walk

NOT_KNOWN: Final = object()


@dataclass(frozen=True, slots=True)
class Call:
    """A call that the table knows, of one framework."""

    event: Event
    framework: str
    pair: Pair

    def value(self, difference: Difference) -> object:
        """What the argument is here, in the form that both share; NOT_KNOWN where it is not written down."""
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


@check("api.01", "an API means something else in the other framework", decides=False)
def from_script(script: Script) -> Iterator[Finding]:
    """Which calls would have to be looked at; whether they are wrong, only the benchmark tells."""
    calls = table_calls(script)
    left = [call for call in calls if any(not call.passes(difference) for difference in call.pair.differ)]
    if left:
        yield undecided("api_01.no_benchmark", where=left[0].event.place, count=len(left))
    else:
        yield undecided("api_01.nothing_differs")


def table_calls(script: Script) -> list[Call]:
    """Calls that the table knows, each line's functions once."""
    seen: set[str] = set()
    found_: list[Call] = []
    for event in script.trace.events:
        if any(scope.kind == UNCALLED for scope in event.scopes) or event.open:
            continue
        for framework in (TORCH, MINDSPORE):
            pair = BY_NAME[framework].get(event.name)
            if pair is None:
                continue
            is_function = event.method[:1].islower()
            if is_function and str(event.place) in seen:
                continue
            seen.add(str(event.place))
            found_.append(Call(event, framework, pair))
    return found_


def _given(event: Event, argument: Argument) -> Value | None:
    return event.arg(argument.place, argument.name)


@walk(NOT_KNOWN)
def plain(value: Value | None, nested: int = 3) -> object:
    """A constant, or a list of them; an argument has no lists in lists in lists."""
    if isinstance(value, Const):
        return value.value
    if isinstance(value, Seq) and not value.open and nested:
        held = [plain(held_value, nested - 1) for held_value in value.items]
        if NOT_KNOWN in held:
            return NOT_KNOWN
        return held[0] if held and all(held_value == held[0] for held_value in held) else tuple(held)
    return NOT_KNOWN


def _same(call: Call, argument: Argument) -> object:
    given = _given(call.event, argument)
    return argument.default if given is None else plain(given)


def _window(call: Call, argument: Argument) -> object:
    """torch's pools step by their own size where no stride is given."""
    stride = _same(call, argument)
    at = 0 if argument.place == 1 else 1
    return plain(call.event.arg(at, "kernel_size")) if stride is None else stride


def _rest_of_one(call: Call, argument: Argument) -> object:
    """MindSpore keeps the share that torch replaces."""
    share = _same(call, argument)
    if call.framework == TORCH or not isinstance(share, int | float):
        return share
    return round(1 - share, 12)


def _tanh(call: Call, argument: Argument) -> object:
    value = _same(call, argument)
    return value if value is NOT_KNOWN else value in (True, "tanh")


def _dropped(call: Call, argument: Argument) -> object:
    """The share that is dropped; MindSpore's first argument is the share that is kept."""
    if call.framework == TORCH:
        return _same(call, argument)
    event = call.event
    if "p" in event.kwargs or len(event.args) > 1:
        return plain(event.arg(1, "p"))
    kept = event.arg(0, "keep_prob")
    value = plain(kept) if kept is not None else argument.default
    return round(1 - value, 12) if isinstance(value, int | float) else value


def _padding(call: Call, argument: Argument) -> object:
    """How much is put around a picture: the number on each side, or how it is found."""
    event = call.event
    kernel, stride = plain(event.arg(2, "kernel_size")), event.arg(3, "stride")
    step = plain(stride) if stride is not None else 1
    if call.framework == TORCH:
        return _same(call, argument)
    mode = _same(call, argument)
    if mode == "pad":
        return plain(event.arg(5, "padding") or Const(0))
    if mode == "valid":
        return 0
    if mode == "same" and isinstance(kernel, int) and isinstance(step, int):
        if call.event.name.endswith("Transpose"):
            return (kernel - step) // 2 if kernel >= step and (kernel - step) % 2 == 0 else "same"
        dilation = plain(event.arg(6, "dilation") or Const(1))
        if kernel == 1 or kernel == step:
            # Windows that lie side by side need nothing around the picture, where they fit into it.
            return 0
        if step == 1 and kernel % 2 and isinstance(dilation, int):
            return dilation * (kernel - 1) // 2
        return "same"
    return NOT_KNOWN


_FORMS: Final = {
    "same": _same,
    "window": _window,
    "window_of_call": _window,
    "rest_of_one": _rest_of_one,
    "tanh": _tanh,
    "dropped": _dropped,
    "padding": _padding,
}
