"""Patching a framework's functions for the duration of a recording, in this process only."""

from __future__ import annotations

import functools
import mmap
import os
from collections.abc import Callable
from threading import get_ident

from trueline.adapters.identity import ByIdentity
from trueline.adapters.nouns import Foreign, Function, Value
from trueline.adapters.seam import seamed

_MISSING = object()
# One byte that forked children share with this process: whether any of them trains.
_child_trains = mmap.mmap(-1, 1)


class Switch:
    """Whether events are reported: off after removal, and in every forked child (data workers)."""

    def __init__(self) -> None:
        self.on = True
        self._forked = False
        # The threads that are fetching data just now.
        self.fetching: set[int] = set()
        _switches.set(self, True)

    def trains(self) -> bool:
        """Whether events of gradients and updates are reported; a forked child leaves a mark that it trains."""
        if self._forked:
            _child_trains[0] = 1
        return self.on

    def silence_child(self) -> None:
        """In a forked child: report nothing, but remember whether it trains."""
        self._forked, self.on = self._forked or self.on, False


def child_has_trained() -> bool:
    """Whether any forked child has trained."""
    return bool(_child_trains[0])


def no_child_has_trained() -> None:
    """Reset at the start of a recording."""
    _child_trains[0] = 0


_switches: ByIdentity[bool] = ByIdentity()


def _silence_child() -> None:
    for switch in list(_switches):
        switch.silence_child()


os.register_at_fork(after_in_child=_silence_child)


class Patches:
    """Replaced attributes, to be restored in reverse order."""

    def __init__(
        self, failed: Callable[[Exception], None] | None = None, skips: Callable[[], bool] = lambda: False
    ) -> None:
        """Exceptions in a replacement go to ``failed``, if given; while ``skips`` is true the originals run."""
        self._failed, self._skips = failed, skips
        self._saved: list[tuple[object, str, object, object]] = []
        self._undo: list[Callable[[], object]] = []

    def wrap(self, owner: object, name: str, make: Callable[[Function], Function]) -> None:
        """Replace ``owner.name`` by ``make(original)``; a missing name is ignored."""
        original = getattr(owner, name, None)
        if original is None:
            return
        made = make(original) if self._failed is None else seamed(original, make, self._failed, self._skips)
        wrapper: Foreign = functools.wraps(original)(made)
        # TorchScript compiles a function from its source, and asks by this name for the one that is meant; a wrapper
        # around a wrapper has the innermost one's answer already.
        if not hasattr(wrapper, "__prepare_scriptable__"):
            wrapper.__prepare_scriptable__ = lambda: original
        self._saved.append((owner, name, vars(owner).get(name, _MISSING), wrapper))
        setattr(owner, name, wrapper)

    def on_remove(self, undo: Callable[[], object]) -> None:
        """Register something to undo at removal."""
        self._undo.append(undo)

    def remove(self) -> None:
        """Restore everything; what someone else has wrapped since stays in place, and is silent."""
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
    """A switch and its patches, removed together."""

    def __init__(
        self, failed: Callable[[Exception], None] | None = None, skips: Callable[[], bool] = lambda: False
    ) -> None:
        self.switch = Switch()
        self.patches = Patches(failed, skips)

    def remove(self) -> None:
        """Restore everything; what cannot be restored is left inert."""
        self.switch.on = False
        self.patches.remove()


def outermost(
    original: Function,
    is_reporting: Callable[[], bool],
    *,
    before: Function | None = None,
    after: Function | None = None,
) -> Function:
    """Reports only the outermost of nested calls: ``before(*args)``, ``after(result, *args)``."""
    inside: set[int] = set()

    def wrapper(*args: object, **kwargs: object) -> Value:
        thread = get_ident()
        if thread in inside or not is_reporting():
            return original(*args, **kwargs)
        if before is not None:
            before(*args, **kwargs)
        inside.add(thread)
        try:
            result = original(*args, **kwargs)
        finally:
            inside.discard(thread)
        if after is not None:
            after(result, *args, **kwargs)
        return result

    return wrapper
