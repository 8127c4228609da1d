"""Which steps a user asked for: ``0,1,10:20``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

_PART = re.compile(r"(\d+)|(\d*):(\d*)(?::(\d+))?")


@dataclass(frozen=True, slots=True)
class Steps:
    """A set of steps, counted from 0, that may be open-ended.

    Parts are written as in Python: ``3`` is one step, ``10:20`` is 10 to 19, ``100:`` has no end,
    ``::50`` is every fiftieth. ``all`` is every step.
    """

    parts: tuple[tuple[int, int | None, int], ...]

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a selection; a ValueError says what was expected."""
        if text.strip() == "all":
            return cls.every()
        parts: list[tuple[int, int | None, int]] = []
        for part in text.split(","):
            found = _PART.fullmatch(part.strip())
            if found is None:
                raise ValueError(f"not a selection of steps: {text!r} (expected for example 0,1,10:20 or all)")
            if found[1] is not None:
                parts.append((int(found[1]), int(found[1]) + 1, 1))
                continue
            stride = int(found[4] or 1)
            if stride == 0:
                raise ValueError(f"not a selection of steps: {text!r} (a stride of 0 selects nothing)")
            parts.append((int(found[2] or 0), int(found[3]) if found[3] else None, stride))
        return cls(tuple(parts))

    @classmethod
    def every(cls) -> Self:
        """All steps."""
        return cls(((0, None, 1),))

    @classmethod
    def none(cls) -> Self:
        """No step at all."""
        return cls(())

    def __contains__(self, step: int) -> bool:
        return any(
            start <= step and (stop is None or step < stop) and (step - start) % stride == 0
            for start, stop, stride in self.parts
        )

    def __bool__(self) -> bool:
        return bool(self.parts)
