"""A watchpoint that was met."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from trueline.model.numbers import plain


@dataclass(frozen=True, slots=True)
class PointHit:
    """What was measured where, and the limits that it broke.

    ``name`` is the condition's name in MindSpore's debugger, ``where`` a module's path or a parameter's name, ``kind``
    the module's type where that is known. The first of ``measured`` is what the hit is about.
    """

    id: str
    step: int
    name: str
    where: str
    measured: Mapping[str, float] = field(default_factory=dict)
    limit: Mapping[str, float] = field(default_factory=dict)
    kind: str = ""

    def to_json(self) -> dict[str, object]:
        """The JSON shape."""
        return {
            "id": self.id,
            "step": self.step,
            "name": self.name,
            "where": self.where,
            "kind": self.kind,
            "measured": plain(dict(self.measured)),
            "limit": plain(dict(self.limit)),
        }
