"""Which event of a script is which of its benchmark's: those that are alike in all, then those in the same order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from trueline.checks.of_pair.naming import OPERATORS, is_aside, is_built, is_through, key_of, word_of
from trueline.checks.of_pair.shapes import Shapes
from trueline.script.roles import Role, is_network
from trueline.script.script import Script
from trueline.script.trace import CALL, LOOP, UNCALLED, Event
from trueline.script.values import Function, Made

# What comes out of these is what went in; how often it does is an argument.
_ITERATED = ("createtupleiterator", "createdictiterator")


@dataclass(slots=True)
class Aligned:
    """Pairs of events by the identity of either, and those without a partner."""

    pairs: list[tuple[Event, Event]] = field(default_factory=list)
    bench_of: dict[int, Event] = field(default_factory=dict)
    mine_of: dict[int, Event] = field(default_factory=dict)
    extra: list[Event] = field(default_factory=list)
    missing: list[Event] = field(default_factory=list)

    def join(self, mine: Event, bench: Event) -> None:
        """Take two events for one another."""
        self.pairs.append((mine, bench))
        self.bench_of[id(mine)] = bench
        self.mine_of[id(bench)] = mine

    def are_one(self, mine: Event, bench: Event) -> bool:
        """Whether two events were taken for one another."""
        return self.bench_of.get(id(mine)) is bench


def compared_events(script: Script) -> list[Event]:
    """Events that say something about the training: no moves and casts, no layers, which are compared when called."""
    return [one for one in script.trace.events if _counts(one)]


def _counts(event: Event) -> bool:
    word = word_of(event.name)
    if is_aside(event) or (is_through(event) and word not in _ITERATED) or word in OPERATORS:
        return False
    if event.implied and event.role is not Role.BACKWARD:
        return False
    if event.name.endswith(".__new__"):
        return False
    # Layers are compared where they are called.
    return not (is_built(event) and isinstance(event.result, Made) and is_network(event.result))


def aligned(script: Script, bench: Script, shapes: Shapes) -> Aligned:
    """The events of two scripts, one beside the other."""
    found = Aligned()
    mine, others = compared_events(script), compared_events(bench)
    _join_alike(found, mine, others, shapes)
    for near in (2, 1, 0):
        left = [one for one in mine if id(one) not in found.bench_of]
        right = [one for one in others if id(one) not in found.mine_of]
        keys = [[_key(one, near, shapes) for one in side] for side in (left, right)]
        for at, other, size in SequenceMatcher(None, keys[0], keys[1], autojunk=False).get_matching_blocks():
            for step in range(size):
                found.join(left[at + step], right[other + step])
    _join_rest(found, mine, others)
    found.extra = [one for one in mine if id(one) not in found.bench_of]
    found.missing = [one for one in others if id(one) not in found.mine_of]
    found.pairs.sort(key=lambda pair: pair[0].index)
    return found


def _join_alike(found: Aligned, mine: Sequence[Event], others: Sequence[Event], shapes: Shapes) -> None:
    """The first of a shape with the first, the second with the second: the order of what is independent is free."""
    waiting: dict[tuple[str, int], list[Event]] = {}
    for one in others:
        waiting.setdefault((_key(one, 1, shapes), shapes.of_event(one)), []).append(one)
    for one in mine:
        same = waiting.get((_key(one, 1, shapes), shapes.of_event(one)))
        if same:
            found.join(one, same.pop(0))


def _join_rest(found: Aligned, mine: Sequence[Event], others: Sequence[Event]) -> None:
    """What is left of a kind, in order: it may have been moved."""
    waiting: dict[str, list[Event]] = {}
    for one in others:
        if id(one) not in found.mine_of:
            waiting.setdefault(key_of(one), []).append(one)
    for one in mine:
        same = waiting.get(key_of(one))
        if same and id(one) not in found.bench_of:
            found.join(one, same.pop(0))


def _key(event: Event, near: int, shapes: Shapes) -> str:
    """What is called; nearer, also where: in a network, in a loop, by nobody; and what the object was made with."""
    if not near:
        return key_of(event)
    made = shapes.of(event.receiver) if near > 1 and event.name.endswith(".__call__") else 0
    return f"{key_of(event)} {region_of(event)} {made}"


def region_of(event: Event) -> str:
    """The class's method around an event, and how many loops are around it."""
    loops = sum(one.kind == LOOP and one.name != "comprehension" for one in event.scopes)
    uncalled = any(one.kind == UNCALLED for one in event.scopes)
    return f"{'/'.join(_methods(event))} {loops} {uncalled}"


def _methods(event: Event) -> Iterator[str]:
    """Methods that frameworks call by their names; what the project calls its own functions says nothing."""
    for one in event.scopes:
        if one.kind in (CALL, UNCALLED) and isinstance(one.value, Function):
            name = getattr(one.value.node, "name", "")
            if name in ("forward", "construct", "__getitem__", "__iter__", "__init__", "__call__"):
                yield name
