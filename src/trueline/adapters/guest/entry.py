"""Where a user's model comes from: ``module:factory`` or ``path/to/file.py:factory``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from trueline.model.trouble import BadUsage


@dataclass(frozen=True, slots=True)
class Entry:
    """A module or a file, and in it the name of a function, a class, a method or a ready-made model."""

    module: str
    name: str
    is_file: bool = False

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse what a user wrote; BadUsage where it is no entry point."""
        module, colon, name = text.strip().rpartition(":")
        if not colon or not module or not name:
            raise BadUsage("side.no_colon", text=text)
        if not _dotted(name):
            raise BadUsage("side.bad_factory", text=text, name=name)
        is_file = module.endswith(".py") or "/" in module
        if is_file and not module.endswith(".py"):
            raise BadUsage("side.not_python", text=text, file=module)
        if not is_file and not _dotted(module):
            raise BadUsage("side.bad_module", text=text, module=module)
        return cls(module, name, is_file)

    def __str__(self) -> str:
        return f"{self.module}:{self.name}"


def looks_like_entry(text: str) -> bool:
    """Whether a text is an entry point rather than a file, for verbs that accept either."""
    module, colon, name = text.rpartition(":")
    return bool(colon) and _dotted(name) and (module.endswith(".py") or _dotted(module))


def _dotted(text: str) -> bool:
    return all(part.isidentifier() for part in text.split("."))
