"""Two of a kind to a verdict; ``trueline.compare(a, b)`` is this room called as a function."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    def __call__(self, *args: Any, **kwargs: Any) -> object:
        from trueline.compare.paths import compare

        return compare(*args, **kwargs)


sys.modules[__name__].__class__ = _Callable
