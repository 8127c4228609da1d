"""Numbers that the script itself counts with: variables and attributes that change while it trains."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Iterator, Mapping, MutableMapping
from types import GeneratorType
from typing import Any, Final

from trueline.record.keeping.scopes import Scope, is_of_users_class, scopes

_DEEPEST: Final = 3
_MOST: Final = 5000
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


def restore(kept: Mapping[str, Mapping[str, Any]]) -> None:
    """Set the numbers of those scopes and objects that are there."""
    for scope in _distinct():
        wanted = dict(kept.get(scope.name, {}))
        for path, holder, key, value in list(_numbers(scope)):
            if path in wanted and not _same(wanted[path], value):
                _set(scope, holder, key, wanted[path])
            wanted.pop(path, None)
        for name in [one for one in wanted if one.isidentifier()]:
            _set(scope, None, name, wanted[name])


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
    seen: set[int] = set()
    for name, value in list(scope.variables.items()):
        if _is_number(value):
            if not name.startswith("__"):
                yield name, None, name, value
        else:
            yield from _inside(value, name, seen, _DEEPEST)


def _inside(
    value: Any, path: str, seen: set[int], depth: int
) -> Iterator[tuple[str, MutableMapping[str, Any] | None, str, Any]]:
    holder = value if type(value) is dict else vars(value) if _may_count(value) else None
    if holder is None or depth == 0 or id(value) in seen or len(seen) > _MOST:
        return
    seen.add(id(value))
    for name, one in list(holder.items()):
        if not isinstance(name, str):
            continue
        if _is_number(one):
            yield f"{path}.{name}", holder, name, one
        else:
            yield from _inside(one, f"{path}.{name}", seen, depth - 1)


def _may_count(value: Any) -> bool:
    """Networks have a state of their own, and classes, functions and modules none that changes."""
    callables = isinstance(value, type) or not hasattr(value, "__dict__")
    return not callables and is_of_users_class(value) and not hasattr(value, "parameters_and_names")


def _is_number(value: Any) -> bool:
    return type(value) in (int, float, bool)


def move_enumerations(loader: Any, iterators: tuple[type, ...], by: int) -> None:
    """Let loops that enumerate this loader go on ``by`` places further."""
    if by == 0 or not _index_is_where_expected():
        return
    for one in gc.get_objects():
        if type(one) is enumerate and _goes_through(one.__reduce__()[1][0], loader, iterators):
            _index_of(one)[0] += by


def _index_of(one: Any) -> Any:
    return ctypes.cast(id(one) + _INDEX, ctypes.POINTER(ctypes.c_ssize_t))


def _index_is_where_expected() -> bool:
    probe = enumerate("ab", 41)
    return int(_index_of(probe)[0]) == 41


def _goes_through(inner: Any, loader: Any, iterators: tuple[type, ...]) -> bool:
    """Whether what is enumerated is the loader's iterator, or a generator around it (a progress bar)."""
    if isinstance(inner, iterators) or inner is loader:
        return True
    if isinstance(inner, GeneratorType) and inner.gi_frame is not None:
        held = list(inner.gi_frame.f_locals.values())
        return any(one is loader or isinstance(one, iterators) for one in held)
    return False
