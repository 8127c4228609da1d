"""Calls between ranks, put together: the same call of a group on each of its ranks, a send and what was received."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from trueline.formats.run_folder.reader import Run
from trueline.model.events import ExchangeEvent

JOIN: Final = "join"
SENDS: Final = ("send", "isend")
RECEIVES: Final = ("recv", "irecv")
# Calls by which ranks that hold different parts of a model hand on what passes through it.
THROUGH_THE_MODEL: Final = frozenset((*SENDS, *RECEIVES, "all_to_all", "all_to_all_single"))
Call: TypeAlias = Mapping[int, ExchangeEvent]
# So many that other ranks have not made yet are kept: they may never come.
_MAX_CALLS: Final = 100_000


class Calls:
    """Gathers the events of ranks in any order; each call is handed out once, when it is complete."""

    def __init__(self) -> None:
        self._waiting: dict[tuple[object, ...], dict[int, ExchangeEvent]] = {}

    def add(self, rank: int, event: ExchangeEvent) -> Call | None:
        """The call that this event makes complete, if any: by rank, as a sender's and a receiver's of two."""
        key: tuple[object, ...]
        if event.kind in SENDS + RECEIVES:
            if event.peer is None:
                return None
            ends = (rank, event.peer) if event.kind in SENDS else (event.peer, rank)
            key, ranks = (*ends, event.tag or 0, event.number), 2
        else:
            key, ranks = (event.group_name, *event.group, event.number), len(event.group)
        there = self._waiting.setdefault(key, {})
        there[rank] = event
        if len(there) == ranks:
            return self._waiting.pop(key)
        if len(self._waiting) > _MAX_CALLS:
            self._waiting.pop(next(iter(self._waiting)))
        return None


def shapes(event: ExchangeEvent) -> Sequence[tuple[Sequence[int], str]]:
    """Shape and dtype of each tensor that went in."""
    return [(list(part.shape), part.dtype) for part in event.sent]


def hands_on_what_passes_through(run: Run) -> bool:
    """Whether ranks hold parts of one model: pipeline stages, experts."""
    return any(event.kind in THROUGH_THE_MODEL for event in run.rank(run.ranks[0]).events(ExchangeEvent))


def ends_early(run: Run) -> bool:
    """Whether ranks may run out of batches at different steps, and the framework answers for those that have."""
    return any(event.kind == JOIN for event in run.rank(run.ranks[0]).events(ExchangeEvent))
