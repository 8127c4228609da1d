"""One scalar over steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Curve:
    """A name, its steps in rising order and a value for each."""

    name: str
    steps: Sequence[int]
    values: Sequence[float]

    def __len__(self) -> int:
        return len(self.steps)
