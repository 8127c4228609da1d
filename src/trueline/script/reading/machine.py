"""The state of a reading: where it is, what has happened, and what may be called."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from trueline.model.budget import Budget, OverBudget
from trueline.model.location import Location
from trueline.script.project import Project
from trueline.script.roles import Role, is_network, loss_given, role_of
from trueline.script.trace import BRANCH, CALL, LOOP, REPEATED, Event, Scope, Trace, iterated
from trueline.script.values import Class, Function, Instance, Made, ModuleRoom, Names, Unknown, Value

# Statements, and events, after which a reading ends, whatever it was led into.
MAX_STATEMENTS: Final = 150_000
MAX_EVENTS: Final = 60_000
_PER_EVENT: Final = 256
DEEPEST: Final = 40
# How often a function is read inside itself, for objects inside others of their kind: a U-Net of 256 pixels has eight.
MAX_NESTED_CALLS: Final = 64


class TooLongError(Exception):
    """The reading was led into more than it can follow."""


@dataclass(eq=False, slots=True)
class Frame:
    """A function, class body or module that is being read."""

    module: ModuleRoom
    names: Names
    function: Function | None = None
    returned: list[Value] = field(default_factory=list)
    yielded: list[Value] = field(default_factory=list)
    shared: set[str] = field(default_factory=set)


class Machine:
    """What all parts of a reading share."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.trace = Trace()
        self.scopes: list[Scope] = []
        self.frames: list[Frame] = []
        self._nested: Counter[int] = Counter()
        self.modules: dict[Path, ModuleRoom] = {}
        self.instances: list[Instance] = []
        self.functions: list[Function] = []
        self.read_functions: set[int] = set()
        self.built_classes: set[int] = set()
        self._left = MAX_STATEMENTS
        # What is opened on the way widens it.
        self.budget = Budget("", 0)

    @property
    def frame(self) -> Frame:
        """What is being read now."""
        return self.frames[-1]

    def place(self, node: ast.AST) -> Location:
        """Where a node stands."""
        return Location.of(self.frame.module.file, node)

    def count(self) -> None:
        """One more statement; TooLongError where there have been too many."""
        self._left -= 1
        if self._left < 0:
            raise TooLongError

    def spend(self, units: int = 1) -> None:
        """So much more work; TooLongError where that is more than the files are worth."""
        try:
            self.budget.spend(units)
        except OverBudget:
            raise TooLongError from None

    def affords(self, size: int) -> bool:
        """Whether so many bytes more may be held; they then count as held to the end."""
        try:
            self.budget.hold(size)
        except OverBudget:
            return False
        return True

    def add_instance(self, instance: Instance) -> None:
        """There is one more object of the project's classes."""
        self.instances.append(instance)
        self.built_classes.add(id(instance.cls))

    @contextmanager
    def within(self, scope: Scope) -> Iterator[Scope]:
        """What happens in the block happens inside a scope."""
        self.scopes.append(scope)
        try:
            yield scope
        finally:
            self.scopes.pop()

    def happened(
        self,
        name: str,
        place: Location,
        args: Sequence[Value] = (),
        kwargs: Mapping[str, Value] | None = None,
        receiver: Value | None = None,
        *,
        implied: bool = False,
        open: bool = False,
    ) -> Event:
        """Take down a call of a library; its result is a Made unless something better is put in its place."""
        held = len(self.scopes) + len(args) + len(kwargs or ())
        if len(self.trace.events) >= MAX_EVENTS or not self.affords(_PER_EVENT + 8 * held):
            raise TooLongError
        self.spend(held >> 4)
        event = Event(
            name,
            place,
            tuple(args),
            dict(kwargs or {}),
            receiver,
            tuple(self.scopes),
            len(self.trace.events),
            implied=implied,
            open=open,
        )
        event.role = role_of(event)
        if event.role is Role.BACKWARD:
            # Whoever is asked for it, its receiver is the loss.
            event.receiver = loss_given(event)
        event.result = Made(event)
        self.trace.events.append(event)
        return event

    def lost(self, node: ast.AST, why: str) -> Unknown:
        """Something could not be followed."""
        self.trace.lost.append((self.place(node), why))
        return Unknown(why)

    def in_branch(self, since: int = 0) -> bool:
        """Whether a condition that cannot be known decides if this happens."""
        return any(scope.kind == BRANCH for scope in self.scopes[since:])

    def in_loop(self, *, anywhere: bool = False) -> bool:
        """Whether this happens again and again, in the function that is being read or in one that leads to it."""
        for scope in reversed(self.scopes):
            if scope.kind == LOOP:
                return True
            if scope.kind == CALL and not anywhere:
                return False
        return False

    def take_down_repeated(self, value: Value, place: Location) -> None:
        """A layer that is put into a list in every round of a count, and was built before it, is there many times."""
        loop = next((scope for scope in reversed(self.scopes) if scope.kind in (LOOP, CALL)), None)
        if loop is None or loop.kind != LOOP or not isinstance(value, Made | Instance) or not is_network(value):
            return
        counted = iterated(loop.value)
        if isinstance(counted, Made) and counted.name == "builtins.range":
            built = value.event
            if built is not None and loop not in built.scopes:
                self.happened(REPEATED, place, (value,))

    def is_reading(self, function: Function) -> bool:
        """Whether a function that is being read calls itself, or does so too often for other objects."""
        again = [
            frame.function
            for frame in self.frames
            if frame.function is not None and frame.function.node is function.node
        ]
        if not again:
            return False
        if any(method.bound is function.bound for method in again):
            return True
        self._nested[id(function.node)] += 1
        too_often = self._nested[id(function.node)] > MAX_NESTED_CALLS
        self.trace.cut_short = self.trace.cut_short or too_often
        return too_often

    def define(self, name: str, value: Value) -> None:
        """Give a name its value where the frame says it belongs."""
        frame = self.frame
        if name in frame.shared:
            room = frame.names.around
            while room is not None and name not in room.held and room.around is not None:
                room = room.around
            if room is not None:
                room.held[name] = value
                return
        frame.names.held[name] = value


def method_of(cls: Class, name: str) -> tuple[Value, Class] | None:
    """A class's own or inherited attribute, and the class that has it."""
    for base in cls.lineage():
        if name in base.attributes:
            return base.attributes[name], base
    return None
