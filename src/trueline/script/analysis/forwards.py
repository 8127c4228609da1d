"""Calls of networks in a script: those that the script makes itself, and where their results go."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trueline.script.roles import Role, is_network
from trueline.script.trace import CALL, GRAD, LOOP, UNCALLED, Event, Scope, Trace, iterated
from trueline.script.values import Function, Made, Seq, Table, Value, ancestry, options

_FORWARD: Final = ("forward", "construct", "__call__")
# So far back a result is looked for in what is done later.
_NEAR: Final = 400
_FAR: Final = 60_000


def forward_around(event: Event) -> Function | None:
    """The innermost ``forward`` of a network that an event happens in."""
    for one in reversed(event.scopes):
        if one.kind == CALL and isinstance(one.value, Function) and is_forward(one.value):
            return one.value
    return None


def is_forward(function: Function) -> bool:
    """Whether a function is what a network does when it is called."""
    return getattr(function.node, "name", "") in _FORWARD and is_network(function.bound)


def calls_of_networks(trace: Trace) -> Iterator[Event]:
    """Networks that the script calls, not those that networks call."""
    return (one for one in trace.of_role(Role.FORWARD) if forward_around(one) is None and not one.in_chain)


def is_uncalled(event: Event) -> bool:
    """Whether nothing in the script leads to an event."""
    return any(one.kind == UNCALLED for one in event.scopes)


def is_differentiated(event: Event) -> bool:
    """Whether it happens where a framework differentiates."""
    return any(one.kind == GRAD for one in event.scopes)


def values_trained(trace: Trace) -> set[int]:
    """What backward goes through, or would if nothing cut it off, by identity."""
    losses = [one.receiver for one in trace.of_role(Role.BACKWARD)]
    return {id(one) for one in ancestry(*losses, most=_FAR)}


def results_of(event: Event) -> Iterator[Value]:
    """What a call gives; each of several."""
    for one in options(event.result):
        if isinstance(one, Seq):
            yield from one.items
        elif isinstance(one, Table):
            yield from one.items.values()
        else:
            yield one


def is_trained(event: Event, trained: set[int]) -> bool:
    """Whether backward goes through what a call gave."""
    return any(id(one) in trained for one in results_of(event))


class Uses:
    """Which events of a trace each value goes into, gathered once."""

    def __init__(self, trace: Trace) -> None:
        self._into: dict[int, list[Event]] = {}
        for event in trace.events:
            for value in ancestry(*_given(event), most=_NEAR):
                self._into.setdefault(id(value), []).append(event)

    def of(self, event: Event) -> list[Event]:
        """Later events that something went into that a call gave."""
        found = {
            later.index: later
            for result in results_of(event)
            for later in self._into.get(id(result), ())
            if later.index > event.index
        }
        return [found[index] for index in sorted(found)]


def _given(event: Event) -> list[Value]:
    receiver = [event.receiver] if event.receiver is not None else []
    return [*receiver, *event.args, *event.kwargs.values()]


def loops_without_backward(event: Event, trace: Trace) -> list[Scope]:
    """The loops around an event in which nothing is trained, outermost first."""
    training = {id(one) for back in trace.of_role(Role.BACKWARD) for one in back.scopes if one.kind == LOOP}
    return [one for one in event.loops() if id(one) not in training]


def is_repeated(event: Event, trace: Trace) -> bool:
    """Whether the same input is given again and again: several answers are what dropout is left on for."""
    given = {id(one) for one in ancestry(*event.args, most=_NEAR)}
    for loop in loops_without_backward(event, trace):
        for one in options(iterated(loop.value)):
            if isinstance(one, Made) and one.name == "builtins.range" and id(one) not in given:
                return True
    return False
