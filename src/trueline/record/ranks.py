"""Which rank of how many this process is, before and after a process group exists."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trueline.adapters.protocol import Adapter

_PAIRS = (("RANK", "WORLD_SIZE"), ("RANK_ID", "RANK_SIZE"), ("MS_NODE_ID", "MS_WORKER_NUM"))


def rank_of(adapters: Sequence[Adapter] = ()) -> tuple[int, int]:
    """(rank, world size): from a framework's process group, else from the launcher's environment, else (0, 1)."""
    for adapter in adapters:
        found = adapter.state.rank()
        if found is not None:
            return found
    return rank_in_environment()


def rank_in_environment() -> tuple[int, int]:
    """(rank, world size) as a launcher has told it, else (0, 1)."""
    for rank, world in _PAIRS:
        if os.environ.get(rank, "").isdigit() and os.environ.get(world, "").isdigit():
            return int(os.environ[rank]), int(os.environ[world])
    return 0, 1


def is_scheduler() -> bool:
    """Whether this process only brings MindSpore's ranks together: it trains nothing, and no folder is its own."""
    return os.environ.get("MS_ROLE") == "MS_SCHED"


def begins_the_run() -> bool:
    """Whether the folder is this process's to take: it is the first rank, or there are no others."""
    return not is_scheduler() and rank_in_environment()[0] == 0


def leads_its_machine(rank: int) -> bool:
    """Whether this process writes what all ranks of a machine share."""
    local = os.environ.get("LOCAL_RANK", "")
    return int(local) == 0 if local.isdigit() else rank == 0
