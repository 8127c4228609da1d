"""Weights over time, by their fingerprints."""

from __future__ import annotations

from typing import Any

from trueline.checks.evidence.looks import looked
from trueline.formats.run_folder.reader import RankFolder
from trueline.model.run import EventName


def weight_looks(rank: RankFolder) -> list[dict[str, Any]]:
    """The looks at weights in order of steps."""
    return looked(rank, EventName.WEIGHTS)


def still(rank: RankFolder, min_updates: int = 2) -> set[str] | None:
    """The parameters that are after some updates what they were before the first; None where it is too early to say."""
    looks = [one for one in weight_looks(rank) if one["step"] + 1 >= min_updates]
    if not looks:
        return None
    last = looks[-1]["fingerprints"]
    known = [one for one in rank.params if one.initial is not None and not one.buffer and one.name in last]
    same = {one.name for one in known if one.initial and last[one.name] == f"{one.initial.fingerprint:016x}"}
    # Where nothing has moved, as in a warm-up that begins with a rate of zero, nothing is known either.
    return same if any(one.trainable and one.name not in same for one in known) else None
