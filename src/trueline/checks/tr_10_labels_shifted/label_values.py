"""The labels of a phase, out of the statistics of its samples."""

from __future__ import annotations

from trueline.formats.run_folder.reader import RankFolder
from trueline.model.run import EventName
from trueline.model.sample import Batch

_MOST_BATCHES = 400


def label_values(rank: RankFolder, phase: str) -> dict[str, list[int]]:
    """The whole numbers of each field that has one number per sample, in order."""
    found: dict[str, list[int]] = {}
    for place, event in enumerate(rank.events(EventName.BATCH, phase=phase)):
        if place >= _MOST_BATCHES:
            break
        for field in Batch.from_json(event["samples"]).fields:
            if field.shape in ((), (1,)) and field.dtype.startswith(("int", "uint")):
                found.setdefault(field.name, []).extend(int(one) for one in field.mean)
    return found
