"""Calls of networks in a script: those that the script makes itself, and where their results go."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trueline.script.roles import Role, is_network
from trueline.script.trace import CALL, GRAD, LOOP, UNCALLED, Event, Scope, Trace, iterated
from trueline.script.values import Function, Made, Seq, Table, Value, ancestry, options

_FORWARD: Final = ("forward", "construct", "__call__")
# Values behind an argument among which an earlier result is looked for.
MAX_VALUES_BEHIND_ARGUMENT: Final = 400
# Values behind all losses: bounds the graph, which may be cyclic.
MAX_VALUES_BEHIND_LOSS: Final = 60_000


def forward_around(event: Event) -> Function | None:
    """The innermost ``forward`` of a network that an event happens in."""
    for scope in reversed(event.scopes):
        if scope.kind == CALL and isinstance(scope.value, Function) and is_forward(scope.value):
            return scope.value
    return None


def is_forward(function: Function) -> bool:
    """Whether a function is what a network does when it is called."""
    return getattr(function.node, "name", "") in _FORWARD and is_network(function.bound)


def calls_of_networks(trace: Trace) -> Iterator[Event]:
    """Networks that the script calls, not those that networks call."""
    return (event for event in trace.of_role(Role.FORWARD) if forward_around(event) is None and not event.in_chain)


def is_uncalled(event: Event) -> bool:
    """Whether nothing in the script leads to an event."""
    return any(scope.kind == UNCALLED for scope in event.scopes)


def is_differentiated(event: Event) -> bool:
    """Whether it happens where a framework differentiates."""
    return any(scope.kind == GRAD for scope in event.scopes)


def values_trained(trace: Trace) -> set[int]:
    """What backward goes through, or would if nothing cut it off, by identity."""
    losses = [event.receiver for event in trace.of_role(Role.BACKWARD)]
    return {id(value) for value in ancestry(*losses, most=MAX_VALUES_BEHIND_LOSS)}


def results_of(event: Event) -> Iterator[Value]:
    """What a call gives; each of several."""
    for value in options(event.result):
        if isinstance(value, Seq):
            yield from value.items
        elif isinstance(value, Table):
            yield from value.items.values()
        else:
            yield value


def is_trained(event: Event, trained: set[int]) -> bool:
    """Whether backward goes through what a call gave."""
    return any(id(value) in trained for value in results_of(event))


class Uses:
    """Which events of a trace each value goes into, gathered once."""

    def __init__(self, trace: Trace) -> None:
        self._into: dict[int, list[Event]] = {}
        for event in trace.events:
            for value in ancestry(*_given(event), most=MAX_VALUES_BEHIND_ARGUMENT):
                self._into.setdefault(id(value), []).append(event)

    def of(self, event: Event) -> list[Event]:
        """Later events that something went into that a call gave."""
        events = {
            later.index: later
            for result in results_of(event)
            for later in self._into.get(id(result), ())
            if later.index > event.index
        }
        return [events[index] for index in sorted(events)]


def _given(event: Event) -> list[Value]:
    receiver = [event.receiver] if event.receiver is not None else []
    return [*receiver, *event.args, *event.kwargs.values()]


def loops_without_backward(event: Event, trace: Trace) -> list[Scope]:
    """The loops around an event in which nothing is trained, outermost first."""
    training = {id(scope) for back in trace.of_role(Role.BACKWARD) for scope in back.scopes if scope.kind == LOOP}
    return [scope for scope in event.loops() if id(scope) not in training]


def is_repeated(event: Event, trace: Trace) -> bool:
    """Whether the same input is given again and again: several answers are what dropout is left on for."""
    given = {id(value) for value in ancestry(*event.args, most=MAX_VALUES_BEHIND_ARGUMENT)}
    for loop in loops_without_backward(event, trace):
        for value in options(iterated(loop.value)):
            if isinstance(value, Made) and value.name == "builtins.range" and id(value) not in given:
                return True
    return False
