"""Where the user's code makes the constants of a block: in its call, or as an attribute of one of its modules."""

from __future__ import annotations

from collections.abc import Iterator

from trueline.adapters.nouns import Value
from trueline.model.location import Location
from trueline.pair.child.assigned import given_at
from trueline.pair.child.host import Host
from trueline.pair.child.op_values import SeenValues
from trueline.pair.questions.model import AssignedAt


class Constants:
    """Hears of every tensor that is made of data while the block runs."""

    def __init__(self, host: Host) -> None:
        self._host = host
        # The tensors themselves are held, so that no other can get their identity.
        self._made: dict[int, tuple[Value, Location]] = {}

    def made(self, tensor: Value, line: Location | None) -> None:
        """One was made."""
        if line is not None:
            self._made[id(tensor)] = tensor, line

    def lines(self, seen: SeenValues) -> dict[int, Location]:
        """Their lines by the numbers of their values; of those made before the call, where they are kept."""
        known = {id(tensor): line for tensor, line in self._made.values()} | dict(self._kept(seen))
        return {number: known[place] for place, number in seen.numbers() if place in known}

    def _kept(self, seen: SeenValues) -> Iterator[tuple[int, Location]]:
        taken = {place for place, _ in seen.numbers()}
        for path, module in self._host.adapter.values.modules(self._host.model):
            for name, value in vars(module).items():
                if id(value) in taken and id(value) not in self._made:
                    line = given_at(self._host, AssignedAt(path, name))
                    if line is not None:
                        yield id(value), line
