"""What annotations say of values."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from trueline.script.uses.roles import called, family_of, role_of
from trueline.script.uses.use import UseKind
from trueline.script.uses.value import (
    ARRAY,
    NOTHING,
    NUMBER,
    TEXT,
    ClassRef,
    Made,
    Mapped,
    Ref,
    Several,
    Tuple,
    Value,
    joined,
)

if TYPE_CHECKING:
    from trueline.script.uses.calls import Calls

_PLAIN: Final[dict[str, Value]] = {
    "int": NUMBER,
    "float": NUMBER,
    "bool": NUMBER,
    "complex": NUMBER,
    "str": TEXT,
    "bytes": TEXT,
    "list": Several(None),
    "tuple": Several(None),
    "set": Several(None),
    "dict": Mapped(None),
}
_HOLDERS: Final = frozenset(
    ["List", "list", "Sequence", "Iterable", "Iterator", "Set", "set", "FrozenSet", "Collection", "Generator"]
)
_DICTS: Final = frozenset(["Dict", "dict", "Mapping", "MutableMapping", "OrderedDict", "DefaultDict", "defaultdict"])


def annotated(reader: Calls, node: ast.expr) -> Value | None:
    """What an annotation says; the frameworks' names in it are kept as uses."""
    match node:
        case ast.Name() | ast.Attribute():
            return _of_name(reader, node)
        case ast.Subscript():
            return _of_generic(reader, node)
        case ast.BinOp():
            return joined(annotated(reader, node.left), annotated(reader, node.right))
        case ast.Constant(value=None):
            return NOTHING
        case ast.Constant(value=str() as text) if text.isidentifier():
            value = reader.lookup(text)
            return _object(value) if value is not None else _PLAIN.get(text)
        case _:
            return None


def _of_name(reader: Calls, node: ast.Name | ast.Attribute) -> Value | None:
    value, direct = reader.resolve(node)
    if value is None:
        return _PLAIN.get(node.id) if isinstance(node, ast.Name) else None
    if isinstance(value, Ref) and direct:
        reader.record(node, value.name, UseKind.ANNOTATION)
    return _object(value)


def _object(value: Value) -> Value | None:
    """An object of a class."""
    if isinstance(value, ClassRef):
        return Made(value.info)
    if isinstance(value, Ref):
        if value.name.startswith(("numpy.ndarray", "numpy.typing")):
            return ARRAY
        if family_of(value.name) and (value.name.rpartition(".")[2][:1].isupper() or role_of(value.name) == "tensor"):
            return called(value.name)
    return None


def _of_generic(reader: Calls, node: ast.Subscript) -> Value | None:
    base = node.value
    word = base.id if isinstance(base, ast.Name) else base.attr if isinstance(base, ast.Attribute) else ""
    inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if word == "Literal":
        return TEXT
    if word == "Callable":
        for one in inner:
            annotated(reader, one)
        return None
    found = [annotated(reader, one) for one in inner]
    if word in ("Optional", "Annotated", "Final"):
        return found[0]
    if word == "Union":
        value = found[0]
        for other in found[1:]:
            value = joined(value, other)
        return value
    if word in _HOLDERS:
        return Several(found[0])
    if word in ("Tuple", "tuple"):
        whole = not any(isinstance(one, ast.Constant) and one.value is ... for one in inner)
        return Tuple(tuple(found)) if whole else Several(found[0])
    if word in _DICTS:
        return Mapped(found[-1])
    return None
