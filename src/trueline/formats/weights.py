"""Named arrays of any weight file, read lazily."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trueline.formats.stored import Stored

MODEL = ""


@dataclass(frozen=True, slots=True)
class Weights:
    """What a weight file holds, in the file's order.

    ``sections`` splits the arrays by what they are: the model's weights under "" (their names without the keys they
    were nested under), and whatever else was saved beside them under its own key ("optimizer", "ema", ...).
    ``nested`` is the key that held the model's weights ("state_dict"), "" where they lay at the top. ``others`` are the
    plain values of the file (epoch, ...), by dotted name.
    """

    path: Path
    format: str
    sections: Mapping[str, Mapping[str, Stored]]
    nested: str = ""
    others: Mapping[str, Any] = field(default_factory=dict)

    @property
    def model(self) -> Mapping[str, Stored]:
        """The model's weights by name."""
        return self.sections.get(MODEL, {})
