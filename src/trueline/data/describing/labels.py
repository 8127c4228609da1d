"""The label: which field it is, whether it names classes, and which labels none of the classes can have."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Final

from trueline.data.described import Classes, Stray
from trueline.data.source import Cell

NAMES: Final = ("label", "labels", "target", "targets", "class", "classes", "y", "category")
# More than this is no list of classes that anyone could look at.
MOST_CLASSES: Final = 20_000
# So few different labels are classes, however few samples there are.
_MAX_CLASSES_AT_ONCE: Final = 20
# A stray label is at most so frequent beside a usual one, and all of them together in the whole set.
_RARE, _RARE_IN_ALL = 0.05, 0.02
_USUAL: Final = 10
# Numbers are at most so frequent beside names.
_UNNAMED: Final = 0.25

Counted = Mapping[Cell, tuple[int, int]]


def guess_label(fields: Sequence[str]) -> str | None:
    """The field that is called like a label."""
    lower = {name.strip().lower(): name for name in reversed(fields)}
    return next((lower[name] for name in NAMES if name in lower), None)


def names_classes(labels: Counted, *, given: bool) -> bool:
    """Whether labels, each with its count and first sample, name classes, and are no quantity to be predicted."""
    count = sum(times for times, _ in labels.values())
    if not labels or len(labels) > MOST_CLASSES:
        return False
    numbers = [label for label in labels if isinstance(label, int | float) and not isinstance(label, bool)]
    if len(numbers) * 2 < len(labels):
        return given or len(labels) <= max(_MAX_CLASSES_AT_ONCE, count / 2)
    integers = [number for number in numbers if _is_whole(number)]
    if len(labels) <= _MAX_CLASSES_AT_ONCE:
        return True
    if len(integers) < 0.9 * len(numbers):
        return False
    usual = [integer for integer in integers if labels[integer][0] > 1]
    dense = bool(usual) and max(usual) - min(usual) + 1 <= 1.5 * len(usual)
    return dense and len(usual) * 2 >= len(integers)


def classes_of(field: str, labels: Counted, *, guessed: bool, given: int | None) -> Classes:
    """The classes, with those labels apart that cannot be any."""
    strays = _outside(labels, given) if given is not None else _unlikely(labels)
    apart = {_key(stray.label) for stray in strays}
    counts = [(label, times) for label, (times, _) in labels.items() if _key(label) not in apart]
    if given is not None and all(_is_class(label, given) for label, _ in counts):
        there = {int(label) for label, _ in counts}
        counts += [(label, 0) for label in range(min(given, MOST_CLASSES)) if label not in there]
    counts.sort(key=lambda count: (-count[1], str(count[0])))
    many = [times for _, times in counts]
    std = statistics.pstdev(many) if many else 0.0
    ratio = 1.0 if not many else max(many) / min(many) if min(many) else math.inf
    return Classes(field, counts, std, ratio, guessed, given, strays)


def _key(label: object) -> tuple[str, Cell]:
    return type(label).__name__, label


def _is_whole(number: float) -> bool:
    # Not through a float: a whole number may be too large for one.
    return isinstance(number, int) or number.is_integer()


def _is_class(label: object, classes: int) -> bool:
    return isinstance(label, int | float) and _is_whole(label) and 0 <= label < classes


def _outside(labels: Counted, classes: int) -> list[Stray]:
    """Labels that are not 0 to classes - 1; of names, the rarest that are too many."""
    inside = [label for label in labels if _is_class(label, classes)]
    if len(inside) * 2 >= len(labels):
        wrong = [label for label in labels if not _is_class(label, classes)]
    else:
        wrong = sorted(labels, key=lambda label: -labels[label][0])[classes:]
    return [Stray(label, *labels[label], certain=True) for label in wrong]


def _unnamed(labels: Counted) -> list[Stray]:
    """Numbers where all other labels are names."""
    names = sum(times for label, (times, _) in labels.items() if isinstance(label, str))
    numbers = [label for label in labels if not isinstance(label, str)]
    if sum(labels[label][0] for label in numbers) > _UNNAMED * names:
        return []
    return [Stray(label, *labels[label], certain=True) for label in numbers]


def _unlikely(labels: Counted) -> list[Stray]:
    """Rare labels beside usual ones: no small integers where nearly all are, or another spelling of a usual one."""
    if unnamed := _unnamed(labels):
        return unnamed
    if len(labels) < 2:
        return []
    typical = (
        statistics.median(times for times, _ in labels.values() if times > 1)
        if any(times > 1 for times, _ in labels.values())
        else 1
    )
    usual = [label for label, (times, _) in labels.items() if times > _RARE * typical and times > 1]
    count = sum(times for times, _ in labels.values())
    rare = [label for label in labels if label not in usual]
    if typical < _USUAL or not usual or sum(labels[label][0] for label in rare) > _RARE_IN_ALL * count + 1:
        rare = []
    whole = [label for label in usual if _is_class(label, MOST_CLASSES)]
    if len(whole) == len(usual) and usual:
        top = max(whole)
        odd = [label for label in rare if not _is_class(label, int(top) + 1)]
        # One negative number beside the classes is a mark, however often it is there.
        return [Stray(label, *labels[label]) for label in odd] + _negative(labels, usual)
    negative = _negative(labels, usual)
    if negative:
        return negative
    spelled = _other_spellings(labels)
    known = {stray.label for stray in spelled}
    names = [str(label) for label in usual]
    for label in rare:
        near = get_close_matches(str(label), names, 1, 0.75)
        if near and label not in known:
            spelled.append(Stray(label, *labels[label], like=near[0]))
    return spelled


def _negative(labels: Counted, usual: Sequence[object]) -> list[Stray]:
    numbers = [label for label in usual if isinstance(label, int | float) and not isinstance(label, bool)]
    below = [label for label in numbers if label < 0]
    rest = [label for label in numbers if label >= 0]
    if len(numbers) == len(usual) and len(below) == 1 and len(rest) > 2 and min(rest) == 0:
        return [Stray(below[0], *labels[below[0]])]
    return []


def _other_spellings(labels: Counted) -> list[Stray]:
    """Names that differ from a more frequent one in blanks and capitals only."""
    best: dict[str, object] = {}
    for label in sorted(labels, key=lambda name: -labels[name][0]):
        if isinstance(label, str):
            best.setdefault(" ".join(label.split()).casefold(), label)
    return [
        Stray(label, *labels[label], like=best[plain])
        for label in labels
        if isinstance(label, str) and best[plain := " ".join(label.split()).casefold()] != label
    ]
