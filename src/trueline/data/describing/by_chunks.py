"""Any source described chunk by chunk: memory for a chunk, and for what is kept of all."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from trueline.data.described import Classes, Described
from trueline.data.describing import fingerprints, labels
from trueline.data.describing.contents import content_hashes, there
from trueline.data.describing.fingerprints import Fingerprints
from trueline.data.describing.gathering import FieldGatherer
from trueline.data.describing.identities import left_out
from trueline.data.describing.one_hot import LabelGatherer
from trueline.data.describing.sampling import by_chance
from trueline.data.describing.wanted import Wanted
from trueline.data.source import Source


def describe_by_chunks(source: Source, wanted: Wanted, tell: Callable[[int], None] | None = None) -> Described:
    """Everything in one pass; samples that are pointed at are read once more."""
    label = wanted.label or source.label or labels.guess_label(source.fields)
    guessed = wanted.label is None and source.label is None
    gatherers = {name: FieldGatherer(name, wanted, is_label=name == label) for name in source.fields}
    label_gatherer = LabelGatherer(wanted) if label is not None else None
    of_label = [label] if label is not None else []
    prints = Fingerprints(None if wanted.exact else fingerprints.MAX_FINGERPRINTS)
    apart = left_out(source, label)
    contents = [name for name in source.fields if name != label and name not in apart]
    samples = 0
    for chunk in source.chunks():
        samples += chunk.size
        if tell is not None:
            tell(samples)
        for name, column in chunk.columns.items():
            gatherers[name].add(chunk.start, column)
        if label_gatherer is not None:
            label_gatherer.add(chunk.start, chunk.columns[of_label[0]])
        if contents:
            columns = [chunk.columns[name] for name in contents]
            labelled = content_hashes([chunk.columns[name] for name in of_label], chunk.size)
            some = there(columns, chunk.size)
            index = np.arange(chunk.start, chunk.start + chunk.size)
            prints.add(content_hashes(columns, chunk.size)[some], labelled[some], index[some])
    fields = [gatherers[name].told() for name in source.fields]
    classes, why = _classes(label_gatherer, label, guessed)
    duplicates = None
    if contents:
        chance = by_chance([field for field in fields if field.name in contents], samples)

        def labels_of(indexes: Sequence[int]) -> list[object]:
            return [sample[label] for sample in source.take(indexes)] if label is not None else [None] * len(indexes)

        found = prints.repeated()
        duplicates = fingerprints.told(found, share=prints.share, left_out=apart, chance=chance, labels=labels_of)
    return Described(source.name, source.kind, samples, fields, classes, why, duplicates, source.skipped)


def _classes(gatherer: LabelGatherer | None, label: str | None, guessed: bool) -> tuple[Classes | None, str | None]:
    if gatherer is None or label is None:
        return None, "describe.no_label"
    return gatherer.classes(label, guessed=guessed)
