"""Weights over time, by their fingerprints."""

from __future__ import annotations

from trueline.checks.evidence.looks import looked
from trueline.formats.run_folder.reader import RankFolder
from trueline.model.events import WeightsEvent


def weight_looks(rank: RankFolder) -> list[WeightsEvent]:
    """The looks at weights in order of steps."""
    return looked(rank, WeightsEvent)


def still(rank: RankFolder, min_updates: int = 2) -> set[str] | None:
    """The parameters that are after some updates what they were before the first; None where it is too early to say."""
    looks = [look for look in weight_looks(rank) if look.step + 1 >= min_updates]
    if not looks:
        return None
    last = looks[-1].fingerprints
    known = [param for param in rank.params if param.initial is not None and not param.buffer and param.name in last]
    same = {param.name for param in known if param.initial and last[param.name] == f"{param.initial.fingerprint:016x}"}
    # Where nothing has moved, as in a warm-up that begins with a rate of zero, nothing is known either.
    return same if any(param.trainable and param.name not in same for param in known) else None
