"""Whether two runs were fed the same samples in the same order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np

from trueline.formats.run_folder.reader import RankFolder
from trueline.kernel.array import Array
from trueline.model.run import EventName
from trueline.model.sample import Batch, SampleField

_STEPS: Final = 200
# Samples that went through another library's resize or another dtype are still the same samples.
_ROUNDING: Final = 1e-4
_MOSTLY: Final = 0.9


class Data(StrEnum):
    """How two runs' batches lie to each other."""

    SAME = "same"
    REORDERED = "reordered"
    SCALED = "scaled"
    OTHER = "other"
    SIZES = "sizes"


@dataclass(frozen=True, slots=True)
class BatchesComparison:
    """Over the first common steps; ``step``, ``field`` and ``ratio`` speak of the first batch that is not the same."""

    compared: int
    data: Data | None
    step: int | None = None
    field: str = ""
    ratio: float | None = None
    sizes: tuple[int, int] = (0, 0)
    first_field: bool = True


def compare_batches(a: RankFolder, b: RankFolder) -> BatchesComparison:
    """Compare what was kept of the batches: fingerprints, else numbers that do not depend on layout or rounding."""
    here, there = dict(_batches(a)), dict(_batches(b))
    common = [step for step in here if step in there]
    for place, step in enumerate(common):
        data, name, ratio = _compare(here[step], there[step])
        first = there[step].fields[0].name if there[step].fields else ""
        if data is Data.OTHER and name == first and _same_samples(here.values(), there.values()):
            data = Data.REORDERED
        if data is not Data.SAME:
            sizes = (here[step].size, there[step].size)
            return BatchesComparison(place + 1, data, step, name, ratio, sizes, name == first)
    return BatchesComparison(len(common), Data.SAME if common else None)


def _same_samples(a: Iterable[Batch], b: Iterable[Batch]) -> bool:
    """Whether nearly all samples of one run are in the other, in whichever batch."""
    sides = [
        {print for batch in batches if batch.fields for print in batch.fields[0].fingerprints} for batches in (a, b)
    ]
    return len(sides[0] & sides[1]) >= _MOSTLY * min(len(side) for side in sides) > 0


def _batches(folder: RankFolder) -> Iterator[tuple[int, Batch]]:
    seen: set[int] = set()
    for event in folder.events(EventName.BATCH, phase="train"):
        step = event.get("step")
        if not isinstance(step, int) or step in seen or not isinstance(event.get("samples"), dict):
            continue
        if len(seen) >= _STEPS:
            return
        seen.add(step)
        try:
            yield step, Batch.from_json(event["samples"])
        except ValueError:
            continue


def _compare(a: Batch, b: Batch) -> tuple[Data, str, float | None]:
    if a.size != b.size:
        return Data.SIZES, "", None
    worst: tuple[Data, str, float | None] = (Data.SAME, "", None)
    seen: list[Data] = []
    for here, there in zip(a.fields, b.fields, strict=False):
        found, ratio = _compare_field(here, there)
        if found is Data.REORDERED and Data.SAME in seen:
            # The samples are in their places: other labels, of which there are only a few kinds, are on them.
            found = Data.OTHER
        seen.append(found)
        if found is not Data.SAME and worst[0] in (Data.SAME, Data.REORDERED):
            worst = (found, there.name, ratio)
    return worst


def _compare_field(a: SampleField, b: SampleField) -> tuple[Data, float | None]:
    if list(a.fingerprints) == list(b.fingerprints):
        return Data.SAME, None
    here, there = _numbers(a), _numbers(b)
    if _close(here, there):
        return Data.SAME, None
    if sorted(a.fingerprints) == sorted(b.fingerprints) or _close(_sorted(here), _sorted(there)):
        return Data.REORDERED, None
    ratio = _ratio(here, there)
    return (Data.OTHER, None) if ratio is None else (Data.SCALED, ratio)


def _numbers(field: SampleField) -> Array:
    """A row of mean, std, min and max for each sample."""
    return np.array([field.mean, field.std, field.minimum, field.maximum], np.float64).T


def _close(a: Array, b: Array) -> bool:
    scale = float(np.nanmax(np.abs(b), initial=0.0)) if b.size else 0.0
    return bool(np.allclose(a, b, rtol=_ROUNDING, atol=_ROUNDING * scale, equal_nan=True))


def _sorted(rows: Array) -> Array:
    order: Array = np.lexsort(np.round(rows, 4).T[::-1])
    return np.asarray(rows[order])


def _ratio(a: Array, b: Array) -> float | None:
    """The one factor between both sides' spreads, as another normalisation leaves it."""
    with np.errstate(all="ignore"):
        ratios = a[:, 1] / b[:, 1]
    ratios = ratios[np.isfinite(ratios) & (ratios > 0)]
    if not ratios.size:
        return None
    middle = float(np.median(ratios))
    same = bool(np.allclose(ratios, middle, rtol=1e-3))
    return middle if same and abs(middle - 1) > 1e-3 else None
