"""What a dotted name of an API means in this process."""

from __future__ import annotations

import importlib
from typing import Any


class MissingError(Exception):
    """The framework, or a package beside it, has no such name."""


def resolve(name: str) -> Any:
    """The object of a full name; MissingError where there is none."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            if not hasattr(found, part):
                raise MissingError(name)
            found = getattr(found, part)
        return found
    raise MissingError(name)
