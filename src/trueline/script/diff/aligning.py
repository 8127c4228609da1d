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
    return [event for event in script.trace.events if _counts(event)]


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
    alignment = Aligned()
    mine, bench_events = compared_events(script), compared_events(bench)
    trained = trained_loaders(script) | trained_loaders(bench)
    alike = _join_alike(alignment, mine, bench_events, shapes)
    for near in (3, 2):
        # First what is done with results, then what the results were made by, then the rest in order.
        for some in (_is_end, _is_any):
            left = [event for event in mine if id(event) not in alignment.bench_of and some(event)]
            right = [event for event in bench_events if id(event) not in alignment.mine_of and some(event)]
            keys = [[_key(event, near, shapes, trained) for event in side] for side in (left, right)]
            joined = _join_in_order(alignment, (left, keys[0]), (right, keys[1]))
            if some is _is_end:
                for pair in (*alike, *joined):
                    _join_inputs(alignment, *pair)
                alike = []
    for near in (1, 0):
        left = [event for event in mine if id(event) not in alignment.bench_of]
        right = [event for event in bench_events if id(event) not in alignment.mine_of]
        keys = [[_key(event, near, shapes, trained) for event in side] for side in (left, right)]
        _join_in_order(alignment, (left, keys[0]), (right, keys[1]))
    _join_rest(alignment, mine, bench_events)
    alignment.extra = [event for event in mine if id(event) not in alignment.bench_of]
    alignment.missing = [event for event in bench_events if id(event) not in alignment.mine_of]
    alignment.pairs.sort(key=lambda pair: pair[0].index)
    return alignment


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
    loaders: set[int] = set()
    for loop in training_loops(script.trace):
        for scope in (loop.scope, *loop.around):
            for value in ancestry(iterated(scope.value), most=60):
                if isinstance(value, Made):
                    loaders.add(id(value.event))
    return loaders


_Keyed = tuple[Sequence[Event], Sequence[str]]


def _join_in_order(alignment: Aligned, left: _Keyed, right: _Keyed) -> list[tuple[Event, Event]]:
    """Events with the same keys in the same order."""
    joined: list[tuple[Event, Event]] = []
    for at, begin, size in SequenceMatcher(None, left[1], right[1], autojunk=False).get_matching_blocks():
        joined += [(left[0][at + step], right[0][begin + step]) for step in range(size)]
    for pair in joined:
        alignment.join(*pair)
    return joined


def _join_inputs(alignment: Aligned, mine: Event, bench: Event, most: int = 400) -> None:
    """What goes into two events that are one another's, as far as both are made alike."""
    waiting = [*_facing(mine, bench)]
    seen: set[tuple[int, int]] = set()
    while waiting and len(seen) < most:
        own, theirs = (plain(side) for side in waiting.pop(0))
        if own is None or theirs is None or (id(own), id(theirs)) in seen:
            continue
        seen.add((id(own), id(theirs)))
        first, second = operation_of(own), operation_of(theirs)
        if first is not None and second is not None:
            if first[0] == second[0] and len(first[1]) == len(second[1]):
                waiting += zip(first[1], second[1], strict=True)
        elif isinstance(own, Made) and isinstance(theirs, Made):
            event, bench_event = own.event, theirs.event
            free = id(event) not in alignment.bench_of and id(bench_event) not in alignment.mine_of
            if free and key_of(event) == key_of(bench_event) and _counts(event) and _counts(bench_event):
                alignment.join(event, bench_event)
                waiting += _facing(event, bench_event)
        elif isinstance(own, Item) and isinstance(theirs, Item):
            waiting.append((own.of, theirs.of))
        elif isinstance(own, Seq) and isinstance(theirs, Seq) and len(own.items) == len(theirs.items):
            waiting += zip(own.items, theirs.items, strict=True)


def _facing(mine: Event, bench: Event) -> list[tuple[Value, Value]]:
    own, theirs = arguments_of(mine), arguments_of(bench)
    return [(value, theirs[name]) for name, value in own.items() if name in theirs]


def _join_alike(
    alignment: Aligned, mine: Sequence[Event], bench_events: Sequence[Event], shapes: Shapes
) -> list[tuple[Event, Event]]:
    """The first of a shape with the first, the second with the second: the order of what is independent is free."""
    waiting: dict[tuple[str, int], list[Event]] = {}
    joined: list[tuple[Event, Event]] = []
    for event in bench_events:
        waiting.setdefault((_key(event, 1, shapes, set()), shapes.of_event(event)), []).append(event)
    for event in mine:
        same = waiting.get((_key(event, 1, shapes, set()), shapes.of_event(event)))
        if same:
            joined.append((event, same.pop(0)))
            alignment.join(*joined[-1])
    return joined


def _join_rest(alignment: Aligned, mine: Sequence[Event], bench_events: Sequence[Event]) -> None:
    """What is left of a kind, in order: it may have been moved."""
    waiting: dict[str, list[Event]] = {}
    for event in bench_events:
        if id(event) not in alignment.mine_of:
            waiting.setdefault(key_of(event), []).append(event)
    for event in mine:
        same = waiting.get(key_of(event))
        if same and id(event) not in alignment.bench_of:
            alignment.join(event, same.pop(0))


def _key(event: Event, near: int, shapes: Shapes, trained: set[int]) -> str:
    """What is called; nearer, also in which method, what the object was made with, and in how many loops."""
    if not near:
        return key_of(event)
    made = shapes.of(event.receiver) if near > 1 and event.name.endswith(".__call__") else 0
    loops = sum(scope.kind == LOOP and scope.name != "comprehension" for scope in event.scopes) if near > 2 else 0
    return f"{key_of(event)} {_method(event)} {made} {loops} {id(event) in trained}"


def _method(event: Event) -> str:
    """The nearest method that frameworks call by its name; what the project calls its functions says nothing."""
    for scope in reversed(event.scopes):
        if scope.kind in (CALL, UNCALLED) and isinstance(scope.value, Function):
            name = getattr(scope.value.node, "name", "")
            if name in ("forward", "construct", "__getitem__", "__iter__"):
                return str(name)
    return ""
