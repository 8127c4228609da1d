"""The labels among what was fed."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from trueline.apitable.functions import stems_of
from trueline.apitable.traits import Trait
from trueline.checks.evidence.streams import Fed, Stream
from trueline.model.sample import Batch, SampleField

_NAMES: Final = ("label", "labels", "target", "targets", "y", "class", "cls", "class_id", "category")
_WHOLE: Final = stems_of(Trait.TO_INTEGER, Trait.TO_TRUTH)
# More different ones are no classes but numbers of samples, or words.
MAX_CLASSES: Final = 1000
MIN_SAMPLES: Final = 50  # fewer values repeat, or do not, by chance
MIN_RICH: Final = 8  # numbers of a sample that no other has but as a copy
MIN_TELLING: Final = 0.5  # share of contents whose extremes are theirs alone, as measurements have them


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


def first_of(labels: Sequence[Labelled]) -> Labelled:
    """The one that stands first in its dataset, where that was seen, else the one that came first."""
    known = [label for label in labels if label.sample is not None]
    return min(known, key=lambda label: label.sample or 0) if len(known) == len(labels) else labels[0]


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
    candidates = [field.name for field in batch.fields if is_number(field) and _may_be_classes(stream, field.name)]
    if not candidates or len(batch.fields) < 2:
        return None
    named = [name for name in candidates if name.rpartition(".")[2].lower() in _NAMES]
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
    return len(different) <= MAX_CLASSES and (len(values) < MIN_SAMPLES or len(different) < 0.5 * len(values))


def field_of(batch: Batch, name: str) -> SampleField | None:
    """A batch's field by its name."""
    return next((field for field in batch.fields if field.name == name), None)


def labels_of(batches: Sequence[Fed], name: str) -> Iterator[Labelled]:
    """The labels of batches, sample by sample."""
    for fed in batches:
        field = field_of(fed.batch, name)
        if field is not None:
            for place, value in enumerate(field.minimum):
                yield Labelled(fed, place, value)


def contents_of(batches: Sequence[Fed], label: str) -> Iterator[tuple[Labelled, tuple[int, ...]]]:
    """The samples that have a content of their own, with what tells it from any other's."""
    telling = _telling(batches, label)
    for labelled in labels_of(batches, label):
        fields = [field for field in labelled.fed.batch.fields if field.name != label]
        if any(_is_rich(field, labelled.place) or field.fingerprints[labelled.place] in telling for field in fields):
            yield labelled, tuple(field.fingerprints[labelled.place] for field in fields)


def _is_rich(field: SampleField, place: int) -> bool:
    """Whether one sample of it holds so many numbers that another one has the same only as a copy."""
    return math.prod(field.shape) >= MIN_RICH and field.dtype.startswith("float") and field.std[place] > 0


def _telling(batches: Sequence[Fed], label: str) -> set[int]:
    """The contents, of few numbers, whose least and greatest number no other content has, where most are of that kind.

    That is so of what was measured; codes, and numbers of few digits, are shared by many samples.
    """
    found: set[int] = set()
    for name in {field.name for fed in batches[:1] for field in fed.batch.fields} - {label}:
        fields = [field for fed in batches if (field := field_of(fed.batch, name)) is not None]
        if not fields or math.prod(fields[0].shape) < 2 or not fields[0].dtype.startswith("float"):
            continue
        ends = {
            mark: (field.minimum[place], field.maximum[place])
            for field in fields
            for place, mark in enumerate(field.fingerprints)
        }
        lows, highs = (Counter(pair[side] for pair in ends.values()) for side in (0, 1))
        own = {mark for mark, (low, high) in ends.items() if lows[low] == highs[high] == 1 and low < high}
        if len(ends) >= MIN_SAMPLES and len(own) >= MIN_TELLING * len(ends):
            found |= own
    return found
