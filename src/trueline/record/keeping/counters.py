"""Numbers that the script itself counts with: variables and attributes that change while it trains."""

from __future__ import annotations

import ctypes
import gc
import itertools
from collections.abc import Iterator, Mapping, MutableMapping, Set
from types import FrameType, GeneratorType
from typing import Final, TypeAlias, TypeGuard

from trueline.record.keeping.scopes import Owners, Scope, running, scopes

# What is not known yet counts too: the best result before there was one.
Number: TypeAlias = int | float | bool | None
_NUMBERS: Final = (int, float, bool, type(None))
_MAX_DEPTH: Final = 3
_MAX_SEQUENCE: Final = 64
_MAX_VISITED: Final = 5000  # objects; bounds what a look costs at each step
_AROUND: Final = (zip, map, filter, enumerate, itertools.islice, itertools.chain)
# Where the index lies in an enumerate object, behind what every object has.
_INDEX: Final = object.__basicsize__


class Counters:
    """What has changed since the first look."""

    def __init__(self) -> None:
        self._first: dict[str, dict[str, Number]] | None = None

    def changed(self) -> dict[str, dict[str, Number]]:
        """Numbers by scope and path that are not what they were at the first look, or are new since."""
        now = {scope.name: {path: value for path, _, _, value in _numbers(scope)} for scope in _distinct()}
        if self._first is None:
            self._first = now
        first = self._first
        return {
            name: {path: number for path, number in found.items() if not _same(first.get(name, {}).get(path), number)}
            for name, found in now.items()
        }


def restore(kept: Mapping[str, Mapping[str, Number]], kinds: tuple[type, ...] = _NUMBERS) -> None:
    """Set the numbers of these kinds, of those scopes and objects that are there."""
    for scope in _distinct():
        wanted = {path: number for path, number in kept.get(scope.name, {}).items() if type(number) in kinds}
        for path, holder, key, value in list(_numbers(scope)):
            if path in wanted and not _same(wanted.pop(path), value):
                _set(scope, holder, key, kept[scope.name][path])
        holders = dict(_holders_of(scope))
        for path, number in wanted.items():
            parent, _, leaf = path.rpartition(".")
            holder = holders.get(parent)
            # What is there and is no number is something else.
            if leaf not in (scope.variables if holder is None else holder) and (holder is not None or not parent):
                _set(scope, holder, leaf, number)


def _same(before: Number, now: Number) -> bool:
    return type(before) is type(now) and (before == now or (before != before and now != now))


def _set(scope: Scope, holder: MutableMapping[str, object] | None, key: str, value: Number) -> None:
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


def _numbers(scope: Scope) -> Iterator[tuple[str, MutableMapping[str, object] | None, str, Number]]:
    """(path, what holds it, its name there, value); None holds a variable itself."""
    for name, value in list(scope.variables.items()):
        if _is_number(value) and not name.startswith("__"):
            yield name, None, name, value
    for path, holder in _holders_of(scope):
        for name, value in list(holder.items()):
            if isinstance(name, str) and _is_number(value):
                yield f"{path}.{name}", holder, name, value


def _is_number(value: object) -> TypeGuard[Number]:
    """By the type alone: an object of the user's may answer any question with an error."""
    return type(value) in _NUMBERS


def _holders_of(scope: Scope) -> Iterator[tuple[str, MutableMapping[str, object]]]:
    """(path, names and values) of the dictionaries and objects that the variables lead to."""
    owners, seen = Owners(), set[int]()
    for name, value in list(scope.variables.items()):
        yield from _holders(value, name, owners, seen, _MAX_DEPTH)


def _holders(
    value: object, path: str, owners: Owners, seen: set[int], depth: int
) -> Iterator[tuple[str, MutableMapping[str, object]]]:
    if type(value) in (list, tuple) and isinstance(value, list | tuple):
        inside: list[tuple[object, object]] = list(enumerate(value[:_MAX_SEQUENCE]))
        holder = None
    else:
        holder = _names_in(value, owners)
        inside = list(holder.items()) if holder is not None else []
    if not inside or depth == 0 or id(value) in seen or len(seen) > _MAX_VISITED:
        return
    seen.add(id(value))
    if holder is not None:
        yield path, holder
    for name, part in inside:
        if isinstance(name, str | int) and type(part) not in _NUMBERS:
            yield from _holders(part, f"{path}.{name}", owners, seen, depth - 1)


def _names_in(value: object, owners: Owners) -> MutableMapping[str, object] | None:
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
    for candidate in gc.get_objects():
        if type(candidate) is enumerate and any(
            _is_asked(inner, iterators, asked) for inner in gc.get_referents(candidate)
        ):
            _index_of(candidate)[0] += by


def _index_of(enumeration: object) -> ctypes._Pointer[ctypes.c_ssize_t]:
    return ctypes.cast(id(enumeration) + _INDEX, ctypes.POINTER(ctypes.c_ssize_t))


def _index_is_where_expected() -> bool:
    probe = enumerate("ab", 41)
    return int(_index_of(probe)[0]) == 41


def _first_argument(frame: FrameType) -> object:
    names = frame.f_code.co_varnames[: frame.f_code.co_argcount]
    return frame.f_locals.get(names[0]) if names else None


def _is_asked(inner: object, iterators: tuple[type, ...], asked: Set[int]) -> bool:
    """Whether an iterator is a loader's, or a generator or an object of the user's around it that is running now."""
    if isinstance(inner, GeneratorType):
        return inner.gi_running
    if type(inner) in _AROUND:
        return any(_is_asked(source, iterators, asked) for source in _sources(inner))
    return isinstance(inner, iterators) or id(inner) in asked


def _sources(inner: object) -> Iterator[object]:
    """The iterators that a ``zip`` and the like goes through."""
    for referent in gc.get_referents(inner):
        yield from referent if type(referent) is tuple else (referent,)
