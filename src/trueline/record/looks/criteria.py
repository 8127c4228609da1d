"""A loss function of the framework as it was called: what goes in, what comes out, and the same in NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from trueline.adapters.nouns import Unreadable, Value
from trueline.adapters.protocol import Values
from trueline.kernel import fingerprint
from trueline.kernel.array import Array
from trueline.model.json_value import Json
from trueline.record.looks.numpy_losses import LossSettings, class_rows, recomputed
from trueline.record.open_step import Field, Lazy

_MAX_ELEMENTS: Final = 1 << 20
_FEW_ELEMENTS: Final = 1 << 14
_CLASSES: Final = ("cross_entropy", "nll_loss")


@dataclass(frozen=True, slots=True)
class Criterion:
    """One call of a loss function: its plain name, its first two arguments, its settings and what it gave."""

    name: str
    prediction: Value
    target: Value
    settings: Mapping[str, Value]
    value: Value
    made_by: str | None = None


def facts(criterion: Criterion, values: Values, readable: Callable[[Value], Lazy]) -> dict[str, Field]:
    """What an event says of it; without the numbers where there are too many of them."""
    shapes = {"prediction": list(values.shape(criterion.prediction)), "target": list(values.shape(criterion.target))}
    settings = {
        name: value
        for name, value in criterion.settings.items()
        if isinstance(value, bool | int | float | str | type(None))
    }
    told: dict[str, Field] = {
        "function": criterion.name,
        "value": readable(criterion.value),
        "shapes": shapes,
        "settings": settings,
        "made_by": criterion.made_by,
        "dtypes": {"prediction": values.dtype(criterion.prediction), "target": values.dtype(criterion.target)},
    }
    try:
        prediction, target = values.to_numpy(criterion.prediction), values.to_numpy(criterion.target)
    except Unreadable:
        return told
    if not prediction.size or not target.size or max(prediction.size, target.size) > _MAX_ELEMENTS:
        return told
    weights = {
        name: values.to_numpy(value).astype(np.float64)
        for name, value in criterion.settings.items()
        if values.is_tensor(value)
    }
    wide = prediction.astype(np.float64)
    with np.errstate(all="ignore"):
        told["of_prediction"] = _of_prediction(criterion.name, wide)
        told["of_target"] = _of_target(criterion, target)
        found = recomputed(criterion.name, wide, target, LossSettings.of({**settings, **weights}))
        told["recomputed"] = None if found is None else float(found)
    return told


def _of_prediction(name: str, wide: Array) -> dict[str, Json]:
    found: dict[str, Json] = {
        "min": float(wide.min()),
        "max": float(wide.max()),
        "finite": bool(np.isfinite(wide).all()),
    }
    if name in _CLASSES and wide.ndim > 1:
        rows = class_rows(wide)
        sums, logs = rows.sum(1), np.log(np.exp(rows).sum(1))
        found |= {
            "classes": int(rows.shape[1]),
            "rows": int(rows.shape[0]),
            "sums_apart": float(np.abs(sums - 1).max()),
            "logs_apart": float(np.abs(logs).max()),
        }
    return found


def facts_of_target(criterion: Criterion, values: Values) -> dict[str, Field]:
    """What an event says of a small target alone: which of its classes count."""
    shape = values.shape(criterion.target)
    if criterion.name not in _CLASSES or math.prod(shape) > _FEW_ELEMENTS:
        return {}
    try:
        target = values.to_numpy(criterion.target)
    except Unreadable:
        return {}
    if not target.size or target.dtype.kind not in "iu":
        return {}
    shapes = {"prediction": list(values.shape(criterion.prediction)), "target": list(shape)}
    return {"shapes": shapes, "of_target": _of_target(criterion, target)}


def _of_target(criterion: Criterion, target: Array) -> dict[str, Json]:
    counted: dict[str, Json] = {}
    if criterion.name in _CLASSES and target.dtype.kind in "iu":
        counted["valid"] = int(np.count_nonzero(target != criterion.settings.get("ignore_index", -100)))
    return {
        "min": float(target.min()),
        "max": float(target.max()),
        "whole": target.dtype.kind in "iub",
        "zeros": int(target.size - np.count_nonzero(target)),
        "fingerprint": f"{fingerprint(np.ascontiguousarray(target).reshape(-1)):016x}",
        **counted,
    }
