"""What a side tells of the object that a part gave: a loss, a metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from trueline.model.location import Location


@dataclass(frozen=True, slots=True)
class About:
    """What is known of a part's object: its class, what it was built with, where it is defined and where built."""

    type: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    attributes: Mapping[str, Any] = field(default_factory=dict)
    framework: str = ""
    ignored: Sequence[int] = ()
    sizes: Sequence[int] = ()
    defined: Location | None = None
    built: Location | None = None

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Self:
        """Read what the side's process tells."""
        lines = [
            Location.from_line_json(found[name]) if found[name] is not None else None for name in ("defined", "built")
        ]
        plain = [found[name] for name in ("type", "arguments", "attributes", "framework", "ignored", "sizes")]
        return cls(*plain, *lines)

    @property
    def name(self) -> str:
        """The class's or function's own name."""
        return self.type.rpartition(".")[2]

    @property
    def numbers(self) -> list[float]:
        """The numbers it was built with."""
        held = (*self.arguments.values(), *self.attributes.values())
        return [float(one) for one in held if isinstance(one, int | float) and not isinstance(one, bool)]

    def line(self, *settings: float) -> Location | None:
        """Where to change it: where it was built if a setting was given there, else where it is defined."""
        given = [one for one in self.arguments.values() if isinstance(one, int | float)]
        if self.built is not None and any(abs(one - setting) < 1e-6 for one in given for setting in settings):
            return self.built
        return self.defined or self.built
