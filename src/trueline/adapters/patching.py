"""Replacing a framework's functions for the length of a recording, in this process only."""

from __future__ import annotations

import functools
import os
import weakref
from collections.abc import Callable
from typing import Any

_MISSING = object()


class Switch:
    """Whether hooks speak: off after removal, and in every forked child (data workers)."""

    def __init__(self) -> None:
        self.on = True
        _switches.add(self)


_switches: weakref.WeakSet[Switch] = weakref.WeakSet()


def _silence_child() -> None:
    for switch in list(_switches):
        switch.on = False


os.register_at_fork(after_in_child=_silence_child)


class Patches:
    """Attributes that were replaced, to be put back in reverse order."""

    def __init__(self) -> None:
        self._saved: list[tuple[Any, str, Any, Any]] = []
        self._undo: list[Callable[[], Any]] = []

    def wrap(self, owner: Any, name: str, make: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
        """Replace ``owner.name`` by what ``make`` gives for the original; a missing name is left alone."""
        original = getattr(owner, name, None)
        if original is None:
            return
        wrapper = functools.wraps(original)(make(original))
        self._saved.append((owner, name, vars(owner).get(name, _MISSING), wrapper))
        setattr(owner, name, wrapper)

    def on_remove(self, undo: Callable[[], Any]) -> None:
        """Something else to undo at removal."""
        self._undo.append(undo)

    def remove(self) -> None:
        """Put everything back; what someone else has wrapped since stays below that, and is silent."""
        while self._undo:
            self._undo.pop()()
        while self._saved:
            owner, name, saved, wrapper = self._saved.pop()
            if vars(owner).get(name) is not wrapper:
                continue
            if saved is _MISSING:
                delattr(owner, name)
            else:
                setattr(owner, name, saved)


class Placed:
    """A switch and the patches that go by it, taken away together."""

    def __init__(self) -> None:
        self.switch = Switch()
        self.patches = Patches()

    def remove(self) -> None:
        """Put everything back; what cannot be is left inert."""
        self.switch.on = False
        self.patches.remove()


def outermost(
    original: Callable[..., Any],
    speaks: Callable[[], bool],
    *,
    before: Callable[..., Any] | None = None,
    after: Callable[..., Any] | None = None,
) -> Callable[..., Any]:
    """A wrapper that tells only of the outermost of nested calls: ``before(*args)``, ``after(result, *args)``."""
    depth = 0

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        nonlocal depth
        if depth or not speaks():
            return original(*args, **kwargs)
        if before is not None:
            before(*args, **kwargs)
        depth += 1
        try:
            result = original(*args, **kwargs)
        finally:
            depth -= 1
        if after is not None:
            after(result, *args, **kwargs)
        return result

    return wrapper
