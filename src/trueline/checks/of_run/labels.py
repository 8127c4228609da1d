"""The labels among what was fed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from trueline.checks.of_run.feeding import Fed, Stream
from trueline.model.sample import Batch, SampleField

_NAMES: Final = ("label", "labels", "target", "targets", "y", "class", "cls", "class_id", "category")
_WHOLE: Final = ("int", "uint", "bool")
# More different ones are no classes but numbers of samples, or words.
_MOST_CLASSES: Final = 1000
_ENOUGH: Final = 50


@dataclass(frozen=True, slots=True)
class Labelled:
    """One sample's label: the batch it came with, its place there, and its value."""

    fed: Fed
    place: int
    value: float

    @property
    def sample(self) -> int | None:
        """The sample's index in its dataset, where it was seen."""
        return self.fed.batch.indexes[self.place] if self.fed.batch.indexes is not None else None


def is_number(field: SampleField) -> bool:
    """Whether each sample has one number of it."""
    return math.prod(field.shape) == 1 and field.dtype != "str"


def is_whole(field: SampleField) -> bool:
    """Whether its numbers are whole by their type."""
    return field.dtype.startswith(_WHOLE)


def label_name(stream: Stream) -> str | None:
    """The field that holds one label for each sample, where there is one."""
    if not stream.batches or stream.loader is None:
        return None
    batch = stream.batches[0].batch
    candidates = [one.name for one in batch.fields if is_number(one) and _may_be_classes(stream, one.name)]
    if not candidates or len(batch.fields) < 2:
        return None
    named = [one for one in candidates if one.rpartition(".")[2].lower() in _NAMES]
    return named[-1] if named else candidates[-1]


def _may_be_classes(stream: Stream, name: str) -> bool:
    """Whole by type, or by value and just 0 and 1; and not another one for every sample."""
    values: list[float] = []
    whole = True
    for fed in stream.batches:
        field = field_of(fed.batch, name)
        if field is None or not is_number(field):
            return False
        whole = whole and is_whole(field)
        values.extend(field.minimum)
    different = set(values)
    if not whole:
        return different == {0.0, 1.0}
    return len(different) <= _MOST_CLASSES and (len(values) < _ENOUGH or len(different) < 0.5 * len(values))


def field_of(batch: Batch, name: str) -> SampleField | None:
    """A batch's field by its name."""
    return next((one for one in batch.fields if one.name == name), None)


def labels_of(batches: Sequence[Fed], name: str) -> Iterator[Labelled]:
    """The labels of batches, sample by sample."""
    for fed in batches:
        field = field_of(fed.batch, name)
        if field is not None:
            for place, value in enumerate(field.minimum):
                yield Labelled(fed, place, value)


def content_of(fed: Fed, place: int, label: str) -> tuple[int, ...] | None:
    """What tells a sample's content from any other's; None where it has too little to be one sample's own."""
    fields = [one for one in fed.batch.fields if one.name != label]
    rich = [one for one in fields if math.prod(one.shape) >= 8 and one.dtype.startswith("float") and one.std[place] > 0]
    return tuple(one.fingerprints[place] for one in fields) if rich else None
