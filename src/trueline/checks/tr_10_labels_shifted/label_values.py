"""The labels of a phase, out of the statistics of its samples."""

from __future__ import annotations

from trueline.formats.run_folder.reader import RankFolder
from trueline.model.events import BatchEvent

MAX_BATCHES = 400  # enough for the labels of a few hundred classes


def label_values(rank: RankFolder, phase: str) -> dict[str, list[int]]:
    """The whole numbers of each field that has one number per sample, in order."""
    labels: dict[str, list[int]] = {}
    for place, event in enumerate(rank.events(BatchEvent, phase=phase)):
        if place >= MAX_BATCHES:
            break
        for field in event.batch().fields:
            if field.shape in ((), (1,)) and field.dtype.startswith(("int", "uint")):
                labels.setdefault(field.name, []).extend(int(label) for label in field.mean)
    return labels
