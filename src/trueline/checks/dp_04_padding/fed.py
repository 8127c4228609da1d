"""What fills sequences up to one length, as the ends of the first batches show it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from trueline.checks.evidence.streams import Stream, training
from trueline.formats.run_folder.reader import Run
from trueline.model.sample import Ends, SampleField

_RARE: Final = 0.01
_RARE_SIDE: Final = 0.05
_FEWEST: Final = 4


@dataclass(frozen=True, slots=True)
class Padded:
    """A field of sequences that are filled up: with what, on which side, and how far each."""

    stream: Stream
    field: str
    length: int
    value: int
    side: str
    lengths: Sequence[int]
    other_side: int
    step: int


def padded_fields(run: Run) -> list[Padded]:
    """All such fields of the training batches."""
    return [
        padded for stream in training(run) for name in _names(stream) if (padded := _padded(stream, name)) is not None
    ]


def ends_seen(run: Run) -> bool:
    """Whether any sequence of whole numbers was looked at."""
    return any(_ends(stream, name) for stream in training(run) for name in _names(stream))


def is_mask(field: SampleField) -> bool:
    """Whether it says of each place only yes or no."""
    return field.dtype == "bool" or (min(field.minimum, default=0) >= 0 and max(field.maximum, default=2) <= 1)


def _names(stream: Stream) -> list[str]:
    return [field.name for field in stream.batches[0].batch.fields if not is_mask(field)] if stream.batches else []


def _ends(stream: Stream, name: str) -> list[tuple[Ends, int, int]]:
    """(ends, length, step) of the first batches."""
    found = []
    for fed in stream.batches:
        for field in fed.batch.fields:
            if field.name == name and field.ends is not None and field.shape:
                found.append((field.ends, field.shape[0], fed.step))
    return found


def is_padding(ends: Ends, length: int) -> bool:
    """Runs of one value at the ends that are of several lengths, where it is hardly ever inside."""
    runs = [one + other for one, other in zip(ends.left, ends.right, strict=True)]
    padded = sum(run > 0 for run in runs)
    both = sum(one > 0 and other > 0 for one, other in zip(ends.left, ends.right, strict=True))
    return (
        len(runs) >= _FEWEST
        and padded > 1
        and len(set(runs)) > 1 + (padded < len(runs))
        and both <= _RARE_SIDE * padded
        and ends.inside <= _RARE * max(1, length * len(runs) - sum(runs))
    )


def _padded(stream: Stream, name: str) -> Padded | None:
    seen = _ends(stream, name)
    if not seen:
        return None
    first, length, step = seen[0]
    if not is_padding(first, length):
        return None
    alike = [ends for ends, _, _ in seen if ends.value == first.value]
    left = sum(one > 0 for ends in alike for one in ends.left)
    right = sum(one > 0 for ends in alike for one in ends.right)
    usual = "right" if right >= left else "left"
    # One alone at the other end may be a word of the sequence.
    rare = [run for ends in alike for run in (ends.left if usual == "right" else ends.right) if run > 1]
    side = "mixed" if rare and len(rare) > _RARE_SIDE * (left + right) else usual
    lengths = [one + other for one, other in zip(first.left, first.right, strict=True)]
    return Padded(stream, name, length, first.value, side, lengths, len(rare), step)
