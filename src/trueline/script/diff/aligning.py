"""Which event of a script is which of its benchmark's: those that are alike in all, then those in the same order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from trueline.script.diff.naming import OPERATORS, QUERIES, is_aside, is_built, is_through, key_of, word_of
from trueline.script.diff.shapes import Shapes, arguments_of, operation_of, plain
from trueline.script.loops import training_loops
from trueline.script.roles import Role, is_network
from trueline.script.script import Script
from trueline.script.trace import CALL, LOOP, UNCALLED, Event, iterated
from trueline.script.values import Function, Item, Made, Seq, Value, ancestry

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
    if event.name.endswith(".__new__") or word in QUERIES or _is_layer_kept(event):
        return False
    # Layers are compared where they are called.
    return not (is_built(event) and isinstance(event.result, Made) and is_network(event.result))


def _is_layer_kept(event: Event) -> bool:
    """``self.layer = …``: layers are compared where they are called."""
    return event.method == "__setattr__" and len(event.args) > 1 and is_network(event.args[1])


def aligned(script: Script, bench: Script, shapes: Shapes) -> Aligned:
    """The events of two scripts, one beside the other."""
    found = Aligned()
    mine, others = compared_events(script), compared_events(bench)
    trained = trained_loaders(script) | trained_loaders(bench)
    alike = _join_alike(found, mine, others, shapes)
    for near in (3, 2):
        # First what is done with results, then what the results were made by, then the rest in order.
        for some in (_is_end, _is_any):
            left = [one for one in mine if id(one) not in found.bench_of and some(one)]
            right = [one for one in others if id(one) not in found.mine_of and some(one)]
            keys = [[_key(one, near, shapes, trained) for one in side] for side in (left, right)]
            joined = _join_in_order(found, (left, keys[0]), (right, keys[1]))
            if some is _is_end:
                for pair in (*alike, *joined):
                    _join_inputs(found, *pair)
                alike = []
    for near in (1, 0):
        left = [one for one in mine if id(one) not in found.bench_of]
        right = [one for one in others if id(one) not in found.mine_of]
        keys = [[_key(one, near, shapes, trained) for one in side] for side in (left, right)]
        _join_in_order(found, (left, keys[0]), (right, keys[1]))
    _join_rest(found, mine, others)
    found.extra = [one for one in mine if id(one) not in found.bench_of]
    found.missing = [one for one in others if id(one) not in found.mine_of]
    found.pairs.sort(key=lambda pair: pair[0].index)
    return found


def _is_end(event: Event) -> bool:
    return event.role in (
        Role.BUILD_LOADER,
        Role.BUILD_OPTIMIZER,
        Role.BUILD_SCHEDULER,
        Role.BACKWARD,
        Role.STEP,
        Role.LOSS,
        Role.SCALER_STEP,
    )


def _is_any(_: Event) -> bool:
    return True


def trained_loaders(script: Script) -> set[int]:
    """Events that build what training goes through."""
    found: set[int] = set()
    for loop in training_loops(script.trace):
        for scope in (loop.scope, *loop.around):
            for one in ancestry(iterated(scope.value), most=60):
                if isinstance(one, Made):
                    found.add(id(one.event))
    return found


_Keyed = tuple[Sequence[Event], Sequence[str]]


def _join_in_order(found: Aligned, left: _Keyed, right: _Keyed) -> list[tuple[Event, Event]]:
    """Events with the same keys in the same order."""
    joined: list[tuple[Event, Event]] = []
    for at, begin, size in SequenceMatcher(None, left[1], right[1], autojunk=False).get_matching_blocks():
        joined += [(left[0][at + step], right[0][begin + step]) for step in range(size)]
    for pair in joined:
        found.join(*pair)
    return joined


def _join_inputs(found: Aligned, mine: Event, bench: Event, most: int = 400) -> None:
    """What goes into two events that are one another's, as far as both are made alike."""
    waiting = [*_facing(mine, bench)]
    seen: set[tuple[int, int]] = set()
    while waiting and len(seen) < most:
        own, other = (plain(one) for one in waiting.pop(0))
        if own is None or other is None or (id(own), id(other)) in seen:
            continue
        seen.add((id(own), id(other)))
        first, second = operation_of(own), operation_of(other)
        if first is not None and second is not None:
            if first[0] == second[0] and len(first[1]) == len(second[1]):
                waiting += zip(first[1], second[1], strict=True)
        elif isinstance(own, Made) and isinstance(other, Made):
            one, two = own.event, other.event
            free = id(one) not in found.bench_of and id(two) not in found.mine_of
            if free and key_of(one) == key_of(two) and _counts(one) and _counts(two):
                found.join(one, two)
                waiting += _facing(one, two)
        elif isinstance(own, Item) and isinstance(other, Item):
            waiting.append((own.of, other.of))
        elif isinstance(own, Seq) and isinstance(other, Seq) and len(own.items) == len(other.items):
            waiting += zip(own.items, other.items, strict=True)


def _facing(mine: Event, bench: Event) -> list[tuple[Value, Value]]:
    own, other = arguments_of(mine), arguments_of(bench)
    return [(value, other[name]) for name, value in own.items() if name in other]


def _join_alike(
    found: Aligned, mine: Sequence[Event], others: Sequence[Event], shapes: Shapes
) -> list[tuple[Event, Event]]:
    """The first of a shape with the first, the second with the second: the order of what is independent is free."""
    waiting: dict[tuple[str, int], list[Event]] = {}
    joined: list[tuple[Event, Event]] = []
    for one in others:
        waiting.setdefault((_key(one, 1, shapes, set()), shapes.of_event(one)), []).append(one)
    for one in mine:
        same = waiting.get((_key(one, 1, shapes, set()), shapes.of_event(one)))
        if same:
            joined.append((one, same.pop(0)))
            found.join(*joined[-1])
    return joined


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


def _key(event: Event, near: int, shapes: Shapes, trained: set[int]) -> str:
    """What is called; nearer, also in which method, what the object was made with, and in how many loops."""
    if not near:
        return key_of(event)
    made = shapes.of(event.receiver) if near > 1 and event.name.endswith(".__call__") else 0
    loops = sum(one.kind == LOOP and one.name != "comprehension" for one in event.scopes) if near > 2 else 0
    return f"{key_of(event)} {_method(event)} {made} {loops} {id(event) in trained}"


def _method(event: Event) -> str:
    """The nearest method that frameworks call by its name; what the project calls its functions says nothing."""
    for one in reversed(event.scopes):
        if one.kind in (CALL, UNCALLED) and isinstance(one.value, Function):
            name = getattr(one.value.node, "name", "")
            if name in ("forward", "construct", "__getitem__", "__iter__"):
                return str(name)
    return ""
