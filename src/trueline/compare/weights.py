"""Whether two runs start from the same weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from trueline.compare.align import Alignment, align
from trueline.model.key import Key, Kind
from trueline.model.run import ParamInfo
from trueline.model.summary import Summary

# Weights that went through another dtype or a text file are still the same weights.
_ROUNDING: Final = 1e-5


@dataclass(frozen=True, slots=True)
class WeightsComparison:
    """How the initial weights pair up, how many pairs could be compared and which are apart (names of a and b)."""

    alignment: Alignment
    compared: int
    apart: Sequence[tuple[str, str]]


def compare_initial_weights(a: Sequence[ParamInfo], b: Sequence[ParamInfo]) -> WeightsComparison:
    """Compare by what was kept of the initial weights: their numbers, not their elements."""
    here, there = _by_key(a), _by_key(b)
    alignment = align(here, there)
    compared = 0
    apart = []
    for pair in alignment.pairs:
        one, other = here[pair.a].initial, there[pair.b].initial
        if one is None or other is None:
            continue
        compared += 1
        if not _same(one, other):
            apart.append((here[pair.a].name, there[pair.b].name))
    return WeightsComparison(alignment, compared, apart)


def _by_key(params: Sequence[ParamInfo]) -> dict[Key, ParamInfo]:
    return {Key.of_parameter(one.name, Kind.BUFFER if one.buffer else Kind.PARAM): one for one in params}


def _same(a: Summary, b: Summary) -> bool:
    if a.count != b.count or a.non_finite != b.non_finite:
        return False
    if a.fingerprint == b.fingerprint:
        return True
    scale = max(abs(b.minimum), abs(b.maximum), a.l2 / a.count**0.5 if a.count else 0.0)
    gaps = (a.minimum - b.minimum, a.maximum - b.maximum, a.mean - b.mean, a.abs_mean - b.abs_mean, a.std - b.std)
    return all(abs(gap) <= _ROUNDING * scale for gap in gaps)
