"""Two scripts call by call: where what goes into a call is not what goes into the benchmark's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Final

from trueline.apitable.functions import words_of
from trueline.apitable.traits import Trait
from trueline.model.location import Location
from trueline.script.diff.difference import Difference, Kind, Node
from trueline.script.diff.events import (
    DOING,
    ORDERED,
    branches,
    functions_of,
    given_to,
    has_effect,
    has_weights,
    is_layer,
    is_read_inside,
    kept_as,
    kept_names,
    numbers_in,
    rounds,
    style_of,
    unused_layers,
)
from trueline.script.diff.likeness import MAX_DEPTH, Likeness
from trueline.script.diff.naming import input_of, is_said, key_of, word_of
from trueline.script.diff.nodes import (
    event_of,
    inputs_of,
    is_object,
    is_several,
    kind_of,
    node_of,
    place_of,
)
from trueline.script.diff.shapes import arguments_of, commutes, operation_of, plain
from trueline.script.diff.signatures import named_arguments
from trueline.script.script import Script
from trueline.script.trace import Event, Scope
from trueline.script.values import (
    Attribute,
    Const,
    Either,
    Function,
    Instance,
    Item,
    Made,
    Seq,
    Symbol,
    Table,
    Unknown,
    Value,
    ancestry,
)
from trueline.script.walking import walk

# Differences: two scripts with more have little in common, and none of them means much.
MAX_DIFFERENCES: Final = 400
# What is not known because every process has its own.
_SHARDS: Final = ("num_shards", "shard_id", "num_replicas", "rank")
# What these hold is compared by itself.
_CONTAINERS: Final = words_of(Trait.HOLDS_LAYERS)
Owner = tuple[Event, Event]
Functions = tuple[Function, Function]


@lru_cache(maxsize=2)
def compared(script: Script, bench: Script) -> Comparing:
    """A script beside its benchmark's, gone through."""
    comparison = Comparing(script, bench)
    comparison.all()
    return comparison


class Comparing(Likeness):
    """Goes through the pairs of events once, and remembers what it has seen."""

    def __init__(self, script: Script, bench: Script) -> None:
        super().__init__(script, bench)
        self.found: dict[tuple[object, ...], Difference] = {}
        self._seen: set[tuple[int, int]] = set()
        self._of_bench: dict[int, Value] = {}
        self._path: list[str] = []
        self._places: list[Location] = []
        self._functions: list[tuple[Function, Function, Owner | None]] = []
        self._counted: set[tuple[int, int]] = set()
        self._covered: set[int] = set()

    def all(self) -> None:
        """Every pair of events, what functions give, and the events that have no partner."""
        for mine, bench in self.aligned.pairs:
            self.events(mine, bench)
        self._turned()
        self._never_called()
        self._said()
        for own, theirs in self._same_functions():
            self.functions(own, theirs, None)
        while self._functions:
            self._returned(*self._functions.pop())
        self._without_partner()
        self._unused()

    def mine_of(self, bench: Value | None) -> Value | None:
        """The script's object that does what one of the benchmark's does."""
        return self._of_bench.get(id(plain(bench)))

    # Events

    def events(self, mine: Event, bench: Event) -> None:
        """Everything that goes into two events that are one another's."""
        owner = (mine, bench)
        if mine.name.endswith(".__call__") and bench.name.endswith(".__call__"):
            self.objects(mine.receiver, bench.receiver, owner)
        self._conditions(mine, bench)
        self._loops(mine, bench)
        if is_read_inside(mine) and is_read_inside(bench):
            return
        named = named_arguments(mine), named_arguments(bench)
        if (named[0] is None) != (named[1] is None) or style_of(mine) != style_of(bench):
            self.value(input_of(mine), input_of(bench), owner, "0")
            return
        own, theirs = arguments_of(mine), arguments_of(bench)
        for name in dict.fromkeys((*own, *theirs)):
            if name in own and name in theirs:
                self.value(own[name], theirs[name], owner, name)
            elif not (mine.open or bench.open) and (named[0] is not None or len(mine.args) == len(bench.args)):
                self._one_sided(own.get(name), theirs.get(name), owner, name)

    def _one_sided(self, mine: Value | None, bench: Value | None, owner: Owner, name: str) -> None:
        """An argument that only one of them gives; None, False and nothing are the same."""
        given = plain(mine if mine is not None else bench)
        if (isinstance(given, Const) and given.value in (None, False)) or isinstance(given, Unknown):
            return
        self._note(Kind.SETTING, mine, bench, owner, name)

    def _conditions(self, mine: Event, bench: Event) -> None:
        """A condition that only the script has around an event."""
        own, theirs = branches(mine), branches(bench)
        if len(own) <= len(theirs):
            return
        lone = next(
            (scope for scope in own if not any(self._same_test(scope, bench_scope) for bench_scope in theirs)), None
        )
        if lone is not None:
            node = Node("if", lone.value, None, lone.place)
            self._keep(Difference(Kind.CONDITION, node, None, (mine, bench), "if"))

    def _loops(self, mine: Event, bench: Event) -> None:
        """What is done once in one, and again and again in the other."""
        if mine.role in DOING and mine.role is bench.role and len(rounds(mine)) < len(rounds(bench)):
            node, bench_node = (Node(word_of(event.name), event.result, event, event.place) for event in (mine, bench))
            self._keep(Difference(Kind.ORDER, node, bench_node, (mine, bench), "loop"))

    def _turned(self) -> None:
        """What comes before something in one, and after it in the other; both in the same loop."""
        for first, then in ORDERED:
            for mine, bench in self.aligned.pairs:
                if bench.role is not first:
                    continue
                after = next(
                    (event for event in self.bench.trace.events[bench.index + 1 :] if event.role is then), None
                )
                event = self.aligned.mine_of.get(id(after)) if after is not None else None
                if after is None or event is None or rounds(after)[: len(rounds(bench))] != rounds(bench):
                    continue
                if event.index < mine.index and len(rounds(mine)) == len(rounds(bench)):
                    nodes = [Node(word_of(side.name), side.result, side, side.place) for side in (mine, bench)]
                    self._keep(Difference(Kind.ORDER, nodes[0], nodes[1], (mine, bench), then.value))

    def _same_test(self, scope: Scope, bench_scope: Scope) -> bool:
        return self.alike(scope.value, bench_scope.value) or self.alike(bench_scope.value, scope.value)

    # Objects

    def objects(self, mine: Value | None, bench: Value | None, owner: Owner) -> None:
        """Two objects that do the same: how they were made, and whether each is one of its own."""
        mine, bench = plain(mine), plain(bench)
        if mine is None or bench is None or not is_object(mine) or not is_object(bench):
            return
        if self.objects_of.get(id(mine)) is bench:
            return
        if id(mine) in self.objects_of or id(bench) in self._of_bench:
            if (id(mine), id(bench)) not in self._counted:
                self._counted.add((id(mine), id(bench)))
                self._sharing(mine, bench, owner)
            return
        if kind_of(mine) != kind_of(bench):
            self._note(Kind.REPLACED, mine, bench, owner, "object")
            return
        self.objects_of[id(mine)], self._of_bench[id(bench)] = bench, mine
        if isinstance(mine, Made) and isinstance(bench, Made) and word_of(mine.name) not in _CONTAINERS:
            self.events(mine.event, bench.event)

    def _sharing(self, mine: Value, bench: Value, owner: Owner) -> None:
        if not has_weights(mine) or not has_weights(bench):
            return
        kind = Kind.SHARED if id(mine) in self.objects_of else Kind.APART
        self._allow(mine, bench)
        node = node_of(mine, owner[0])
        self._keep(Difference(kind, node, node_of(bench, owner[1]), owner, "object"))

    @walk(None)
    def _allow(self, mine: Value, bench: Value) -> None:
        """What is inside of two networks is shared or not as they are."""
        self._counted.add((id(mine), id(bench)))
        if isinstance(mine, Instance) and isinstance(bench, Instance):
            for value, bench_value in zip(mine.attributes.values(), bench.attributes.values(), strict=False):
                self._allow(value, bench_value)
        elif isinstance(mine, Made | Seq | Table) and isinstance(bench, Made | Seq | Table):
            for value, bench_value in zip(mine.parts(), bench.parts(), strict=False):
                self._allow(value, bench_value)

    # Functions

    def functions(self, mine: Function, bench: Function, owner: Owner | None) -> None:
        """Two functions of the projects that stand for one another: what they give is compared later."""
        if (id(mine.node), id(bench.node)) not in self._seen:
            self._seen.add((id(mine.node), id(bench.node)))
            self._functions.append((mine, bench, owner))

    def _returned(self, mine: Function, bench: Function, owner: Owner | None) -> None:
        own, theirs = self.script.trace.returns_of(mine), self.bench.trace.returns_of(bench)
        if len(own) == len(theirs):
            for value, bench_value in zip(own, theirs, strict=True):
                self._path = [f"return {mine.name}"]
                self._value(value, bench_value, owner, "return", 0)
        self._path = []

    def _same_functions(self) -> Iterator[Functions]:
        names = [functions_of(script) for script in (self.script, self.bench)]
        for name, mine in names[0].items():
            if name in names[1]:
                yield mine, names[1][name]

    def _never_called(self) -> None:
        """Layers that a trainer calls by itself: as many of a kind, in the order in which they are built."""
        left, right = (
            [event for event in script.trace.events if is_layer(event) and id(event.result) not in known]
            for script, known in ((self.script, self.objects_of), (self.bench, self._of_bench))
        )
        own, theirs = ([key_of(event) for event in side] for side in (left, right))
        if own == theirs:
            for mine, bench in zip(left, right, strict=True):
                self.objects(mine.result, bench.result, (mine, bench))

    def _said(self) -> None:
        """What is printed or written down, where both say as much: numbers of an evaluation end here."""
        left, right = (
            [event for event in script.trace.events if is_said(event)] for script in (self.script, self.bench)
        )
        if len(left) == len(right):
            for mine, bench in zip(left, right, strict=True):
                own, theirs = numbers_in(mine), numbers_in(bench)
                if len(own) == len(theirs):
                    for value, bench_value in zip(own, theirs, strict=True):
                        self.value(value, bench_value, (mine, bench), "said")

    # Values

    def value(self, mine: Value | None, bench: Value | None, owner: Owner | None, argument: str) -> None:
        """Two values that stand for one another."""
        before = self._path, self._places
        self._path, self._places = [], []
        self._value(mine, bench, owner, argument, 0)
        self._path, self._places = before

    def _value(self, mine: Value | None, bench: Value | None, owner: Owner | None, argument: str, depth: int) -> None:
        mine, bench = plain(mine), plain(bench)
        if mine is None or bench is None or depth > MAX_DEPTH or len(self.found) > MAX_DIFFERENCES:
            return
        if (id(mine), id(bench)) in self._seen:
            return
        self._seen.add((id(mine), id(bench)))
        if isinstance(mine, Function) and isinstance(bench, Function):
            self.functions(mine, bench, owner)
            return
        if is_object(mine) and is_object(bench) and owner is not None:
            self.objects(mine, bench, owner)
            return
        if self.alike(mine, bench):
            return
        if isinstance(mine, Unknown) or isinstance(bench, Unknown):
            if isinstance(mine, Const) and argument in _SHARDS:
                self._note(Kind.REPLACED, mine, bench, owner, argument)
            return
        self._unlike(mine, bench, owner, argument, depth + 1)

    def _unlike(self, mine: Value, bench: Value, owner: Owner | None, argument: str, depth: int) -> None:
        if isinstance(mine, Either) or isinstance(bench, Either):
            self._either(mine, bench, owner, argument, depth)
        elif isinstance(mine, Const) and isinstance(bench, Const):
            self._note(Kind.SETTING, mine, bench, owner, argument)
        elif isinstance(mine, Seq) and isinstance(bench, Seq):
            self._sequences(mine, bench, owner, argument, depth)
        elif isinstance(mine, Table) and isinstance(bench, Table):
            self._tables(mine, bench, owner, depth)
        elif isinstance(mine, Item) and isinstance(bench, Item):
            self._items(mine, bench, owner, argument, depth)
        elif isinstance(mine, Attribute) and isinstance(bench, Attribute) and mine.name == bench.name:
            self._value(mine.of, bench.of, owner, argument, depth)
        elif self._skipped(mine, bench, owner, argument):
            return
        elif is_several(mine) != is_several(bench):
            # One gives more than the other, as a loss with what it was made from.
            first = [value.items[0] if isinstance(value, Seq) and value.items else value for value in (mine, bench)]
            self._value(first[0], first[1], owner, argument, depth)
        elif not self._operations(mine, bench, owner, argument, depth):
            self._made(mine, bench, owner, argument, depth)

    def _skipped(self, mine: Value, bench: Value, owner: Owner | None, argument: str) -> bool:
        """One is the other with something done to it."""
        within = self._inside(bench, mine, of_bench=True)
        if within is not None:
            self._note(Kind.MISSING, mine, within[0], owner, argument, within)
            return True
        within = self._inside(mine, bench, of_bench=False)
        if within is not None:
            self._note(Kind.EXTRA, within[0], bench, owner, argument, within)
            return True
        return False

    @walk(None)
    def _inside(self, outer: Value, inner: Value, *, of_bench: bool, most: int = 6) -> list[Value] | None:
        """The operations that lead from one value to the other, outermost first; None where none do."""
        if most == 0 or isinstance(inner, Const | Symbol):
            return None
        for part in inputs_of(outer):
            value = plain(part)
            if value is None:
                continue
            same = self.alike(inner, value) if of_bench else self.alike(value, inner)
            if same:
                return [outer]
            if isinstance(value, Made) and self._has_partner(value.event, of_bench=of_bench):
                continue
            further = self._inside(value, inner, of_bench=of_bench, most=most - 1)
            if further is not None:
                return [outer, *further]
        return None

    def _has_partner(self, event: Event, *, of_bench: bool) -> bool:
        return id(event) in (self.aligned.mine_of if of_bench else self.aligned.bench_of)

    def _operations(self, mine: Value, bench: Value, owner: Owner | None, argument: str, depth: int) -> bool:
        own, theirs = operation_of(mine), operation_of(bench)
        if own is None or theirs is None:
            return False
        if own[0] != theirs[0] or len(own[1]) != len(theirs[1]):
            self._note(Kind.REPLACED, mine, bench, owner, argument)
            return True
        self._path.append(own[0])
        self._places.extend([own[2]] if own[2] is not None else [])
        left, right = list(own[1]), list(theirs[1])
        if commutes(own[0]):
            left, right = self.unpaired(left, right)
        for value, bench_value in zip(left, right, strict=True):
            self._value(value, bench_value, owner, argument, depth)
        self._path.pop()
        if own[2] is not None:
            self._places.pop()
        return True

    def _made(self, mine: Value, bench: Value, owner: Owner | None, argument: str, depth: int) -> None:
        """Results of calls that are not one another's."""
        own, bench_event = event_of(mine), event_of(bench)
        if own is not None and bench_event is not None:
            lone = id(own) not in self.aligned.bench_of, id(bench_event) not in self.aligned.mine_of
            if lone == (True, False):
                self._note(Kind.EXTRA, mine, bench, owner, argument)
                self._value(input_of(own), bench, owner, argument, depth)
                return
            if lone == (False, True):
                self._note(Kind.MISSING, mine, bench, owner, argument)
                self._value(mine, input_of(bench_event), owner, argument, depth)
                return
        self._note(Kind.REPLACED, mine, bench, owner, argument)

    def _items(self, mine: Item, bench: Item, owner: Owner | None, argument: str, depth: int) -> None:
        self._value(mine.of, bench.of, owner, argument, depth)
        if not self.alike(mine.index, bench.index):
            if any(isinstance(plain(value.index), Unknown) for value in (mine, bench)) and not self._is_shifted(
                mine, bench
            ):
                return
            self._path.append("index")
            self._note(Kind.SETTING, mine, bench, owner, argument)
            self._path.pop()

    def _is_shifted(self, mine: Item, bench: Item) -> bool:
        """Whether one index is the other one and some more."""
        for index, other_index in ((mine.index, bench.index), (bench.index, mine.index)):
            operation = operation_of(plain(index))
            if operation is not None and any(isinstance(plain(part), Const) for part in operation[1]):
                unknown = [plain(part) for part in operation[1] if isinstance(plain(part), Unknown)]
                if unknown and isinstance(plain(other_index), Unknown):
                    return True
        return False

    def _sequences(self, mine: Seq, bench: Seq, owner: Owner | None, argument: str, depth: int) -> None:
        if len(mine.tests) == len(bench.tests):
            for value, bench_value in zip(mine.tests, bench.tests, strict=True):
                self._path.append("test")
                self._value(value, bench_value, owner, argument, depth)
                self._path.pop()
        if len(mine.items) == len(bench.items):
            for value, bench_value in zip(mine.items, bench.items, strict=True):
                self._value(value, bench_value, owner, argument, depth)
            return
        own, theirs = ([self.shapes.of(value) for value in side.items] for side in (mine, bench))
        for how, a, b, c, d in SequenceMatcher(None, own, theirs, autojunk=False).get_opcodes():
            if how != "equal":
                for value in mine.items[a:b]:
                    self._note(Kind.EXTRA, value, bench, owner, argument)
                for bench_value in bench.items[c:d]:
                    self._note(Kind.MISSING, mine, bench_value, owner, argument)

    def _tables(self, mine: Table, bench: Table, owner: Owner | None, depth: int) -> None:
        for name in dict.fromkeys((*mine.items, *bench.items)):
            if name in mine.items and name in bench.items:
                self._value(mine.items[name], bench.items[name], owner, str(name), depth)
            elif not (mine.open or bench.open) and owner is not None:
                self._one_sided(mine.items.get(name), bench.items.get(name), owner, str(name))

    def _either(self, mine: Value, bench: Value, owner: Owner | None, argument: str, depth: int) -> None:
        own = list(mine.options) if isinstance(mine, Either) else [mine]
        theirs = list(bench.options) if isinstance(bench, Either) else [bench]
        left, right = self.unpaired(own, theirs)
        if len(left) == len(right):
            for value, bench_value in zip(left, right, strict=True):
                self._value(value, bench_value, owner, argument, depth)
        elif not left or not right:
            name = "mine" if left else "bench"
            lone = Node("if", (left or right)[0], event_of((left or right)[0]), place_of((left or right)[0]))
            pair = (lone, None) if name == "mine" else (None, lone)
            self._keep(Difference(Kind.CONDITION, pair[0], pair[1], owner, argument, tuple(self._path)))

    # What was found

    def _note(
        self,
        kind: Kind,
        mine: Value | None,
        bench: Value | None,
        owner: Owner | None,
        argument: str,
        chain: Sequence[Value] = (),
    ) -> None:
        own = node_of(mine, owner[0] if owner else None) if mine is not None else None
        bench_node = node_of(bench, owner[1] if owner else None) if bench is not None else None
        side = owner[1 if kind is Kind.MISSING else 0] if owner is not None else None
        nodes = tuple(node_of(value, side) for value in chain)
        self._keep(
            Difference(kind, own, bench_node, owner, argument, tuple(self._path), nodes, tuple(reversed(self._places)))
        )

    def _keep(self, difference: Difference) -> None:
        for node in difference.nodes:
            self._covered.update(id(value.event) for value in ancestry(node.value, most=300) if isinstance(value, Made))
        places = [side.place if side is not None else None for side in (difference.mine, difference.bench)]
        names = [side.name if side is not None else "" for side in (difference.mine, difference.bench)]
        at = difference.owner[0].place if difference.owner is not None and difference.mine is None else None
        self.found.setdefault((difference.kind, *places, *names, difference.argument, at), difference)

    def _unused(self) -> None:
        """Layers that the script keeps and never uses, under names that the benchmark has no unused layer under."""
        names = {kept_as(event) for event in unused_layers(self.bench)}
        for event in unused_layers(self.script):
            if kept_as(event) not in names and kept_as(event) not in kept_names(self.bench):
                self._keep(
                    Difference(Kind.EXTRA, Node("layer", event.args[1], event, event.place), None, None, "unused")
                )

    def _without_partner(self) -> None:
        """Events whose result nothing compared goes on from: what they do is all there is of them."""
        for kind, events in ((Kind.EXTRA, self.aligned.extra), (Kind.MISSING, self.aligned.missing)):
            used = {
                id(value.event)
                for event in events
                for value in ancestry(*given_to(event), most=200)
                if isinstance(value, Made) and value.event is not event
            }
            for event in events:
                if not has_effect(event) or id(event) in self._covered or id(event) in used:
                    continue
                node = Node(word_of(event.name), event.result, event, event.place)
                self._keep(
                    Difference(
                        kind,
                        node if kind is Kind.EXTRA else None,
                        node if kind is Kind.MISSING else None,
                        None,
                        "event",
                    )
                )
