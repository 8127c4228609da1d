"""Ways around layers (``x + f(norm(x))``): where one is missing that the rest of the network is built for."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import islice, takewhile
from typing import Final

from trueline.apitable.functions import names_of
from trueline.apitable.traits import Trait
from trueline.script.analysis.forwards import forward_around, is_uncalled
from trueline.script.analysis.unread import is_built_alike
from trueline.script.reading.elements import layers_in
from trueline.script.roles import Role
from trueline.script.trace import CALL, LOOP, Event, Scope, Trace
from trueline.script.values import Derived, Instance, Made, Value, ancestry, options

# Values behind a result that are looked at: those of one block of a network.
MAX_VISITED_VALUES: Final = 400
_JOINING: Final = names_of(Trait.ADDS, Trait.SUBTRACTS, Trait.JOINS, Trait.MIXES)
_NAMED: Final = re.compile(r"Residual|Shortcut|SkipConn|Res(Block|Unit|Layer|Net)")


def lacking(trace: Trace) -> Iterator[Event]:
    """The calls behind which a way around is missing."""
    calls = _calls_by_network(trace)
    for event in trace.of_role(Role.FORWARD):
        owner = event.receiver
        if not isinstance(owner, Instance) or event.result is None or is_uncalled(event):
            continue
        inner = _within(event, owner, calls.get(id(owner), ()))
        yield from _one_of_two(event, inner)
        if _NAMED.search(owner.cls.name):
            yield from _of_all(event, inner)


def _calls_by_network(trace: Trace) -> dict[int, list[tuple[Scope, Event]]]:
    """The layers that each network calls by itself, with the call of the network that they belong to."""
    calls: dict[int, list[tuple[Scope, Event]]] = {}
    for event in trace.of_role(Role.FORWARD):
        around = forward_around(event)
        scope = next((scope for scope in reversed(event.scopes) if scope.kind == CALL and scope.value is around), None)
        if around is not None and around.bound is not None and scope is not None:
            calls.setdefault(id(around.bound), []).append((scope, event))
    return calls


def _within(event: Event, owner: Instance, calls: Sequence[tuple[Scope, Event]]) -> list[Event]:
    """The layers that are called in this call of a network."""
    first = bisect_right(calls, event.index, key=lambda call: call[1].index)
    if first == len(calls):
        return []
    around = calls[first][0]
    # What is called in one call of a network stands together, but for what that calls in turn.
    together = takewhile(lambda call: call[1].inside(around), islice(calls, first, None))
    return [layer for scope, layer in together if scope is around and layer.receiver is not owner]


def _one_of_two(event: Event, inner: Sequence[Event]) -> Iterator[Event]:
    """Two norms that are built alike stand before two parts of a block; there is a way around the second only.

    The other way round is no sign: behind the last block stand a norm and what gives the answer.
    """
    norms = [
        other_event
        for other_event in inner
        if _is_norm(other_event.receiver) and other_event.args and other_event.result and not other_event.in_chain
    ]
    for first in norms:
        for second in norms:
            if first.index >= second.index or not _are_alike(first, second):
                continue
            start, middle = first.args[0], second.args[0]
            sums = [value for value in ancestry(event.result, most=MAX_VISITED_VALUES) if _is_sum(value)]
            around_second = any(_goes_around(value, middle, second.result) for value in sums)
            made = middle if isinstance(middle, Made) else None
            if around_second and made is not None and _leads(first.result, made) and not _is_added(start, made):
                yield made.event


def _are_alike(event: Event, other_event: Event) -> bool:
    first, second = event.receiver, other_event.receiver
    if first is None or second is None or first is second:
        return False
    return is_built_alike(first, second)


def _of_all(event: Event, inner: Sequence[Event]) -> Iterator[Event]:
    """A network that is called residual goes through blocks, each of which begins with a norm, and adds nothing."""
    given = {id(value) for value in ancestry(*event.args, most=MAX_VISITED_VALUES)}
    made = [value for value in ancestry(event.result, most=4000) if id(value) not in given]
    if any(_is_sum(value) or _is_joined(value) for value in made):
        return
    for other_event in inner:
        held = layers_in(other_event.receiver)
        if held is not None and len(held[0]) > 2 and _is_norm(held[0][0]) and _is_in_loop(other_event, event):
            yield other_event
            return


def _is_in_loop(event: Event, around: Event) -> bool:
    return any(scope.kind == LOOP and scope not in around.scopes for scope in event.scopes)


def _is_norm(layer: Value | None) -> bool:
    for value in options(layer):
        name = value.cls.name if isinstance(value, Instance) else getattr(value, "name", "")
        kind = str(name).rpartition(".")[2]
        if "Norm" not in kind or "Batch" in kind:
            return False
    return layer is not None


def _is_sum(value: Value | None) -> bool:
    return isinstance(value, Derived) and value.op in ("Add", "Sub")


def _is_joined(value: Value) -> bool:
    return isinstance(value, Made) and value.event.method in _JOINING


def _goes_around(value: Value | None, start: Value, inner: Value | None) -> bool:
    """Whether something is the sum of what goes into a part of a block and what comes out of it."""
    if not isinstance(value, Derived) or value.op != "Add" or not any(part is start for part in value.of):
        return False
    return any(
        inner is part
        for other_value in value.of
        if other_value is not start
        for part in ancestry(other_value, most=MAX_VISITED_VALUES)
    )


def _leads(inner: Value | None, value: Value) -> bool:
    return any(part is inner for part in ancestry(value, most=MAX_VISITED_VALUES))


def _is_added(start: Value, value: Value) -> bool:
    """Whether what goes into a part of a block is added on the way, in whatever form."""
    return any(
        (_is_sum(other_value) or _is_joined(other_value)) and any(part is start for part in other_value.parts())
        for other_value in ancestry(value, most=MAX_VISITED_VALUES)
    )
