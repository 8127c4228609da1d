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
    told: set[str] = set()
    for backward in script.trace.of_role(Role.BACKWARD):
        loss = backward.receiver
        reached, cut = _way(loss)
        lost = [one for term in _terms(loss) if (one := _lost(term)) is not None] if reached else []
        for one in lost:
            if str(one.place) not in told:
                told.add(str(one.place))
                yield found("tr_02.script.term_cut", one.place, by=one.method, backward=backward.place.line)
        if reached and lost:
            continue
        if reached:
            whole.append(str(backward.place))
        elif cut is not None and str(cut.place) not in told:
            told.add(str(cut.place))
            yield found("tr_02.script.cut", cut.place, by=cut.method, backward=backward.place.line)
    if whole:
        yield none("tr_02.script.whole", evidence=whole)
    elif not told:
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
        one, cut = waiting[at]
        at += 1
        if (id(one), cut is None) in seen:
            continue
        seen.add((id(one), cut is None))
        if cut is None and _may_be_network(one):
            return True, None
        if isinstance(one, Made):
            if cut is None:
                cut = is_cut(one)
                if cut is None and is_without_gradient(one.event) and one.event.role in (Role.FORWARD, Role.LOSS):
                    cut = one.event
            if one.event.role in (Role.FORWARD, Role.LOSS) and (one.event.role is Role.FORWARD or not one.parts()):
                if cut is None:
                    return True, None
                nearest = nearest or cut
                continue
        elif isinstance(one, Attribute) and one.name == "data" and isinstance(one.of, Made):
            cut = cut or one.of.event
        waiting.extend((part, cut) for part in one.parts())
    return False, nearest
