"""Being told when the user's program has imported a package, without importing it oneself.

A program may look for a package any number of times before it imports it, import it by hand or lazily, fail and try
again, or have finders of its own in front. What it gets to see meanwhile is what the other finders give.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import FrameType, ModuleType
from typing import Any

Tell = Callable[[str], None]
_IMPORTING = "_find_and_load_unlocked"


class _Arrivals(MetaPathFinder):
    """Finds nothing by itself; all who wait share it."""

    def __init__(self) -> None:
        self._waiting: dict[str, list[Tell]] = {}
        self._lock = threading.RLock()
        self._looking = threading.local()
        self._by_hand: list[tuple[str, Any]] = []

    def wait(self, name: str, tell: Tell) -> None:
        with self._lock:
            self._waiting.setdefault(name, []).append(tell)
            if not any(finder is self for finder in sys.meta_path):
                sys.meta_path.insert(0, self)

    def forget(self, tells: Sequence[tuple[str, Tell]]) -> None:
        with self._lock:
            for name, tell in tells:
                waiting = [waiter for waiter in self._waiting.get(name, ()) if waiter is not tell]
                if waiting:
                    self._waiting[name] = waiting
                else:
                    self._done(name)

    def _done(self, name: str) -> list[Tell]:
        """Nobody waits for a package any more: leave nothing behind."""
        found = self._waiting.pop(name, [])
        for known, loader in self._by_hand:
            if known == name and isinstance(vars(loader).get("exec_module"), _Execution):
                del loader.exec_module
        self._by_hand = [known for known in self._by_hand if known[0] != name]
        if not self._waiting:
            sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not self]
        return found

    def arrived(self, name: str) -> None:
        """A package is there, whole."""
        with self._lock:
            tells = self._done(name)
        for tell in tells:
            tell(name)

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        package = name.partition(".")[0]
        if package in self._waiting and package != name:
            self._under_way(package)
        elif name not in self._waiting:
            self._look_around()
        elif not getattr(self._looking, "on", False):
            return self._found(name, path, target, sys._getframe(1))
        return None

    def _found(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None, frame: FrameType
    ) -> ModuleSpec | None:
        self._looking.on = True
        try:
            spec = self._found_by_others(name, path, target)
        finally:
            self._looking.on = False
        if spec is None or spec.loader is None:
            return spec
        if frame.f_back is not None and frame.f_back.f_code.co_name == _IMPORTING:
            self._follow(spec)
        else:
            self._follow_by_hand(name, spec.loader)
        return spec

    def _found_by_others(self, name: str, path: Sequence[str] | None, target: ModuleType | None) -> ModuleSpec | None:
        for finder in list(sys.meta_path):
            if finder is not self and hasattr(finder, "find_spec"):
                spec = finder.find_spec(name, path, target)
                if spec is not None:
                    return spec
        return None

    def _follow(self, spec: ModuleSpec) -> None:
        """Importing ends with a note in the spec, which until then has a class of ours to hear it."""
        own = type(spec)
        if issubclass(own, _Followed):
            return
        heard = type(own.__name__, (_Followed, own), {"__module__": own.__module__, "_own": own})
        with contextlib.suppress(TypeError):
            spec.__class__ = heard

    def _follow_by_hand(self, name: str, loader: Any) -> None:
        """Whoever only looks may still execute the module, or have it done lazily."""
        with self._lock, contextlib.suppress(AttributeError, TypeError):
            if "exec_module" not in vars(loader):
                loader.exec_module = _Execution(name, loader.exec_module)
                self._by_hand.append((name, loader))

    def _under_way(self, package: str) -> None:
        """A part of a package is imported: the package itself is on its way, by whatever finder."""
        spec = _names_of(sys.modules.get(package)).get("__spec__")
        if isinstance(spec, ModuleSpec) and getattr(spec, "_initializing", False):
            self._follow(spec)

    def _look_around(self) -> None:
        """A package may have come by no finder at all; it is whole when none of its own code is at work."""
        for name in list(self._waiting):
            module = sys.modules.get(name)
            names = _names_of(module)
            spec = names.get("__spec__")
            if type(module) is not ModuleType or spec is None or getattr(spec, "_initializing", False):
                continue
            # One that is empty is still to be executed.
            if not all(name.startswith("__") for name in names) and not _is_at_work(names):
                self.arrived(name)


class _Followed(ModuleSpec):
    """A spec in the making."""

    _own: type

    @property
    def _initializing(self) -> bool:
        return bool(vars(self).get("_initializing", False))

    @_initializing.setter
    def _initializing(self, value: bool) -> None:
        vars(self)["_initializing"] = value
        if not value:
            self.__class__ = self._own
            if self.name in sys.modules:
                _arrivals.arrived(self.name)


class _Execution:
    """Executes a module as its loader does; all are alike, so that loaders compare as they do without."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, name: str, original: Callable[[ModuleType], None]) -> None:
        self._name = name
        self._original = original

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Execution)

    def __call__(self, module: ModuleType) -> None:
        self._original(module)
        if sys.modules.get(self._name) is module:
            _arrivals.arrived(self._name)


def _names_of(module: ModuleType | None) -> dict[str, object]:
    """A module's names as they are: asked for one, a lazy module would load itself."""
    return object.__getattribute__(module, "__dict__") if isinstance(module, ModuleType) else {}


def _is_at_work(names: dict[str, object]) -> bool:
    return any(_is_above(names, frame) for frame in sys._current_frames().values())


def _is_above(names: dict[str, object], frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_globals is names and frame.f_code.co_name == "<module>":
            return True
        frame = frame.f_back
    return False


_arrivals = _Arrivals()


def on_import(names: Sequence[str], tell: Tell) -> Callable[[], None]:
    """Call ``tell(name)`` once for each package, at once where it is imported already; returns what stops waiting."""
    waiting = [(name, tell) for name in names if name not in sys.modules]
    for name in names:
        if name in sys.modules:
            tell(name)
        else:
            _arrivals.wait(name, tell)
    return lambda: _arrivals.forget(waiting)
