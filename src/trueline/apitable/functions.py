"""What functions, methods and layers do to a value, and how scripts call them: the rows of ``functions.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any

from trueline.apitable.traits import Trait


@dataclass(frozen=True, slots=True)
class Function:
    """One function under all of its names; see the head of ``functions.toml`` for what the fields mean."""

    key: str
    names: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    full: tuple[str, ...] = ()
    does: frozenset[Trait] = frozenset()
    stem: tuple[str, ...] = ()
    word: str = ""
    operator: str = ""
    places: tuple[str, ...] = ()
    fill: float | None = None
    peak: int | None = None
    length: tuple[Any, ...] = ()
    ignored: int | None = None
    unreduced: Mapping[str, int] = field(default_factory=dict)


@cache
def functions() -> tuple[Function, ...]:
    """All rows, in the order of the table."""
    text = resources.files("trueline.apitable").joinpath("functions.toml").read_text("utf-8")
    return tuple(_row(key, row) for theme in tomllib.loads(text).values() for key, row in theme.items())


@cache
def functions_of(*traits: Trait) -> frozenset[str]:
    """The functions and methods with any of the traits, by the last word of their names: ``{"detach", "item", …}``."""
    return frozenset(name for row in _rows(traits) for name in row.names)


@cache
def classes_of(*traits: Trait) -> frozenset[str]:
    """The classes with any of the traits, by their own names: ``{"BatchNorm1d", …}``."""
    return frozenset(name for row in _rows(traits) for name in row.classes)


@cache
def names_of(*traits: Trait) -> frozenset[str]:
    """Functions, methods and classes with any of the traits."""
    return functions_of(*traits) | classes_of(*traits)


@cache
def lower_of(*traits: Trait) -> frozenset[str]:
    """The same in small letters: ``ops.Log`` and ``torch.log`` are one operator."""
    return frozenset(name.lower() for name in names_of(*traits))


@cache
def words_of(*traits: Trait) -> frozenset[str]:
    """The same as words, under which two scripts are compared: see ``word``."""
    return frozenset(word(name) for name in names_of(*traits))


@cache
def qualified_of(*traits: Trait) -> frozenset[str]:
    """Whole dotted names with any of the traits: ``{"torch.load", …}``."""
    return frozenset(name for row in _rows(traits) for name in row.full)


@cache
def stems_of(*traits: Trait) -> tuple[str, ...]:
    """How classes with any of the traits begin, for ``str.startswith``: ``("Conv", "LazyConv")``."""
    return tuple(dict.fromkeys(name for row in _rows(traits) for name in row.stem))


@cache
def word(name: str) -> str:
    """A last name in small letters, without underscores and "loss"; functions that do the same share one word."""
    plain = _plain(name)
    return _words().get(plain, plain)


@cache
def operators() -> Mapping[str, str]:
    """The words of functions that an operator does as well, and that operator: ``{"mul": "Mult", …}``."""
    rows = (row for row in functions() if row.operator)
    return MappingProxyType({word(name): row.operator for row in rows for name in (*row.names, *row.classes)})


@cache
def places() -> Mapping[str, tuple[str, ...]]:
    """The arguments of functions in order, by the functions' words."""
    rows = (row for row in functions() if row.places)
    return MappingProxyType({word(name): row.places for row in rows for name in (*row.names, *row.classes)})


@cache
def fills() -> Mapping[str, float]:
    """The functions that make arrays of one number, and that number."""
    return MappingProxyType({name: row.fill for row in functions() if row.fill is not None for name in row.names})


@cache
def ignored() -> Mapping[str, int | None]:
    """Losses over classes, and the target that each leaves out where it is told nothing."""
    rows = (row for row in functions() if Trait.CLASS_LOSS in row.does)
    return MappingProxyType({name: row.ignored for row in rows for name in (*row.names, *row.classes)})


@cache
def unreduced() -> Mapping[str, int]:
    """Losses, by full name, that give a number for each sample by default, and the place of ``reduction``."""
    return MappingProxyType({name: place for row in functions() for name, place in row.unreduced.items()})


@cache
def peaks() -> Mapping[str, int]:
    """Schedules, and the place of their highest rate."""
    rows = ((row, row.peak) for row in functions())
    return MappingProxyType(
        {name: peak for row, peak in rows if peak is not None for name in (*row.names, *row.classes)}
    )


@cache
def lengths() -> Mapping[str, tuple[int, tuple[str, ...]]]:
    """Schedules, and where they are told how many steps they last: a place, and names."""
    rows = (row for row in functions() if row.length)
    return MappingProxyType(
        {name: (row.length[0], row.length[1:]) for row in rows for name in (*row.names, *row.classes)}
    )


def _rows(traits: tuple[Trait, ...]) -> Iterator[Function]:
    wanted = frozenset(traits)
    return (row for row in functions() if row.does & wanted)


@cache
def _words() -> Mapping[str, str]:
    return {_plain(name): row.word for row in functions() if row.word for name in (*row.names, *row.classes)}


def _plain(name: str) -> str:
    plain = name.lower().replace("_", "")
    return plain.removesuffix("loss") or plain


def _row(key: str, row: Mapping[str, Any]) -> Function:
    split = {name: tuple(row[name].split()) for name in ("names", "classes", "full", "stem", "places") if name in row}
    does = frozenset(map(Trait, row.get("does", "").split()))
    return Function(key, **{**row, **split, "does": does, "length": tuple(row.get("length", ()))})
