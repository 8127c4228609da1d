"""Live objects of this process, in order of construction."""

from __future__ import annotations

import functools
import gc
from collections.abc import Callable, Iterable, Mapping, Sequence

from trueline.adapters.identity import ByIdentity
from trueline.adapters.nouns import Foreign


class Births:
    """Numbers the objects of some classes in order of construction."""

    def __init__(self) -> None:
        self._made: ByIdentity[int] = ByIdentity()
        self._watched: set[type] = set()
        self._next = 0

    def watch(self, kinds: Iterable[type]) -> None:
        """From now on number the instances of these classes; permanent, at negligible cost."""
        for kind in kinds:
            if kind not in self._watched:
                self._watched.add(kind)
                kind.__init__ = self._numbering(kind.__init__)  # type: ignore[misc]
                # Copies and what is read from a pickle are filled without being initialised.
                kind.__setstate__ = self._numbering(getattr(kind, "__setstate__", _fill))  # type: ignore[attr-defined]

    def _numbering(self, original: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(original)
        def initialise(target: object, *args: object, **kwargs: object) -> None:
            self._number(target)
            original(target, *args, **kwargs)

        return initialise

    def _number(self, target: object) -> None:
        if target not in self._made:
            self._made.set(target, self._next)
            self._next += 1

    @property
    def count(self) -> int:
        """The number of objects constructed so far."""
        return self._next

    def sorted(self, objects: Sequence[Foreign]) -> list[Foreign]:
        """Objects in order of construction or copying, then those not seen."""
        return sorted(objects, key=self._place)

    def _place(self, target: object) -> int:
        number = self._made.get(target)
        return self._next if number is None else number


def _fill(target: object, state: Mapping[str, object]) -> None:
    vars(target).update(state)


def alive(kinds: tuple[type, ...]) -> list[Foreign]:
    """All live objects of these classes, oldest first where known."""
    gc.collect()
    # Not isinstance, which asks objects that only pretend to be something.
    return [candidate for candidate in gc.get_objects() if issubclass(type(candidate), kinds)]
