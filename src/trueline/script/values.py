"""What an expression may stand for, as far as reading can tell."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from trueline.model.location import Location
from trueline.script.factories import is_factory

if TYPE_CHECKING:
    from trueline.script.trace import Event

# What may be one of so many is as good as unknown.
MAX_OPTIONS: Final = 6
# What a class inherits from farther away is not looked for.
MAX_BASES: Final = 100


@dataclass(eq=False, slots=True)
class Value:
    """Anything; two values are the same only where they are one object."""

    def parts(self) -> Sequence[Value]:
        """The values that this one was made from."""
        return ()


@dataclass(eq=False, slots=True)
class Const(Value):
    """A number, text, bool, None: known for sure. ``origin`` says where it was written down."""

    value: Any
    origin: Location | None = None


@dataclass(eq=False, slots=True)
class Unknown(Value):
    """Not known, and why: a parameter nobody passes, a name from nowhere."""

    why: str = ""
    of: tuple[Value, ...] = ()

    def parts(self) -> Sequence[Value]:
        return self.of


@dataclass(eq=False, slots=True)
class Symbol(Value):
    """Something of a library by its full name: ``torch.nn.functional.softmax``."""

    name: str


@dataclass(eq=False, slots=True)
class Made(Value):
    """What a call of a library gave: an object where the library's thing is a class, else whatever it returns."""

    event: Event

    @property
    def name(self) -> str:
        """The full name of what was called."""
        return self.event.name

    @property
    def is_object(self) -> bool:
        """Whether a class was called, or what builds a network: see ``is_class_name`` and ``is_factory``."""
        return is_class_name(self.event.name) or is_factory(self.event.name)

    def parts(self) -> Sequence[Value]:
        event = self.event
        before = (event.receiver,) if event.receiver is not None else ()
        return (*before, *event.args, *event.kwargs.values())


@dataclass(eq=False, slots=True)
class Attribute(Value):
    """An attribute of what cannot be looked into."""

    of: Value
    name: str

    def parts(self) -> Sequence[Value]:
        return (self.of,)


@dataclass(eq=False, slots=True)
class Item(Value):
    """An element: one of those iterated over, or the one at an index."""

    of: Value
    index: Value | None = None

    def parts(self) -> Sequence[Value]:
        return (self.of,)


@dataclass(eq=False, slots=True)
class Derived(Value):
    """What an operator gave: ``+``, ``/``, ``<``, ``not``, ``f-string`` …"""

    op: str
    of: tuple[Value, ...]
    place: Location | None = None

    def parts(self) -> Sequence[Value]:
        return self.of


@dataclass(eq=False, slots=True)
class Seq(Value):
    """A list, tuple or set; where it is ``open`` there may be more in it than is known."""

    kind: str
    items: list[Value]
    open: bool = False
    # Of a comprehension, the conditions that its elements meet.
    tests: tuple[Value, ...] = ()
    # How many values it comes to with those in its lists and dicts, each as often as it stands there.
    weight: int = 1

    def parts(self) -> Sequence[Value]:
        return self.items


@dataclass(eq=False, slots=True)
class Table(Value):
    """A dict or a namespace; where it is ``open`` there may be more in it than is known."""

    items: dict[Any, Value]
    open: bool = False
    place: Location | None = None
    # What its keys are like, where they are made in a comprehension.
    key: Value | None = None
    # As that of a list.
    weight: int = 1

    def parts(self) -> Sequence[Value]:
        return list(self.items.values())


@dataclass(eq=False, slots=True)
class Either(Value):
    """One of several, depending on what cannot be known."""

    options: tuple[Value, ...]

    def parts(self) -> Sequence[Value]:
        return self.options


@dataclass(eq=False, slots=True)
class Function(Value):
    """A function of the project with what it sees around it; bound where it is a method of something."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    module: ModuleRoom
    around: Names | None = None
    owner: Class | None = None
    bound: Value | None = None
    contexts: tuple[Value, ...] = ()
    kind: str = "function"
    defaults: dict[str, Value] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Its name, with its class."""
        own = getattr(self.node, "name", "<lambda>")
        return f"{self.owner.name}.{own}" if self.owner is not None else own


@dataclass(eq=False, slots=True)
class Class(Value):
    """A class of the project."""

    node: ast.ClassDef
    module: ModuleRoom
    bases: list[Value]
    attributes: dict[str, Value] = field(default_factory=dict)
    is_dataclass: bool = False

    @property
    def name(self) -> str:
        """Its name."""
        return self.node.name

    def lineage(self) -> Iterator[Class]:
        """The class and the project's classes that it comes from, nearest first."""
        seen: set[int] = set()
        waiting: list[Value] = [self]
        while waiting and len(seen) < MAX_BASES:
            value = waiting.pop(0)
            if isinstance(value, Class) and id(value) not in seen:
                seen.add(id(value))
                yield value
                waiting.extend(value.bases)

    def library_bases(self) -> Iterator[str]:
        """The full names of the libraries' classes that it comes from."""
        for cls in self.lineage():
            for base in cls.bases:
                if isinstance(base, Symbol):
                    yield base.name


@dataclass(eq=False, slots=True)
class Instance(Value):
    """An object of a class of the project."""

    cls: Class
    place: Location
    attributes: dict[str, Value] = field(default_factory=dict)
    event: Event | None = None

    def parts(self) -> Sequence[Value]:
        return (*self.event.args, *self.event.kwargs.values()) if self.event is not None else ()

    def is_a(self, *names: str) -> bool:
        """Whether its class comes from one of these of a library."""
        return any(base in names for base in self.cls.library_bases())


@dataclass(eq=False, slots=True)
class Super(Value):
    """``super()`` in a method."""

    of: Value
    cls: Class


@dataclass(eq=False, slots=True)
class Partial(Value):
    """A callable with some of its arguments, or done something with: ``how`` says what (``partial``, ``grad`` …)."""

    how: str
    function: Value
    args: tuple[Value, ...]
    kwargs: dict[str, Value]
    event: Event

    def parts(self) -> Sequence[Value]:
        return (self.function, *self.args, *self.kwargs.values())


@dataclass(eq=False, slots=True)
class Names:
    """The names of a scope, and the scope around it."""

    held: dict[str, Value]
    around: Names | None = None

    def get(self, name: str) -> Value | None:
        """What a name stands for here."""
        room: Names | None = self
        while room is not None:
            if name in room.held:
                return room.held[name]
            room = room.around
        return None


@dataclass(eq=False, slots=True)
class ModuleRoom(Value):
    """A module of the project with its names."""

    name: str
    file: str
    names: Names
    tree: ast.Module | None = None


def is_class_name(name: str) -> bool:
    """Whether a library's thing is a class: its last word, without leading underscores, begins with a capital."""
    last = name.rpartition(".")[2].lstrip("_")
    return last[:1].isupper()


def either(*options: Value) -> Value:
    """One of these; the same thing twice is one."""
    flat: list[Value] = []
    for value in options:
        for option in value.options if isinstance(value, Either) else (value,):
            if len(flat) <= MAX_OPTIONS and not any(_same(option, value) for value in flat):
                flat.append(option)
    if len(flat) == 1:
        return flat[0]
    if len(flat) > MAX_OPTIONS:
        return Unknown("one of many", tuple(flat[:MAX_OPTIONS]))
    return Either(tuple(flat))


def _same(value: Value, other_value: Value) -> bool:
    if value is other_value:
        return True
    if isinstance(value, Const) and isinstance(other_value, Const):
        return type(value.value) is type(other_value.value) and bool(value.value == other_value.value)
    return isinstance(value, Symbol) and isinstance(other_value, Symbol) and value.name == other_value.name


def options(value: Value | None) -> Sequence[Value]:
    """What a value may be: itself, or each of several."""
    if value is None:
        return ()
    return value.options if isinstance(value, Either) else (value,)


def ancestry(*values: Value | None, most: int = 4000) -> Iterator[Value]:
    """Values with everything that they were made from, nearest first, each once."""
    seen: set[int] = set()
    waiting = [value for value in values if value is not None]
    at = 0
    while at < len(waiting) and at < most:
        value = waiting[at]
        at += 1
        if id(value) in seen:
            continue
        seen.add(id(value))
        yield value
        # What would never be looked at is not put there: a list may be in many others.
        waiting.extend(value.parts()[: max(0, most - len(waiting))])


# Python counts what a range gives up to twice this.
_COUNTABLE: Final = 1 << 62


def written_range(arguments: Sequence[Value | None]) -> range | None:
    """What ``range`` gives for these arguments, where all are written down and what it gives can be counted."""
    numbers = [constant(argument) for argument in arguments]
    if not 1 <= len(numbers) <= 3 or not all(isinstance(number, int) for number in numbers) or 0 in numbers[2:]:
        return None
    return range(*numbers) if all(abs(number) < _COUNTABLE for number in numbers) else None


def constant(value: Value | None, default: Any = None) -> Any:
    """A constant's value; ``default`` for everything else."""
    return value.value if isinstance(value, Const) else default
