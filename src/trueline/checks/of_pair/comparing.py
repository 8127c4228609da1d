"""Two scripts call by call: where what goes into a call is not what goes into the benchmark's."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Final

from trueline.checks.of_pair.aligning import Aligned, aligned
from trueline.checks.of_pair.difference import Difference, Kind, Thing
from trueline.checks.of_pair.naming import QUERIES, input_of, is_built, is_said, key_of, word_of
from trueline.checks.of_pair.shapes import Shapes, arguments_of, commutes, operation_of, plain
from trueline.checks.of_pair.signatures import named_arguments
from trueline.script.place import Place
from trueline.script.roles import Role, is_network
from trueline.script.script import Script
from trueline.script.trace import BRANCH, LOOP, Event, Scope
from trueline.script.values import (
    Attribute,
    Const,
    Derived,
    Either,
    Function,
    Instance,
    Item,
    Made,
    Partial,
    Seq,
    Symbol,
    Table,
    Unknown,
    Value,
    ancestry,
)

_MOST: Final = 400
# What is not known because every process has its own.
_SHARDS: Final = ("num_shards", "shard_id", "num_replicas", "rank")
# What these hold is compared by itself.
_CONTAINERS: Final = ("sequential", "modulelist", "moduledict", "celldict")
Owner = tuple[Event, Event]
Functions = tuple[Function, Function]


@lru_cache(maxsize=2)
def compared(script: Script, bench: Script) -> Comparing:
    """A script beside its benchmark's, gone through."""
    found = Comparing(script, bench)
    found.all()
    return found


def differences(script: Script, bench: Script) -> Sequence[Difference]:
    """All that differs between a script and its benchmark's, in the order in which the script does it."""
    return list(compared(script, bench).found.values())


class Comparing:
    """Goes through the pairs of events once, and remembers what it has seen."""

    def __init__(self, script: Script, bench: Script) -> None:
        self.script, self.bench = script, bench
        self.shapes = Shapes()
        self.aligned: Aligned = aligned(script, bench, self.shapes)
        self.found: dict[tuple[object, ...], Difference] = {}
        self._seen: set[tuple[int, int]] = set()
        self._alike: dict[tuple[int, int], bool] = {}
        self._objects: dict[int, Value] = {}
        self._of_bench: dict[int, Value] = {}
        self._path: list[str] = []
        self._places: list[Place] = []
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
        for own, other in self._same_functions():
            self.functions(own, other, None)
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
        if _is_read_inside(mine) and _is_read_inside(bench):
            return
        named = named_arguments(mine), named_arguments(bench)
        if (named[0] is None) != (named[1] is None) or _style(mine) != _style(bench):
            self.value(input_of(mine), input_of(bench), owner, "0")
            return
        own, other = arguments_of(mine), arguments_of(bench)
        for name in dict.fromkeys((*own, *other)):
            if name in own and name in other:
                self.value(own[name], other[name], owner, name)
            elif not (mine.open or bench.open) and (named[0] is not None or len(mine.args) == len(bench.args)):
                self._one_sided(own.get(name), other.get(name), owner, name)

    def _one_sided(self, mine: Value | None, bench: Value | None, owner: Owner, name: str) -> None:
        """An argument that only one of them gives; None, False and nothing are the same."""
        given = plain(mine if mine is not None else bench)
        if (isinstance(given, Const) and given.value in (None, False)) or isinstance(given, Unknown):
            return
        self._note(Kind.SETTING, mine, bench, owner, name)

    def _conditions(self, mine: Event, bench: Event) -> None:
        own, other = _branches(mine), _branches(bench)
        if len(own) == len(other):
            return
        more = own if len(own) > len(other) else other
        lone = next(
            (one for one in more if not any(self._same_test(one, two) for two in (own if more is other else other))),
            None,
        )
        if lone is None:
            return
        thing = Thing("if", lone.value, None, lone.place)
        if more is own:
            self._keep(Difference(Kind.CONDITION, thing, None, (mine, bench), "if"))
        else:
            self._keep(Difference(Kind.CONDITION, None, thing, (mine, bench), "if"))

    def _loops(self, mine: Event, bench: Event) -> None:
        """What is done once in one, and again and again in the other."""
        if mine.role in _DOING and mine.role is bench.role and len(_rounds(mine)) < len(_rounds(bench)):
            thing, other = (Thing(word_of(one.name), one.result, one, one.place) for one in (mine, bench))
            self._keep(Difference(Kind.ORDER, thing, other, (mine, bench), "loop"))

    def _turned(self) -> None:
        """What comes before something in one, and after it in the other; both in the same loop."""
        for first, then in _ORDERED:
            for mine, bench in self.aligned.pairs:
                if bench.role is not first:
                    continue
                after = next((one for one in self.bench.trace.events[bench.index + 1 :] if one.role is then), None)
                other = self.aligned.mine_of.get(id(after)) if after is not None else None
                if after is None or other is None or _rounds(after)[: len(_rounds(bench))] != _rounds(bench):
                    continue
                if other.index < mine.index and len(_rounds(mine)) == len(_rounds(bench)):
                    things = [Thing(word_of(one.name), one.result, one, one.place) for one in (mine, bench)]
                    self._keep(Difference(Kind.ORDER, things[0], things[1], (mine, bench), then.value))

    def _same_test(self, one: Scope, other: Scope) -> bool:
        return self.alike(one.value, other.value) or self.alike(other.value, one.value)

    # Objects

    def objects(self, mine: Value | None, bench: Value | None, owner: Owner) -> None:
        """Two objects that do the same: how they were made, and whether each is one of its own."""
        mine, bench = plain(mine), plain(bench)
        if mine is None or bench is None or not _is_object(mine) or not _is_object(bench):
            return
        if self._objects.get(id(mine)) is bench:
            return
        if id(mine) in self._objects or id(bench) in self._of_bench:
            if (id(mine), id(bench)) not in self._counted:
                self._counted.add((id(mine), id(bench)))
                self._sharing(mine, bench, owner)
            return
        if _kind_of(mine) != _kind_of(bench):
            self._note(Kind.REPLACED, mine, bench, owner, "object")
            return
        self._objects[id(mine)], self._of_bench[id(bench)] = bench, mine
        if isinstance(mine, Made) and isinstance(bench, Made) and word_of(mine.name) not in _CONTAINERS:
            self.events(mine.event, bench.event)

    def _sharing(self, mine: Value, bench: Value, owner: Owner) -> None:
        if not _has_weights(mine) or not _has_weights(bench):
            return
        kind = Kind.SHARED if id(mine) in self._objects else Kind.APART
        self._allow(mine, bench)
        thing = _thing(mine, owner[0])
        self._keep(Difference(kind, thing, _thing(bench, owner[1]), owner, "object"))

    def _allow(self, mine: Value, bench: Value, depth: int = 0) -> None:
        """What is inside of two networks is shared or not as they are."""
        self._counted.add((id(mine), id(bench)))
        if isinstance(mine, Instance) and isinstance(bench, Instance) and depth < 12:
            for one, other in zip(mine.attributes.values(), bench.attributes.values(), strict=False):
                self._allow(one, other, depth + 1)
        elif isinstance(mine, Made | Seq | Table) and isinstance(bench, Made | Seq | Table) and depth < 12:
            for one, other in zip(mine.parts(), bench.parts(), strict=False):
                self._allow(one, other, depth + 1)

    # Functions

    def functions(self, mine: Function, bench: Function, owner: Owner | None) -> None:
        """Two functions of the projects that stand for one another: what they give is compared later."""
        if (id(mine.node), id(bench.node)) not in self._seen:
            self._seen.add((id(mine.node), id(bench.node)))
            self._functions.append((mine, bench, owner))

    def _returned(self, mine: Function, bench: Function, owner: Owner | None) -> None:
        own, other = self.script.trace.returns_of(mine), self.bench.trace.returns_of(bench)
        if len(own) == len(other):
            for one, two in zip(own, other, strict=True):
                self._path = [f"return {mine.name}"]
                self._value(one, two, owner, "return", 0)
        self._path = []

    def _same_functions(self) -> Iterator[Functions]:
        names = [_functions_of(one) for one in (self.script, self.bench)]
        for name, mine in names[0].items():
            if name in names[1]:
                yield mine, names[1][name]

    def _never_called(self) -> None:
        """Layers that a trainer calls by itself: as many of a kind, in the order in which they are built."""
        left, right = (
            [one for one in script.trace.events if _is_layer(one) and id(one.result) not in known]
            for script, known in ((self.script, self._objects), (self.bench, self._of_bench))
        )
        own, other = ([key_of(one) for one in side] for side in (left, right))
        if own == other:
            for mine, bench in zip(left, right, strict=True):
                self.objects(mine.result, bench.result, (mine, bench))

    def _said(self) -> None:
        """What is printed or written down, where both say as much: numbers of an evaluation end here."""
        left, right = ([one for one in script.trace.events if is_said(one)] for script in (self.script, self.bench))
        if len(left) == len(right):
            for mine, bench in zip(left, right, strict=True):
                own, other = _numbers_in(mine), _numbers_in(bench)
                if len(own) == len(other):
                    for one, two in zip(own, other, strict=True):
                        self.value(one, two, (mine, bench), "said")

    # Values

    def value(self, mine: Value | None, bench: Value | None, owner: Owner | None, argument: str) -> None:
        """Two values that stand for one another."""
        before = self._path, self._places
        self._path, self._places = [], []
        self._value(mine, bench, owner, argument, 0)
        self._path, self._places = before

    def _value(self, mine: Value | None, bench: Value | None, owner: Owner | None, argument: str, depth: int) -> None:
        mine, bench = plain(mine), plain(bench)
        if mine is None or bench is None or depth > 60 or len(self.found) > _MOST:
            return
        if (id(mine), id(bench)) in self._seen:
            return
        self._seen.add((id(mine), id(bench)))
        if isinstance(mine, Function) and isinstance(bench, Function):
            self.functions(mine, bench, owner)
            return
        if _is_object(mine) and _is_object(bench) and owner is not None:
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
        elif _is_several(mine) != _is_several(bench):
            # One gives more than the other, as a loss with what it was made from.
            first = [one.items[0] if isinstance(one, Seq) and one.items else one for one in (mine, bench)]
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

    def _inside(self, outer: Value, inner: Value, *, of_bench: bool, most: int = 6) -> list[Value] | None:
        """The operations that lead from one value to the other, outermost first; None where none do."""
        if most == 0 or isinstance(inner, Const | Symbol):
            return None
        for part in _inputs(outer):
            one = plain(part)
            if one is None:
                continue
            same = self.alike(inner, one) if of_bench else self.alike(one, inner)
            if same:
                return [outer]
            if isinstance(one, Made) and self._has_partner(one.event, of_bench=of_bench):
                continue
            further = self._inside(one, inner, of_bench=of_bench, most=most - 1)
            if further is not None:
                return [outer, *further]
        return None

    def _has_partner(self, event: Event, *, of_bench: bool) -> bool:
        return id(event) in (self.aligned.mine_of if of_bench else self.aligned.bench_of)

    def _operations(self, mine: Value, bench: Value, owner: Owner | None, argument: str, depth: int) -> bool:
        own, other = operation_of(mine), operation_of(bench)
        if own is None or other is None:
            return False
        if own[0] != other[0] or len(own[1]) != len(other[1]):
            self._note(Kind.REPLACED, mine, bench, owner, argument)
            return True
        self._path.append(own[0])
        self._places.extend([own[2]] if own[2] is not None else [])
        left, right = list(own[1]), list(other[1])
        if commutes(own[0]):
            left, right = self._unpaired(left, right)
        for one, two in zip(left, right, strict=True):
            self._value(one, two, owner, argument, depth)
        self._path.pop()
        if own[2] is not None:
            self._places.pop()
        return True

    def _unpaired(self, left: list[Value], right: list[Value]) -> tuple[list[Value], list[Value]]:
        rest: list[Value] = []
        right = list(right)
        for one in left:
            at = next((place for place, two in enumerate(right) if self.alike(one, two)), None)
            if at is None:
                rest.append(one)
            else:
                right.pop(at)
        return rest, right

    def _made(self, mine: Value, bench: Value, owner: Owner | None, argument: str, depth: int) -> None:
        """Results of calls that are not one another's."""
        own, other = _event(mine), _event(bench)
        if own is not None and other is not None:
            lone = id(own) not in self.aligned.bench_of, id(other) not in self.aligned.mine_of
            if lone == (True, False):
                self._note(Kind.EXTRA, mine, bench, owner, argument)
                self._value(input_of(own), bench, owner, argument, depth)
                return
            if lone == (False, True):
                self._note(Kind.MISSING, mine, bench, owner, argument)
                self._value(mine, input_of(other), owner, argument, depth)
                return
        self._note(Kind.REPLACED, mine, bench, owner, argument)

    def _items(self, mine: Item, bench: Item, owner: Owner | None, argument: str, depth: int) -> None:
        if not self.alike(mine.of, bench.of) and self._skipped(mine, bench, owner, argument):
            return
        self._value(mine.of, bench.of, owner, argument, depth)
        if not self.alike(mine.index, bench.index):
            if any(isinstance(plain(one.index), Unknown) for one in (mine, bench)) and not self._is_shifted(
                mine, bench
            ):
                return
            self._path.append("index")
            self._note(Kind.SETTING, mine, bench, owner, argument)
            self._path.pop()

    def _is_shifted(self, mine: Item, bench: Item) -> bool:
        """Whether one index is the other one and some more."""
        for one, other in ((mine.index, bench.index), (bench.index, mine.index)):
            operation = operation_of(plain(one))
            if operation is not None and any(isinstance(plain(part), Const) for part in operation[1]):
                unknown = [plain(part) for part in operation[1] if isinstance(plain(part), Unknown)]
                if unknown and isinstance(plain(other), Unknown):
                    return True
        return False

    def _sequences(self, mine: Seq, bench: Seq, owner: Owner | None, argument: str, depth: int) -> None:
        if len(mine.tests) == len(bench.tests):
            for one, two in zip(mine.tests, bench.tests, strict=True):
                self._path.append("test")
                self._value(one, two, owner, argument, depth)
                self._path.pop()
        if len(mine.items) == len(bench.items):
            for one, two in zip(mine.items, bench.items, strict=True):
                self._value(one, two, owner, argument, depth)
            return
        own, other = ([self.shapes.of(one) for one in side.items] for side in (mine, bench))
        for how, a, b, c, d in SequenceMatcher(None, own, other, autojunk=False).get_opcodes():
            if how == "replace" and b - a == d - c:
                for one, two in zip(mine.items[a:b], bench.items[c:d], strict=True):
                    self._value(one, two, owner, argument, depth)
            elif how != "equal":
                for one in mine.items[a:b]:
                    self._note(Kind.EXTRA, one, bench, owner, argument)
                for two in bench.items[c:d]:
                    self._note(Kind.MISSING, mine, two, owner, argument)

    def _tables(self, mine: Table, bench: Table, owner: Owner | None, depth: int) -> None:
        for name in dict.fromkeys((*mine.items, *bench.items)):
            if name in mine.items and name in bench.items:
                self._value(mine.items[name], bench.items[name], owner, str(name), depth)
            elif not (mine.open or bench.open) and owner is not None:
                self._one_sided(mine.items.get(name), bench.items.get(name), owner, str(name))

    def _either(self, mine: Value, bench: Value, owner: Owner | None, argument: str, depth: int) -> None:
        own = list(mine.options) if isinstance(mine, Either) else [mine]
        other = list(bench.options) if isinstance(bench, Either) else [bench]
        left, right = self._unpaired(own, other)
        if len(left) == len(right):
            for one, two in zip(left, right, strict=True):
                self._value(one, two, owner, argument, depth)
        elif not left or not right:
            name = "mine" if left else "bench"
            lone = Thing("if", (left or right)[0], _event((left or right)[0]), place_of((left or right)[0]))
            pair = (lone, None) if name == "mine" else (None, lone)
            self._keep(Difference(Kind.CONDITION, pair[0], pair[1], owner, argument, tuple(self._path)))

    def alike(self, mine: Value | None, bench: Value | None, depth: int = 0) -> bool:
        """Whether two values are the same, as far as events are taken for one another."""
        mine, bench = plain(mine), plain(bench)
        if mine is None or bench is None:
            return mine is bench
        key = (id(mine), id(bench))
        if key not in self._alike:
            self._alike[key] = True
            self._alike[key] = self._are_alike(mine, bench, depth + 1)
        return self._alike[key]

    def _are_alike(self, mine: Value, bench: Value, depth: int) -> bool:
        if self.shapes.of(mine) == self.shapes.of(bench) or depth > 60:
            return True
        own, other = operation_of(mine), operation_of(bench)
        if own is not None and other is not None:
            if own[0] != other[0] or len(own[1]) != len(other[1]):
                return False
            if commutes(own[0]):
                return not self._unpaired(list(own[1]), list(other[1]))[0]
            return all(self.alike(one, two, depth) for one, two in zip(own[1], other[1], strict=True))
        match mine, bench:
            case Made(), Made():
                word = word_of(mine.name)
                if word in QUERIES and word == word_of(bench.name):
                    return True
                return self.aligned.are_one(mine.event, bench.event) or self._objects.get(id(mine)) is bench
            case Item(), Item():
                return self.alike(mine.of, bench.of, depth) and self.alike(mine.index, bench.index, depth)
            case Attribute(), Attribute():
                return mine.name == bench.name and self.alike(mine.of, bench.of, depth)
            case Seq(), Seq():
                held = [[*side.items, *side.tests] for side in (mine, bench)]
                return len(held[0]) == len(held[1]) and all(
                    self.alike(one, two, depth) for one, two in zip(*held, strict=True)
                )
            case Either(), Either():
                left, right = self._unpaired(list(mine.options), list(bench.options))
                return not left and not right
            case Table(), Table():
                return set(mine.items) == set(bench.items) and all(
                    self.alike(one, bench.items[name], depth) for name, one in mine.items.items()
                )
            case (Instance(), Instance()) | (Function(), Function()) | (Partial(), Partial()):
                return True
            case Unknown(), Unknown():
                return True
        return False

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
        own = _thing(mine, owner[0] if owner else None) if mine is not None else None
        other = _thing(bench, owner[1] if owner else None) if bench is not None else None
        side = owner[1 if kind is Kind.MISSING else 0] if owner is not None else None
        things = tuple(_thing(value, side) for value in chain)
        self._keep(
            Difference(kind, own, other, owner, argument, tuple(self._path), things, tuple(reversed(self._places)))
        )

    def _keep(self, one: Difference) -> None:
        for thing in one.things:
            self._covered.update(
                id(value.event) for value in ancestry(thing.value, most=300) if isinstance(value, Made)
            )
        places = [thing.place if thing is not None else None for thing in (one.mine, one.bench)]
        names = [thing.name if thing is not None else "" for thing in (one.mine, one.bench)]
        at = one.owner[0].place if one.owner is not None and one.mine is None else None
        self.found.setdefault((one.kind, *places, *names, one.argument, at), one)

    def _unused(self) -> None:
        """Layers that the script keeps and never uses, under names that the benchmark has no unused layer under."""
        names = {_kept_as(one) for one in _unused_layers(self.bench)}
        for event in _unused_layers(self.script):
            if _kept_as(event) not in names and _kept_as(event) not in _kept_names(self.bench):
                self._keep(
                    Difference(Kind.EXTRA, Thing("layer", event.args[1], event, event.place), None, None, "unused")
                )

    def _without_partner(self) -> None:
        """Events whose result nothing compared goes on from: what they do is all there is of them."""
        for kind, events in ((Kind.EXTRA, self.aligned.extra), (Kind.MISSING, self.aligned.missing)):
            used = {
                id(value.event)
                for event in events
                for value in ancestry(*_given(event), most=200)
                if isinstance(value, Made) and value.event is not event
            }
            for event in events:
                if not _has_effect(event) or id(event) in self._covered or id(event) in used:
                    continue
                thing = Thing(word_of(event.name), event.result, event, event.place)
                self._keep(
                    Difference(
                        kind,
                        thing if kind is Kind.EXTRA else None,
                        thing if kind is Kind.MISSING else None,
                        None,
                        "event",
                    )
                )


_EFFECTS: Final = frozenset(
    ("__setitem__", "__setattr__", "shuffle", "setepoch", "loadstatedict", "loadparamintonet", "savecheckpoint", "save",
     "setdata", "assign", "assignadd", "distributeddataparallel", "barrier", "allreduce", "broadcast", "deepcopy",
     "tofloat", "repeated", "requiresgrad", "fill", "copy", "sorted", "setseed", "manualseed", "convertsyncbatchnorm")
)  # fmt: skip


def _has_effect(event: Event) -> bool:
    """Whether an event does something, so that it counts even if nothing takes its result."""
    own = event.method.endswith("_") and not event.method.startswith("_")
    return event.role in _DOING or word_of(event.name) in _EFFECTS or own


_DOING: Final = frozenset(
    (Role.ZERO_GRAD, Role.STEP, Role.SCALER_STEP, Role.SCALER_UPDATE, Role.SCHEDULER_STEP, Role.UNSCALE, Role.CLIP,
     Role.TRAIN_MODE, Role.EVAL_MODE)
)  # fmt: skip


def _is_layer(event: Event) -> bool:
    return is_built(event) and isinstance(event.result, Made) and is_network(event.result) and not event.open


def _numbers_in(event: Event) -> list[Value]:
    """What is said besides words, in order."""
    found: list[Value] = []
    waiting = [*event.args, *event.kwargs.values()]
    while waiting:
        one = waiting.pop(0)
        if _is_text(one) or isinstance(one, Seq | Table):
            waiting[:0] = one.parts()
        elif not isinstance(one, Const | Unknown | Symbol):
            found.append(one)
    return found


_ORDERED: Final = (
    (Role.EVAL_MODE, Role.FORWARD),
    (Role.ZERO_GRAD, Role.BACKWARD),
    (Role.STEP, Role.SCHEDULER_STEP),
    (Role.UNSCALE, Role.CLIP),
)


def _rounds(event: Event) -> list[Scope]:
    return [one for one in event.scopes if one.kind == LOOP and one.name != "comprehension"]


def _is_text(value: Value) -> bool:
    if isinstance(value, Made):
        return word_of(value.name) in ("format", "round", "join", "dict", "str")
    return isinstance(value, Derived) and value.op == "text"


def _given(event: Event) -> list[Value]:
    owner = [event.receiver] if event.receiver is not None else []
    return [*owner, *event.args, *event.kwargs.values()]


def _kind_of(value: Value) -> str:
    return key_of(value.event) if isinstance(value, Made) else "of the project"


def _unused_layers(script: Script) -> list[Event]:
    """Where layers are kept that nothing is done with."""
    used: set[int] = set()
    kept: list[Event] = []
    for event in script.trace.events:
        is_kept = event.method == "__setattr__" and len(event.args) > 1 and is_network(event.args[1])
        if is_kept and _has_weights(event.args[1]):
            kept.append(event)
        if not is_kept and event.receiver is not None:
            used.add(id(event.receiver))
        if not is_kept:
            used.update(id(one) for one in ancestry(*event.args, *event.kwargs.values(), most=30))
    return [one for one in kept if id(one.args[1]) not in used]


def _kept_as(event: Event) -> str:
    return str(event.args[0].value) if isinstance(event.args[0], Const) else ""


def _kept_names(script: Script) -> set[str]:
    return {_kept_as(one) for one in script.trace.events if one.method == "__setattr__" and one.args}


def _is_several(value: Value) -> bool:
    return isinstance(value, Seq) and value.kind == "tuple"


def _is_read_inside(event: Event) -> bool:
    """Whether what a call does was read as well, so that its arguments are met again inside."""
    return event.name.endswith(".__call__") and not (isinstance(event.result, Made) and event.result.event is event)


def _style(event: Event) -> str:
    if event.name.endswith(".__call__"):
        return "called"
    return "method" if event.receiver is not None else "function"


def _inputs(value: Value) -> Sequence[Value]:
    """What an operation is done to; not the objects that do it."""
    operation = operation_of(value)
    if operation is not None:
        return operation[1]
    if isinstance(value, Made):
        if is_built(value.event):
            return ()
        return _given(value.event) if not value.event.name.endswith(".__call__") else value.event.args
    if isinstance(value, Item | Attribute):
        return (value.of,)
    return ()


def _event(value: Value | None) -> Event | None:
    return value.event if isinstance(value, Made) else None


def _is_object(value: Value) -> bool:
    return isinstance(value, Instance) or (isinstance(value, Made) and is_built(value.event))


def _has_weights(value: Value) -> bool:
    if isinstance(value, Instance):
        return is_network(value)
    light = ("relu", "gelu", "tanh", "sigmoid", "dropout", "flatten", "pool", "softmax", "identity", "elu", "silu")
    return is_network(value) and isinstance(value, Made) and not any(one in word_of(value.name) for one in light)


def _branches(event: Event) -> list[Scope]:
    return [one for one in event.scopes if one.kind == BRANCH]


def _thing(value: Value | None, event: Event | None) -> Thing:
    made = _event(value)
    operation = operation_of(value)
    if operation is not None:
        name = operation[0]
    elif made is not None:
        name = word_of(made.name)
    elif isinstance(value, Item):
        name = "index"
    else:
        name = shown(value)
    place = place_of(value) or (event.place if event is not None else None)
    return Thing(name, value, made, place)


def place_of(value: Value | None, depth: int = 0) -> Place | None:
    """Where a value is made or written down."""
    if value is None or depth > 20:
        return None
    if isinstance(value, Made):
        layer = value.event.receiver
        # A layer of a chain stands where it was built.
        return layer.event.place if value.event.in_chain and isinstance(layer, Made) else value.event.place
    if isinstance(value, Derived):
        return value.place
    if isinstance(value, Const):
        return value.origin
    if isinstance(value, Instance):
        return value.place
    if isinstance(value, Table):
        return value.place
    if isinstance(value, Item):
        return place_of(value.index, depth + 1) or place_of(value.of, depth + 1)
    return next((found for one in value.parts() if (found := place_of(one, depth + 1)) is not None), None)


def shown(value: Value | None) -> str:
    """A value in a few characters."""
    if isinstance(value, Const):
        return f"{value.value:g}" if isinstance(value.value, float) else str(value.value)
    if isinstance(value, Symbol):
        return value.name
    if isinstance(value, Made):
        return word_of(value.name)
    if isinstance(value, Derived):
        return value.op
    if isinstance(value, Seq):
        return f"[{', '.join(shown(one) for one in value.items[:4])}]"
    return ""


def _functions_of(script: Script) -> dict[str, Function]:
    """The project's functions by their names, those with a name of their own."""
    found: dict[str, Function | None] = {}
    for event in script.trace.events:
        for scope in event.scopes:
            function = scope.value
            if isinstance(function, Function) and not isinstance(function.node, ast.Lambda):
                known = found.get(function.name, function)
                found[function.name] = function if known is not None and known.node is function.node else None
    return {name: one for name, one in found.items() if one is not None}
