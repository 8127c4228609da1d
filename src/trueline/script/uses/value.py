"""What a value of a script is, as far as its source says: None where it does not."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from trueline.script.uses.use import Use


@dataclass(frozen=True, slots=True)
class Ref:
    """A name of a framework, or of another package: a module, class or function of it, not an object."""

    name: str


@dataclass(frozen=True, slots=True)
class Instance:
    """An object of a class of a framework (``torch.nn.Conv2d``), or of a plain type (``str``, ``numpy`` …)."""

    type: str


@dataclass(frozen=True, slots=True)
class Several:
    """A list, tuple or iterator of values that are alike."""

    element: Value | None


@dataclass(frozen=True, slots=True)
class Tuple:
    """A tuple of known length."""

    elements: tuple[Value | None, ...]


@dataclass(frozen=True, slots=True)
class Mapped:
    """A dict, by what its values are."""

    element: Value | None


@dataclass(eq=False, slots=True)
class FunctionInfo:
    """A function of the file; ``uses`` and ``remarks`` are those of its body."""

    node: ast.FunctionDef | ast.AsyncFunctionDef
    name: str
    scopes: tuple[dict[str, Value | None], ...]
    owner: ClassInfo | None = None
    form: str = ""  # static | class | property, for methods
    state: int = 0  # 0: not read yet, 1: being read, 2: read
    given: dict[str, Value | None] = field(default_factory=dict)
    disputed: bool = False
    result: Value | None = None
    returned: bool = False
    uses: list[Use] = field(default_factory=list)
    remarks: list[tuple[str, int, str]] = field(default_factory=list)
    calls: set[str] = field(default_factory=set)  # methods of self that it calls


@dataclass(eq=False, slots=True)
class ClassInfo:
    """A class of the file, or of another file of the project (``methods`` is then empty)."""

    name: str
    file: str
    line: int
    bases: Sequence[Value | None] = ()
    # torch | mindspore, where it derives from Module or Cell.
    network: str = ""
    # torch.optim.Optimizer …: the class of a framework that it derives from.
    framework_base: str = ""
    methods: dict[str, FunctionInfo] = field(default_factory=dict)
    attributes: dict[str, Value | None] = field(default_factory=dict)
    begun: bool = False


@dataclass(frozen=True, slots=True)
class ClassRef:
    """A class of the project."""

    info: ClassInfo


@dataclass(frozen=True, slots=True)
class Made:
    """An object of a class of the project."""

    info: ClassInfo


@dataclass(frozen=True, slots=True)
class FunctionRef:
    """A function of the file, or a method of an object: ``bound`` is then that object."""

    info: FunctionInfo
    bound: Value | None = None


@dataclass(frozen=True, slots=True)
class Method:
    """A method of an object of a framework."""

    receiver: Instance | Made
    name: str


@dataclass(frozen=True, slots=True)
class Super:
    """``super()`` within a class."""

    info: ClassInfo


@dataclass(frozen=True, slots=True)
class FileRef:
    """A module of the project."""

    path: str


Value = Ref | Instance | Several | Tuple | Mapped | ClassRef | Made | FunctionRef | Method | Super | FileRef


@cache
def ref(name: str) -> Ref:
    """The one Ref of a name."""
    return Ref(name)


@cache
def instance(type: str) -> Instance:
    """The one Instance of a type."""
    return Instance(type)


NUMBER: Final = instance("number")
TEXT: Final = instance("str")
NOTHING: Final = instance("none")
OTHER: Final = instance("other")
ARRAY: Final = instance("numpy")
SIZE: Final = Several(NUMBER)
TENSORS: Final = {"torch": instance("torch.Tensor"), "mindspore": instance("mindspore.Tensor")}
SEVERAL_TENSORS: Final = {name: Several(tensor) for name, tensor in TENSORS.items()}
PLAIN: Final = frozenset(("number", "str", "none", "other", "numpy", "list"))
# A tensor or one of these has a tensor's methods only where it is the tensor.
_YIELDS: Final = (NUMBER, NOTHING)


def joined(first: Value | None, second: Value | None) -> Value | None:
    """What a value is that is one or the other."""
    if first is second or first == second:
        return first
    if first in _YIELDS and first is not None:
        return second if second is not NUMBER or first is NOTHING else first
    if second in _YIELDS and second is not None:
        return first
    if first is None or second is None:
        return None
    if isinstance(first, Several) and isinstance(second, Several):
        # An empty list, and what is put into it.
        return (
            Several(joined(first.element, second.element))
            if first.element and second.element
            else (first if first.element else second)
        )
    if isinstance(first, Tuple) and isinstance(second, Tuple) and len(first.elements) == len(second.elements):
        return Tuple(tuple(map(joined, first.elements, second.elements)))
    if isinstance(first, Mapped) and isinstance(second, Mapped):
        return Mapped(
            joined(first.element, second.element)
            if first.element and second.element
            else (first.element or second.element)
        )
    kinds = {_family(first), _family(second)}
    return first if len(kinds) == 1 and "" not in kinds else None


def _family(value: Value) -> str:
    """Modules of different classes are one kind of value: all of them are called, and give tensors."""
    if isinstance(value, Made):
        return f"{value.info.network}.module" if value.info.network else ""
    if isinstance(value, Instance) and value.type not in PLAIN:
        from trueline.script.uses.roles import role_of

        role = role_of(value.type)
        return f"{value.type.partition('.')[0]}.{role}" if role in ("module", "optimizer", "schedule") else ""
    return ""
