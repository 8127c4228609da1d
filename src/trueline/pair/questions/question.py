"""A question to a side, and how questions and answers cross to its process and back: JSON, and arrays beside it.

Both are dataclasses. The shape of the JSON follows from their fields: written by what a value is, read by what its
field is declared to be. An array is its place among the arrays of the message.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cache
from typing import Final, Generic, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import numpy as np

from trueline.kernel.array import Array
from trueline.model.json_value import Json
from trueline.model.location import Location

Answer = TypeVar("Answer", covariant=True)
_Read = Callable[[Json, Sequence[Array]], object]
# The types of JSON's own values for a declared one.
_PLAIN: Final[Mapping[object, tuple[type, ...]]] = {
    str: (str,),
    int: (int,),
    float: (int, float),
    bool: (bool,),
    None: (types.NoneType,),
    types.NoneType: (types.NoneType,),
}
_AS_THEY_ARE: Final = frozenset((str, int, float, bool, types.NoneType))


class Question(Generic[Answer]):
    """One thing that a side can be asked for; a subclass names the type of the answer."""

    __slots__ = ()


def answer_type(question: type[Question[Answer]]) -> type[Answer]:
    """What a question is answered by."""
    found: type[Answer] = get_args(question.__dict__["__orig_bases__"][0])[0]
    return found


def pack(value: object) -> tuple[Json, list[Array]]:
    """A question or an answer as it travels."""
    arrays: list[Array] = []
    return _written(value, arrays), arrays


def unpack(kind: type[Answer], content: Json, arrays: Sequence[Array]) -> Answer:
    """What was packed; a ValueError says what is wrong."""
    return cast(Answer, _reader(cast(Hashable, kind))(content, arrays))


def _written(value: object, arrays: list[Array]) -> Json:
    kind = type(value)
    if kind in _AS_THEY_ARE:
        return cast(Json, value)
    names = _fields(cast(Hashable, kind))
    if names is not None:
        return {name: _written(getattr(value, name), arrays) for name in names}
    if isinstance(value, str | int | float):
        return value
    if isinstance(value, list | tuple):
        return [_written(item, arrays) for item in value]
    if isinstance(value, np.ndarray):
        arrays.append(value)
        return len(arrays) - 1
    if isinstance(value, Mapping):
        return {str(name): _written(item, arrays) for name, item in value.items()}
    if isinstance(value, Location):
        return {"file": value.file, "line": value.line}
    if hasattr(value, "to_json"):
        shape: Json = value.to_json()
        return shape
    raise TypeError(f"{type(value).__name__} does not travel")


@cache
def _fields(kind: Hashable) -> tuple[str, ...] | None:
    """What of a dataclass travels field by field; None for what is written in another way."""
    if kind is Location or hasattr(kind, "to_json") or not dataclasses.is_dataclass(kind):
        return None
    return tuple(field.name for field in dataclasses.fields(cast(type, kind)))


@cache
def _reader(kind: Hashable) -> _Read:
    """How a value of a declared type is read."""
    origin, args = get_origin(kind), get_args(kind)
    if kind is object:
        return lambda value, _: value
    if kind in _PLAIN:
        return _plain(kind)
    if origin is Literal:
        return _literal(args)
    if origin in (Union, types.UnionType):
        return _union(args)
    if origin is np.ndarray:
        return _array
    if origin is tuple and args[-1] is not Ellipsis:
        return _record(args)
    if origin in (Sequence, list, tuple):
        return _sequence(args[0], tuple if origin is tuple else list)
    if origin in (Mapping, dict):
        return _mapping(*args)
    if kind is Location:
        return lambda value, _: Location.from_line_json(value)
    if hasattr(kind, "from_json"):
        return lambda value, _: kind.from_json(value)
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        return _dataclass(kind)
    raise TypeError(f"{kind} does not travel")


def _wrong(expected: object, value: object) -> ValueError:
    return ValueError(f"expected {getattr(expected, '__name__', expected)}, found {type(value).__name__}")


def _plain(kind: object) -> _Read:
    kinds = _PLAIN[kind]

    def read(value: Json, _: Sequence[Array]) -> object:
        if not isinstance(value, kinds) or (isinstance(value, bool) and kind is not bool):
            raise _wrong(kind, value)
        return value

    return read


def _literal(allowed: tuple[object, ...]) -> _Read:
    def read(value: Json, _: Sequence[Array]) -> object:
        if value not in allowed:
            raise _wrong(allowed, value)
        return value

    return read


def _union(kinds: tuple[object, ...]) -> _Read:
    readers = [_reader(kind) for kind in kinds if kind is not types.NoneType]
    optional = len(readers) < len(kinds)

    def read(value: Json, arrays: Sequence[Array]) -> object:
        if value is None and optional:
            return None
        for reader in readers[:-1]:
            try:
                return reader(value, arrays)
            except ValueError:
                continue
        return readers[-1](value, arrays)

    return read


def _array(value: Json, arrays: Sequence[Array]) -> object:
    if not isinstance(value, int) or not 0 <= value < len(arrays):
        raise ValueError("an array that is not there")
    return arrays[value]


def _record(kinds: tuple[object, ...]) -> _Read:
    readers = [_reader(kind) for kind in kinds]

    def read(value: Json, arrays: Sequence[Array]) -> object:
        if not isinstance(value, list) or len(value) != len(readers):
            raise _wrong(f"{len(readers)} values", value)
        return tuple(reader(item, arrays) for reader, item in zip(readers, value, strict=True))

    return read


def _sequence(kind: object, made: Callable[[list[object]], object]) -> _Read:
    reader = _reader(kind)

    def read(value: Json, arrays: Sequence[Array]) -> object:
        if not isinstance(value, list):
            raise _wrong("list", value)
        return made([reader(item, arrays) for item in value])

    return read


def _mapping(key: Callable[[str], object], kind: object) -> _Read:
    reader = _reader(kind)

    def read(value: Json, arrays: Sequence[Array]) -> object:
        if not isinstance(value, dict):
            raise _wrong("object", value)
        return {key(name): reader(item, arrays) for name, item in value.items()}

    return read


def _dataclass(kind: type) -> _Read:
    # What a setting or an argument is, only JSON says.
    hints = get_type_hints(kind, localns={"Json": object, "JsonObject": Mapping[str, object]})
    readers = {field.name: _reader(hints[field.name]) for field in dataclasses.fields(kind)}

    def read(value: Json, arrays: Sequence[Array]) -> object:
        if not isinstance(value, dict) or value.keys() != readers.keys():
            raise _wrong(kind, value)
        try:
            return kind(**{name: reader(value[name], arrays) for name, reader in readers.items()})
        except ValueError as error:
            raise ValueError(f"{kind.__name__}: {error}") from None

    return read
