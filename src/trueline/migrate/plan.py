"""What a conversion does: which array goes where, what is left behind, and what is lacking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from trueline.formats.outgoing import Outgoing
from trueline.migrate.held import Held
from trueline.migrate.modules import Naming
from trueline.model.finding import Certainty
from trueline.model.message import Message


@dataclass(frozen=True, slots=True)
class Move:
    """One array of the result: what it is made of, its name and shape there, what was done to it, why, how sure."""

    held: Held
    name: str
    shape: tuple[int, ...]
    why: Message
    certainty: Certainty
    done: tuple[Message, ...] = ()
    transposed: bool = False

    def outgoing(self, shared_with: str | None = None) -> Outgoing:
        """The array as a writer takes it."""
        held = self.held
        return Outgoing(self.name, self.shape, held.dtype, held.source, shared_with, self.transposed)


@dataclass(frozen=True, slots=True)
class Dropped:
    """An array of the file that is not in the result, and why that is no loss or was asked for."""

    name: str
    why: Message


@dataclass(frozen=True, slots=True)
class Lacking:
    """A name without a counterpart: ``nearest`` is the likest one of the other side."""

    name: str
    shape: tuple[int, ...]
    nearest: str | None = None
    why: Message | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """All of it; ``missing`` are names of the target, ``unexpected`` names of the file.

    ``orders`` are torch's names of what an optimizer may hold, in order, as a torch model tells them.
    """

    moves: Sequence[Move]
    naming: Naming | None
    dropped: Sequence[Dropped] = ()
    missing: Sequence[Lacking] = ()
    unexpected: Sequence[Lacking] = ()
    stripped: str = ""
    orders: Sequence[Sequence[str]] = ()

    @property
    def whole(self) -> bool:
        """Whether nothing is left over on either side."""
        return not self.missing and not self.unexpected

    def outgoing(self) -> list[Outgoing]:
        """The arrays as a writer takes them; those that share their elements in the file are marked."""
        there = {moved.held.name: moved.name for moved in self.moves}
        first: dict[str, str] = {}
        found = []
        for move in self.moves:
            shared = there.get(move.held.shared_with) if move.held.shared_with is not None else None
            # The same array under two names of the target, as tied weights have.
            again = first.setdefault(move.held.name, move.name)
            shared = again if again != move.name else shared
            found.append(move.outgoing(shared if shared != move.name else None))
        return found


@dataclass(slots=True)
class Sorting:
    """A plan while it is made."""

    moves: list[Move] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)
    missing: list[Lacking] = field(default_factory=list)
    unexpected: list[Lacking] = field(default_factory=list)
