"""Users' models, each in a process of its own; ``trueline.pair(bench=…, port=…)`` is this room called as a function."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        from trueline.pair.api import pair

        return pair(*args, **kwargs)


sys.modules[__name__].__class__ = _Callable
