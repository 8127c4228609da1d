"""How often was looked already: kept as long as a recording, also where its hooks are taken away and put back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(slots=True)
class Counts:
    """By what is looked at."""

    gradients: dict[int, int] = field(default_factory=dict)
    updates: dict[int, int] = field(default_factory=dict)
    criteria: int = 0
    batches: dict[int | None, int] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    # Processes that the script has started, and whether a forked one has trained.
    children: int = 0
    child_trained: Callable[[], bool] = bool
    dropouts: set[tuple[str, int]] = field(default_factory=set)
