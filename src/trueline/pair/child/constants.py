"""Where the user's code makes constants of data while a block runs."""

from __future__ import annotations

from trueline.adapters.nouns import Value
from trueline.model.location import Location
from trueline.pair.child.op_values import SeenValues


class Constants:
    """Hears of every tensor that is made of data while the block runs."""

    def __init__(self) -> None:
        # The tensors themselves are held, so that no other can get their identity.
        self._made: dict[int, tuple[Value, Location]] = {}

    def made(self, tensor: Value, line: Location | None) -> None:
        """One was made."""
        if line is not None:
            self._made[id(tensor)] = tensor, line

    def lines(self, seen: SeenValues) -> dict[int, Location]:
        """Their lines by the numbers of their values."""
        return {number: self._made[place][1] for place, number in seen.numbers() if place in self._made}
