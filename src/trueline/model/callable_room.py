"""A room that is called as a function: ``trueline.compare(a, b)`` beside ``trueline.compare.runs``."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class _CallableRoom(ModuleType):
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        module, _, name = str(self.__dict__["_called"]).rpartition(".")
        return getattr(import_module(module), name)(*args, **kwargs)


def make_callable(room: str, function: str) -> None:
    """Let a package be called as one of its functions, which is imported when that happens."""
    module = sys.modules[room]
    module.__dict__["_called"] = f"{room}.{function}"
    module.__class__ = _CallableRoom
