"""Numbers such as 999 among what was fed that stand for nothing: by their value, and how far they lie from others."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from trueline.checks.evidence.inputs import into_network, is_whole
from trueline.checks.evidence.streams import Fed, Stream
from trueline.formats.run_folder.reader import Run

_MARKERS: Final = (-999.0, 999.0, -9999.0, 9999.0, -99999.0, 99999.0, -999999.0, 999999.0)
# So many times their own range all other numbers lie away from it.
_FAR: Final = 10.0
_FEWEST: Final = 3
_ENOUGH: Final = 30
_MOST: Final = 0.5


@dataclass(frozen=True, slots=True)
class Marked:
    """A field whose samples hold a marker: which, as batch and place; ``enters`` where the network was given it."""

    field: str
    value: float
    samples: Sequence[tuple[Fed, int]]
    enters: bool | None


def marked(run: Run, stream: Stream) -> Iterator[Marked]:
    """The fields of a stream with a marker in them."""
    if not stream.batches:
        return
    for field in stream.batches[0].batch.fields:
        if not field.dtype.startswith("float"):
            continue
        rows = [
            (fed, place, own.minimum[place], own.maximum[place])
            for fed in stream.iterations()[0]
            for own in fed.batch.fields
            if own.name == field.name
            for place in range(fed.batch.size)
        ]
        if len(rows) < _ENOUGH:
            continue
        for value in _MARKERS:
            samples = [(fed, place) for fed, place, low, high in rows if value in (low, high)]
            if _FEWEST <= len(samples) <= _MOST * len(rows) and _is_far(value, rows):
                yield Marked(field.name, value, samples, _enters(run, value, samples))


def _is_far(value: float, rows: Sequence[tuple[Fed, int, float, float]]) -> bool:
    """Whether the other numbers are many different ones with fractions, close together compared with the marker."""
    others = [one for _, _, low, high in rows for one in (low, high) if one != value]
    if len(set(others)) < _ENOUGH or all(one == math.floor(one) for one in others):
        return False
    low, high = min(others), max(others)
    return min(abs(value - low), abs(value - high)) > _FAR * (high - low)


def _enters(run: Run, value: float, samples: Sequence[tuple[Fed, int]]) -> bool | None:
    """Whether the network was called with it in a step that had it; None where no such call was seen."""
    steps = {fed.step for fed, _ in samples}
    phases = {fed.phase for fed, _ in samples}
    seen = [
        field.summary
        for phase in phases
        for entered in into_network(run, phase)
        if entered.step in steps
        for field in entered.fields
        if not is_whole(field)
    ]
    if not seen:
        return None
    return any(value in (summary.minimum, summary.maximum) for summary in seen)
