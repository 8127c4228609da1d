"""Whether a run repeated as it is was the same run: without that, moving its roundings shows nothing."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

from trueline.compare.noise import epsilon, tensor_floor
from trueline.compare.noise_floor import Tried
from trueline.formats.run_folder.reader import RankFolder
from trueline.model.message import Message, message
from trueline.model.run import EventName
from trueline.model.sample import Batch

_ROUNDING: Final = 1e-5


def why_not_repeated(first: RankFolder, again: RankFolder, tried: Tried, steps: int) -> Message | None:
    """What differs: initial weights, batches, or with these equal a tensor of the first step; None where nothing."""
    return _weights(first, again) or _batches(first, again, steps) or _tensors(first, tried)


def _weights(first: RankFolder, again: RankFolder) -> Message | None:
    there = {param.name: param.initial for param in again.params}
    for param in first.params:
        other = there.get(param.name)
        if param.initial is None or other is None or param.initial.fingerprint == other.fingerprint:
            continue
        size = max(param.initial.l2, other.l2)
        if not abs(param.initial.l2 - other.l2) <= _ROUNDING * size or not _close(param.initial.mean, other.mean, size):
            return message("noise.weights_differ", name=param.name)
    return None


def _close(a: float, b: float, size: float) -> bool:
    return a == b or abs(a - b) <= _ROUNDING * size


def _batches(first: RankFolder, again: RankFolder, steps: int) -> Message | None:
    here, there = _fetched(first, steps), _fetched(again, steps)
    for step in sorted(here):
        for one, other in zip(here[step], there.get(step, []), strict=False):
            if not _same(Batch.from_json(one), Batch.from_json(other)):
                return message("noise.batches_differ", step=step)
    return None


def _fetched(rank: RankFolder, steps: int) -> dict[int, list[Mapping[str, object]]]:
    """What loaders gave; what reaches a network otherwise may have been computed."""
    found: dict[int, list[Mapping[str, object]]] = {}
    for event in rank.events(EventName.BATCH, phase="train"):
        if event["step"] < steps and event.get("source") == "loader" and isinstance(event.get("samples"), dict):
            found.setdefault(event["step"], []).append(event["samples"])
    return found


def _same(a: Batch, b: Batch) -> bool:
    if a.size != b.size or len(a.fields) != len(b.fields):
        return False
    for field, other in zip(a.fields, b.fields, strict=True):
        if list(field.fingerprints) == list(other.fingerprints):
            continue
        if field.shape != other.shape or not _near(field.mean, other.mean) or not _near(field.std, other.std):
            return False
    return True


def _near(a: Sequence[float], b: Sequence[float]) -> bool:
    return all(math.isclose(x, y, rel_tol=_ROUNDING, abs_tol=_ROUNDING) for x, y in zip(a, b, strict=True))


def _tensors(first: RankFolder, tried: Tried) -> Message | None:
    """Dropout and its like, whose randomness neither weights nor batches show."""
    floor = tensor_floor(("float32", "float32"), 2 * len(first.calls))
    for (key, step), drift in tried.drifts.items():
        if step == 0 and drift.unit and drift.level > floor * drift.unit / epsilon("float32"):
            return message("noise.tensors_differ", key=str(key))
    return None
