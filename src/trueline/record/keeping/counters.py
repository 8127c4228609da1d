"""Numbers that the script itself counts with: variables and attributes that change while it trains."""

from __future__ import annotations

import ctypes
import gc
import itertools
from collections.abc import Iterator, Mapping, MutableMapping, Set
from types import FrameType, GeneratorType
from typing import Any, Final

from trueline.record.keeping.scopes import Owners, Scope, running, scopes

# What is not known yet counts too: the best result before there was one.
_NUMBERS: Final = (int, float, bool, type(None))
_DEEPEST: Final = 3
_LONGEST: Final = 64
_MOST: Final = 5000
_AROUND: Final = (zip, map, filter, enumerate, itertools.islice, itertools.chain)
# Where the index lies in an enumerate object, behind what every object has.
_INDEX: Final = object.__basicsize__


class Counters:
    """What has changed since the first look."""

    def __init__(self) -> None:
        self._first: dict[str, dict[str, Any]] | None = None

    def changed(self) -> dict[str, dict[str, Any]]:
        """Numbers by scope and path that are not what they were at the first look, or are new since."""
        now = {scope.name: {path: value for path, _, _, value in _numbers(scope)} for scope in _distinct()}
        if self._first is None:
            self._first = now
        first = self._first
        return {
            name: {path: one for path, one in found.items() if not _same(first.get(name, {}).get(path), one)}
            for name, found in now.items()
        }


def restore(kept: Mapping[str, Mapping[str, Any]], kinds: tuple[type, ...] = _NUMBERS) -> None:
    """Set the numbers of these kinds, of those scopes and objects that are there."""
    for scope in _distinct():
        wanted = {path: one for path, one in kept.get(scope.name, {}).items() if type(one) in kinds}
        for path, holder, key, value in list(_numbers(scope)):
            if path in wanted and not _same(wanted.pop(path), value):
                _set(scope, holder, key, kept[scope.name][path])
        holders = dict(_holders_of(scope))
        for path, one in wanted.items():
            parent, _, leaf = path.rpartition(".")
            holder = holders.get(parent)
            # What is there and is no number is something else.
            if leaf not in (scope.variables if holder is None else holder) and (holder is not None or not parent):
                _set(scope, holder, leaf, one)


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and (one == other or (one != one and other != other))


def _set(scope: Scope, holder: MutableMapping[str, Any] | None, key: str, value: Any) -> None:
    if holder is None:
        scope.set(key, value)
    else:
        holder[key] = value


def _distinct() -> Iterator[Scope]:
    """Of functions that call themselves, the innermost."""
    names: set[str] = set()
    for scope in scopes():
        if scope.name not in names:
            names.add(scope.name)
            yield scope


def _numbers(scope: Scope) -> Iterator[tuple[str, MutableMapping[str, Any] | None, str, Any]]:
    """(path, what holds it, its name there, value); None holds a variable itself."""
    for name, value in list(scope.variables.items()):
        if type(value) in _NUMBERS and not name.startswith("__"):
            yield name, None, name, value
    for path, holder in _holders_of(scope):
        for name, value in list(holder.items()):
            if isinstance(name, str) and type(value) in _NUMBERS:
                yield f"{path}.{name}", holder, name, value


def _holders_of(scope: Scope) -> Iterator[tuple[str, MutableMapping[str, Any]]]:
    """(path, names and values) of the dictionaries and objects that the variables lead to."""
    owners, seen = Owners(), set[int]()
    for name, value in list(scope.variables.items()):
        yield from _holders(value, name, owners, seen, _DEEPEST)


def _holders(
    value: Any, path: str, owners: Owners, seen: set[int], depth: int
) -> Iterator[tuple[str, MutableMapping[str, Any]]]:
    if type(value) in (list, tuple):
        inside: list[tuple[Any, Any]] = list(enumerate(value[:_LONGEST]))
        holder = None
    else:
        holder = _names_in(value, owners)
        inside = list(holder.items()) if holder is not None else []
    if not inside or depth == 0 or id(value) in seen or len(seen) > _MOST:
        return
    seen.add(id(value))
    if holder is not None:
        yield path, holder
    for name, one in inside:
        if isinstance(name, str | int) and type(one) not in _NUMBERS:
            yield from _holders(one, f"{path}.{name}", owners, seen, depth - 1)


def _names_in(value: Any, owners: Owners) -> MutableMapping[str, Any] | None:
    """What a value counts with; networks have a state of their own, and classes and functions none that changes."""
    if type(value) is dict or (isinstance(value, dict) and owners.own(value)):
        return value
    if isinstance(value, type) or not hasattr(value, "__dict__") or hasattr(value, "parameters_and_names"):
        return None
    return vars(value) if owners.own(value) else None


def move_enumerations(iterators: tuple[type, ...], by: int) -> None:
    """Let loops that enumerate what is being fetched now go on ``by`` places further."""
    if by == 0 or not _index_is_where_expected():
        return
    asked = {id(_first_argument(frame)) for frame in running() if frame.f_code.co_name == "__next__"}
    for one in gc.get_objects():
        if type(one) is enumerate and any(_is_asked(inner, iterators, asked) for inner in gc.get_referents(one)):
            _index_of(one)[0] += by


def _index_of(one: Any) -> Any:
    return ctypes.cast(id(one) + _INDEX, ctypes.POINTER(ctypes.c_ssize_t))


def _index_is_where_expected() -> bool:
    probe = enumerate("ab", 41)
    return int(_index_of(probe)[0]) == 41


def _first_argument(frame: FrameType) -> Any:
    names = frame.f_code.co_varnames[: frame.f_code.co_argcount]
    return frame.f_locals.get(names[0]) if names else None


def _is_asked(inner: Any, iterators: tuple[type, ...], asked: Set[int]) -> bool:
    """Whether an iterator is a loader's, or a generator or an object of the user's around it that is running now."""
    if isinstance(inner, GeneratorType):
        return inner.gi_running
    if type(inner) in _AROUND:
        return any(_is_asked(one, iterators, asked) for one in _sources(inner))
    return isinstance(inner, iterators) or id(inner) in asked


def _sources(inner: Any) -> Iterator[Any]:
    """The iterators that a ``zip`` and the like goes through."""
    for one in gc.get_referents(inner):
        yield from one if type(one) is tuple else (one,)
