"""The loss is cut off from the network: what a script says of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trueline.checks.engine.check import check, found, none, undecided
from trueline.model.finding import Finding
from trueline.script.analysis.gradients import is_cut, is_without_gradient
from trueline.script.roles import Role, is_network
from trueline.script.script import Script
from trueline.script.trace import Event
from trueline.script.values import Attribute, Derived, Instance, Made, Value
from trueline.script.walking import taken_apart


@check("tr.02")
def from_script(script: Script) -> Iterator[Finding]:
    """Whether a way leads from what backward is called on to a network's output without being cut."""
    whole: list[str] = []
    reported: set[str] = set()
    for backward in script.trace.of_role(Role.BACKWARD):
        loss = backward.receiver
        reached, cut = _way(loss)
        lost = [event for term in _terms(loss) if (event := _lost(term)) is not None] if reached else []
        for event in lost:
            if str(event.place) not in reported:
                reported.add(str(event.place))
                yield found("tr_02.script.term_cut", event.place, by=event.method, backward=backward.place.line)
        if reached and lost:
            continue
        if reached:
            whole.append(str(backward.place))
        elif cut is not None and str(cut.place) not in reported:
            reported.add(str(cut.place))
            yield found("tr_02.script.cut", cut.place, by=cut.method, backward=backward.place.line)
    if whole:
        yield none("tr_02.script.whole", evidence=whole)
    elif not reported:
        yield undecided("tr_02.script.no_loss")


def _terms(loss: Value | None) -> list[Value]:
    """What a loss is the sum of; nothing where it is no sum."""

    def operands(value: Value) -> Sequence[Value] | None:
        is_sum = isinstance(value, Derived) and value.op in (
            ("Add", "Sub", "Div", "Mult") if value is loss else ("Add", "Sub")
        )
        return value.parts() if is_sum else None

    terms = list(taken_apart(loss, parts=operands))
    return terms if len(terms) > 1 else []


def _lost(term: Value) -> Event | None:
    reached, cut = _way(term)
    return cut if not reached else None


def _may_be_network(value: Value) -> bool:
    """Whether something was called of which nothing is known: weights may be in it."""
    if not isinstance(value, Made):
        return False
    # An attribute of a network that nothing was seen to be put into.
    of_network = value.event.role is None and isinstance(value.event.receiver, Instance)
    return value.name == "?.__call__" or (of_network and is_network(value.event.receiver))


def _way(loss: Value | None) -> tuple[bool, Event | None]:
    """Whether a network's output is reached on a way that gradients can go; else the cut nearest to the loss."""
    waiting: list[tuple[Value, Event | None]] = [(loss, None)] if loss is not None else []
    seen: set[tuple[int, bool]] = set()
    nearest: Event | None = None
    at = 0
    while at < len(waiting) and at < 5000:
        value, cut = waiting[at]
        at += 1
        if (id(value), cut is None) in seen:
            continue
        seen.add((id(value), cut is None))
        if cut is None and _may_be_network(value):
            return True, None
        if isinstance(value, Made):
            if cut is None:
                cut = is_cut(value)
                if cut is None and is_without_gradient(value.event) and value.event.role in (Role.FORWARD, Role.LOSS):
                    cut = value.event
            if value.event.role in (Role.FORWARD, Role.LOSS) and (
                value.event.role is Role.FORWARD or not value.parts()
            ):
                if cut is None:
                    return True, None
                nearest = nearest or cut
                continue
        elif isinstance(value, Attribute) and value.name == "data" and isinstance(value.of, Made):
            cut = cut or value.of.event
        waiting.extend((part, cut) for part in value.parts())
    return False, nearest
