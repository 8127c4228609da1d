"""What a user may ask of describing, and what is fixed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

# As many first places as are kept of anything.
NAMED_SAMPLES: Final = 5
QUANTILES: Final = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True, slots=True)
class Wanted:
    """``missing`` are the dataset's own markers as they were typed; ``exact`` spares neither time nor memory."""

    label: str | None = None
    missing: Sequence[str] = ()
    classes: int | None = None
    exact: bool = False

    @property
    def numbers(self) -> dict[float, str]:
        """The markers that are numbers."""
        found: dict[float, str] = {}
        for text in self.missing:
            try:
                found[float(text)] = text
            except ValueError:
                continue
        return found
