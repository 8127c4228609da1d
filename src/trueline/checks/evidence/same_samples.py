"""Whether two streams were fed the same samples: one by one, in another form, or none of them."""

from __future__ import annotations

import math
import struct
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from statistics import StatisticsError, correlation, fmean, linear_regression, pstdev
from typing import Final

from trueline.checks.evidence.streams import Fed, Stream
from trueline.model.sample import SampleField

Mark = tuple[int, ...]
# Of fewer samples, statistics agree or differ by chance.
MIN_SAMPLES: Final = 50
# The same set, by its samples, has at least this share of them in common.
MIN_COMMON: Final = 0.5
# After one pass nobody knows whether they are augmented: then all but a few must be the same.
MIN_COMMON_ONE_PASS: Final = 0.9
# Sorted numbers of one set in two forms lie on a line within this, in parts of their spread: two sets of the same kind
# do not.
MAX_OFF_LINE: Final = 3e-3
MIN_CORRELATION: Final = 0.15  # of samples made from the same thing, however many there are
CHANCE_SIGMAS: Final = 4.0  # correlation of unrelated samples stays below so many of 1 / sqrt(n)
MAX_COMMON_OTHER: Final = 0.01  # share of samples that two other sets may have in common
MAX_PASSES: Final = 4  # more passes add no samples
MAX_DIGITS: Final = 3  # decimals that a set may have been rounded to


class Likeness(Enum):
    """How the samples of two streams go together."""

    SAME = auto()
    """All of the benchmark's were fed."""
    MISSING = auto()
    """Most are the same, some are not there."""
    ROUNDED = auto()
    """Each is there, with fewer digits."""
    OTHER = auto()
    """They are other samples."""
    UNKNOWN = auto()
    """They are augmented, or preprocessed otherwise, or not all were seen."""


@dataclass(frozen=True, slots=True)
class Compared:
    """How two streams go together, how many samples the benchmark's has, and how many of them are missing."""

    likeness: Likeness
    samples: int = 0
    missing: int = 0


def pairs(own: Sequence[Stream], bench: Sequence[Stream]) -> list[tuple[Stream, Stream]]:
    """Streams that go together: in their order where there are as many, else the longest of each."""
    here, there = ([stream for stream in side if stream.loader is not None and stream.batches] for side in (own, bench))
    if len(here) == len(there):
        return list(zip(here, there, strict=True))
    if not here or not there:
        return []
    longest = [max(side, key=lambda stream: len(stream.batches)) for side in (here, there)]
    return [(longest[0], longest[1])]


def size_of(stream: Stream) -> int | None:
    """How many samples a set has: as its loader says, else as many as each whole pass has had."""
    if stream.samples is not None:
        return stream.samples
    passes = [sum(fed.batch.size for fed in batches) for batches in stream.iterations()]
    # The last pass may have been broken off.
    whole = set(passes[:-1])
    return whole.pop() if len(whole) == 1 else None


def compared(own: Stream, bench: Stream) -> Compared:
    """How the samples of two streams of as many samples go together."""
    size = size_of(own)
    if size is None or size != size_of(bench) or _shapes(own) != _shapes(bench):
        return Compared(Likeness.UNKNOWN)
    here, there = _of_passes(own), _of_passes(bench)
    if max(len(here), len(there)) > size:
        # Some samples were not the same in every pass: they are augmented.
        return Compared(Likeness.UNKNOWN)
    several = all(len(stream.iterations()) > 1 for stream in (own, bench))
    missing = len(there - here)
    # What was left over in every pass may be what is missing.
    unseen = max(size - len(here), 0)
    if len(there & here) >= (MIN_COMMON if several else MIN_COMMON_ONE_PASS) * len(there):
        if missing > unseen:
            return Compared(Likeness.MISSING, len(there), missing - unseen)
        return Compared(Likeness.UNKNOWN if missing else Likeness.SAME, len(there))
    if not several or len(there & here) > MAX_COMMON_OTHER * len(there):
        return Compared(Likeness.UNKNOWN)
    return Compared(_other(own, bench), len(there), missing)


def _shapes(stream: Stream) -> list[tuple[tuple[int, ...], str]]:
    return [(field.shape, field.dtype) for field in stream.batches[0].batch.fields]


def _of_passes(stream: Stream) -> set[Mark]:
    """What was fed in the first passes: each may have left out others."""
    return {mark for batches in stream.iterations()[:MAX_PASSES] for mark in _marks(batches)}


def _marks(batches: Sequence[Fed]) -> set[Mark]:
    return {
        tuple(field.fingerprints[place] for field in fed.batch.fields)
        for fed in batches
        for place in range(fed.batch.size)
    }


def _other(own: Stream, bench: Stream) -> Likeness:
    """Samples that are not the benchmark's, by their statistics: the same ones in another form, or others."""
    rounded = [_is_rounded(here, there) for here, there in _fields(own, bench)]
    if any(rounded):
        return Likeness.ROUNDED
    numbers = [(here, there) for here, there in _fields(own, bench) if here and there]
    if not numbers or any(len(samples) < MIN_SAMPLES for side in numbers for samples in side):
        return Likeness.UNKNOWN
    if any(_is_on_a_line(here, there) for here, there in numbers):
        return Likeness.UNKNOWN
    apart = not _go_together(own, bench) if _are_numbered(own, bench) else _counts(own) != _counts(bench)
    return Likeness.OTHER if apart else Likeness.UNKNOWN


Sample = tuple[float, float, float]


def _fields(own: Stream, bench: Stream) -> list[tuple[list[Sample], list[Sample]]]:
    """Mean, minimum and maximum of each sample of one pass, by field, of those that hold numbers with fractions."""
    places = [
        at for at, field in enumerate(bench.batches[0].batch.fields) if field.dtype.startswith(("float", "bfloat"))
    ]
    return [(_samples(own, at), _samples(bench, at)) for at in places]


def _samples(stream: Stream, at: int) -> list[Sample]:
    return [
        (field.mean[place], field.minimum[place], field.maximum[place])
        for fed in stream.iterations()[0]
        for field in fed.batch.fields[at : at + 1]
        for place in range(fed.batch.size)
    ]


def _is_rounded(own: Sequence[Sample], bench: Sequence[Sample]) -> bool:
    """Whether one has the other's numbers with fewer digits: rounding keeps their order."""
    if len(own) != len(bench) or len(own) < MIN_SAMPLES:
        return False
    for column in (1, 2):
        here, there = (sorted(sample[column] for sample in side) for side in (own, bench))
        if here == there or not any(_is_same(here, there, way) for way in _ROUNDINGS):
            return False
    return True


def _is_same(here: Sequence[float], there: Sequence[float], way: Callable[[float], float]) -> bool:
    return all(
        math.isclose(value, way(there_value), rel_tol=1e-6, abs_tol=1e-7)
        for value, there_value in zip(here, there, strict=True)
    )


def _half(value: float) -> float:
    try:
        return float(struct.unpack("<e", struct.pack("<e", value))[0])
    except OverflowError:
        return math.inf


def _digits(count: int) -> Callable[[float], float]:
    return lambda value: round(value, count)


_ROUNDINGS: Final[Sequence[Callable[[float], float]]] = (
    *(_digits(count) for count in range(MAX_DIGITS + 1)),
    _half,
    math.floor,
    math.trunc,
)


def _is_on_a_line(own: Sequence[Sample], bench: Sequence[Sample]) -> bool:
    """Whether sorted numbers of both lie on a line: the same ones, scaled or moved."""
    for column in range(3):
        here, there = (sorted(sample[column] for sample in side) for side in (own, bench))
        count = min(len(here), len(there))
        x, y = there[:count], here[:count]
        try:
            slope, start = linear_regression(x, y)
        except StatisticsError:
            continue
        spread = pstdev(y)
        apart = math.sqrt(
            fmean((at_own - start - slope * at_bench) ** 2 for at_bench, at_own in zip(x, y, strict=True))
        )
        if spread == 0 or apart < MAX_OFF_LINE * spread:
            return True
    return False


def _are_numbered(*streams: Stream) -> bool:
    """Whether the index of each sample in its set was seen."""
    return all(fed.batch.indexes is not None for stream in streams for fed in stream.iterations()[0])


def _counts(stream: Stream) -> Counter[tuple[int, ...]]:
    """How often each of the whole numbers, labels, was there in the first pass."""
    return Counter(
        tuple(int(field.mean[place]) for field in fed.batch.fields if _is_label(field))
        for fed in stream.iterations()[0]
        for place in range(fed.batch.size)
    )


def _is_label(field: SampleField) -> bool:
    return math.prod(field.shape) == 1 and field.dtype.startswith(("int", "uint"))


def _go_together(own: Stream, bench: Stream) -> bool:
    """Whether samples of the same index are like each other, more than by chance: made from the same thing."""
    here, there = _by_index(own), _by_index(bench)
    common = sorted(here.keys() & there.keys())
    if len(common) < MIN_SAMPLES:
        return True
    limit = max(MIN_CORRELATION, CHANCE_SIGMAS / math.sqrt(len(common)))
    for at in range(len(here[common[0]])):
        try:
            if abs(correlation([here[index][at] for index in common], [there[index][at] for index in common])) > limit:
                return True
        except StatisticsError:
            continue
    return False


def _by_index(stream: Stream) -> dict[int, list[float]]:
    found: dict[int, list[float]] = {}
    for fed in stream.iterations()[0]:
        for place, index in enumerate(fed.batch.indexes or ()):
            fields = fed.batch.fields
            found[index] = [
                kind[place] for field in fields for kind in (field.mean, field.std, field.minimum, field.maximum)
            ]
    return found
