"""What is known of a user's object, by the object itself.

A user's class may hash and compare as it likes: torchmetrics' metrics have no hash before they are built whole, tensors
compare element by element. Neither is ever asked here, and nothing is stored on the object or keeps it alive.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import Generic, TypeVar

from trueline.adapters.nouns import Foreign

Known = TypeVar("Known")
Reference = Callable[[], Foreign]


def reference(thing: object) -> Reference:
    """What gives the object while it is alive; one that cannot be referred to weakly is kept alive by it."""
    try:
        return weakref.ref(thing)
    except TypeError:
        return lambda: thing


class ByIdentity(Generic[Known]):
    """A mapping from objects, in the order in which they were first seen; an object that is gone is forgotten."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Reference, Known]] = {}

    def get(self, thing: object) -> Known | None:
        """What is known of an object, or None."""
        found = self._known.get(id(thing))
        # An address is used again after its object is gone.
        return found[1] if found is not None and found[0]() is thing else None

    def set(self, thing: object, known: Known) -> None:
        """From now on this is known of the object."""
        there = self._known.get(id(thing))
        if there is not None and there[0]() is thing:
            self._known[id(thing)] = (there[0], known)
            return
        self._known.pop(id(thing), None)
        self._known[id(thing)] = (self._reference(thing), known)

    def _reference(self, thing: object) -> Reference:
        address, known = id(thing), self._known

        def forget(gone: object) -> None:
            there = known.get(address)
            if there is not None and there[0] is gone:
                known.pop(address, None)

        try:
            return weakref.ref(thing, forget)
        except TypeError:
            return reference(thing)

    def pop(self, thing: object) -> Known | None:
        """What is known of an object, which is then forgotten."""
        if thing not in self:
            return None
        return self._known.pop(id(thing))[1]

    def __contains__(self, thing: object) -> bool:
        found = self._known.get(id(thing))
        return found is not None and found[0]() is thing

    def __iter__(self) -> Iterator[Foreign]:
        """The objects that are alive."""
        # Copied in one go: an object may go, and be forgotten, at any moment.
        return (thing for known, _ in self._known.copy().values() if (thing := known()) is not None)


def walk(root: Foreign, below: Callable[[Foreign], Mapping[str, Foreign]]) -> Iterator[tuple[str, Foreign]]:
    """(path, object) of a tree from its root ("") in the order of definition, each object once."""
    seen: set[int] = set()
    waiting = [("", root)]
    while waiting:
        path, one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        yield path, one
        waiting.extend(
            (f"{path}.{name}" if path else str(name), each) for name, each in reversed([*below(one).items()])
        )
