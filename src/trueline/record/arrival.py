"""Being told when the user's program has imported a package, without importing it oneself."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


class _Arrival(MetaPathFinder):
    def __init__(self, waiting: dict[str, Callable[[str], None]]) -> None:
        self._waiting = waiting

    def find_spec(self, name: str, _path: Sequence[str] | None, _target: ModuleType | None = None) -> ModuleSpec | None:
        tell = self._waiting.pop(name, None)
        if tell is None:
            return None
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            self._waiting[name] = tell
            return None
        loader: Any = spec.loader
        original = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            loader.exec_module = original
            original(module)
            tell(name)

        loader.exec_module = exec_module
        return spec


def on_import(names: Sequence[str], tell: Callable[[str], None]) -> Callable[[], None]:
    """Call ``tell(name)`` once for each package, at once where it is imported already; returns what stops waiting."""
    waiting: dict[str, Callable[[str], None]] = {}
    for name in names:
        if name in sys.modules:
            tell(name)
        else:
            waiting[name] = tell
    finder = _Arrival(waiting)
    sys.meta_path.insert(0, finder)

    def stop() -> None:
        if finder in sys.meta_path:
            sys.meta_path.remove(finder)

    return stop
