"""What happens when a script runs, in order: every call of a library, with the loops and conditions around it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeVar, cast

from trueline.model.location import Location
from trueline.script.values import Attribute, Function, Instance, Item, Made, Value

if TYPE_CHECKING:
    from trueline.script.roles import Role

_Answer = TypeVar("_Answer")

LOOP: Final = "loop"
BRANCH: Final = "branch"
WITH: Final = "with"
CALL: Final = "call"
# What the script never calls itself: read with parameters of which nothing is known.
UNCALLED: Final = "uncalled"
# Inside a function that a framework differentiates.
GRAD: Final = "grad"
HANDLER: Final = "handler"
# The event that one and the same layer is put into a list several times.
REPEATED: Final = "trueline.repeated"


@dataclass(eq=False, slots=True)
class Scope:
    """A loop (``value``: what is iterated over), a branch (the condition), a with (the context), a call."""

    kind: str
    place: Location
    value: Value | None = None
    name: str = ""
    # Of a branch: whether it is the one where the condition holds.
    holds: bool = True


@dataclass(eq=False, slots=True)
class Event:
    """A call of something of a library; ``name`` is its full name, that of a method ``torch.optim.SGD.step``.

    Where nothing is known of what the method belongs to, the name is ``?.step``. A loss module or network of a library
    that is called is ``torch.nn.CrossEntropyLoss.__call__``; a network of the project's own
    is ``torch.nn.Module.__call__``.
    """

    name: str
    place: Location
    args: tuple[Value, ...] = ()
    kwargs: dict[str, Value] = field(default_factory=dict)
    receiver: Value | None = None
    scopes: tuple[Scope, ...] = ()
    index: int = 0
    role: Role | None = None
    result: Value | None = None
    # A framework does it by itself, as a trainer calls backward.
    implied: bool = False
    # Some arguments were given as *args or **kwargs that could not be looked into.
    open: bool = False
    # A chain of layers calls it, so that its own line is elsewhere.
    in_chain: bool = False

    def arg(self, place: int | None, *names: str) -> Value | None:
        """An argument by its place or by one of its names; None where it was not given."""
        for name in names:
            if name in self.kwargs:
                return self.kwargs[name]
        return self.args[place] if place is not None and place < len(self.args) else None

    def loops(self) -> list[Scope]:
        """The loops around it, outermost first."""
        return [scope for scope in self.scopes if scope.kind == LOOP]

    def inside(self, scope: Scope) -> bool:
        """Whether it happens within a scope."""
        return scope in self.scopes

    def contexts(self) -> list[Value]:
        """The contexts of the with statements around it, also those of decorators."""
        return [scope.value for scope in self.scopes if scope.kind == WITH and scope.value is not None]

    def callers(self) -> list[Location]:
        """The places of the project's calls that lead here, outermost first."""
        return [scope.place for scope in self.scopes if scope.kind == CALL]

    def conditional_within(self, scope: Scope | None) -> bool:
        """Whether a condition stands between a scope (None: the whole script) and it."""
        inner = self.scopes[self.scopes.index(scope) + 1 :] if scope is not None else self.scopes
        return any(other_scope.kind in (BRANCH, HANDLER) for other_scope in inner)

    def seen_beside(self, event: Event) -> Location:
        """Its place in the function in which the other one happens too: where that one calls what leads here."""
        for scope in self.scopes:
            if scope.kind == CALL and scope not in event.scopes:
                return scope.place
        return self.place

    @property
    def method(self) -> str:
        """The last word of its name."""
        return self.name.rpartition(".")[2]


@dataclass(slots=True)
class Trace:
    """The events in the order in which they happen, each loop's once; and what the project's functions gave."""

    events: list[Event] = field(default_factory=list)
    returned: dict[int, list[Value]] = field(default_factory=dict)
    # Conditions that were asked, also those of comprehensions and of ``a if b else c``.
    tests: list[Value] = field(default_factory=list)
    # What each dataset of the project's own gives, by the object's identity.
    samples: dict[int, list[Value]] = field(default_factory=dict)
    # Whether reading was given up on the way: there was more than can be followed.
    cut_short: bool = False
    # What could not be followed: a place and why. With these the trace is not the whole truth.
    lost: list[tuple[Location, str]] = field(default_factory=list)
    # The events of each scope by its identity, and by the last word of their names, of so many events.
    _inside: dict[int, list[Event]] = field(default_factory=dict)
    _by_method: dict[str, list[Event]] = field(default_factory=dict)
    _indexed: int = 0
    # Answers to questions that many items ask, each with the number of events that it was given for.
    _answers: dict[Callable[[Trace], Sequence[object]], tuple[int, Sequence[object]]] = field(default_factory=dict)

    def once(self, question: Callable[[Trace], Sequence[_Answer]]) -> list[_Answer]:
        """What a question about this trace gives, asked again only where there are more events."""
        known = self._answers.get(question)
        if known is None or known[0] != len(self.events):
            known = len(self.events), question(self)
            self._answers[question] = known
        return cast("list[_Answer]", list(known[1]))

    def named(self, *names: str) -> Iterator[Event]:
        """Events of these names; ``*.step`` is any with this last word."""
        self._index()
        whole = {name for name in names if not name.startswith("*.")}
        last = {name[2:] for name in names if name.startswith("*.")}
        methods = last | {name.rpartition(".")[2] for name in whole}
        events = [event for method in methods for event in self._by_method.get(method, ())]
        for event in sorted(events, key=lambda event: event.index):
            if event.name in whole or event.method in last:
                yield event

    def of_role(self, *roles: Role) -> Iterator[Event]:
        """Events of these roles."""
        return (event for event in self.events if event.role in roles)

    def within(self, scope: Scope) -> Iterator[Event]:
        """Events inside a scope."""
        self._index()
        return iter(self._inside.get(id(scope), ()))

    def _index(self) -> None:
        for event in self.events[self._indexed :]:
            self._by_method.setdefault(event.method, []).append(event)
            for around in event.scopes:
                self._inside.setdefault(id(around), []).append(event)
        self._indexed = len(self.events)

    def returns_of(self, function: Function) -> Sequence[Value]:
        """What a function of the project returned, each time it was read."""
        return self.returned.get(id(function.node), ())

    def samples_of(self, dataset: Instance) -> Sequence[Value]:
        """What a dataset of the project gives for an index, or as it is gone through."""
        return self.samples.get(id(dataset), ())


def iterated(value: Value | None) -> Value | None:
    """What a loop goes through once enumerate, tqdm, iter, islice and their like are taken off."""
    while isinstance(value, Made):
        last = value.name.rpartition(".")[2]
        if last in _THROUGH:
            value = value.event.arg(0, "iterable", "iterator")
        elif last in _VIEWS and value.event.receiver is not None:
            value = value.event.receiver
        else:
            break
    return value


def item_of(value: Value | None) -> Value | None:
    """What an element, or an attribute of one, belongs to in the end."""
    while isinstance(value, Item | Attribute):
        value = value.of
    return value


_THROUGH: Final = frozenset(
    ("enumerate", "tqdm", "trange", "iter", "islice", "list", "tuple", "sorted", "reversed", "cycle", "track", "next")
)
# Ways in which a dataset of MindSpore is gone through.
_VIEWS: Final = frozenset(("create_tuple_iterator", "create_dict_iterator", "get_dataset_iterator"))
