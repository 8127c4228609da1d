"""TrueLine: why a network that trains is less accurate than it should be."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from trueline.version import __version__

_PUBLIC = {
    "compare": "trueline.compare",
    "fix_random": "trueline.record.randomness",
    "pair": "trueline.pair",
    "record": "trueline.record",
    "watch": "trueline.watch",
}

__all__ = ["__version__", "compare", "fix_random", "pair", "record", "watch"]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'trueline' has no attribute {name!r}")
    module = import_module(_PUBLIC[name])
    return module if _PUBLIC[name] == f"trueline.{name}" else getattr(module, name)
