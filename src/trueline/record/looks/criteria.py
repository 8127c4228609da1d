"""A loss function of the framework as it was called: what goes in, what comes out, and the same in NumPy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from trueline.adapters.nouns import Unreadable
from trueline.adapters.protocol import Values
from trueline.kernel import fingerprint
from trueline.kernel.array import Array
from trueline.record.looks.numpy_losses import class_rows, recomputed

_MOST_ELEMENTS: Final = 1 << 20
_CLASSES: Final = ("cross_entropy", "nll_loss")


@dataclass(frozen=True, slots=True)
class Criterion:
    """One call of a loss function: its plain name, its first two arguments, its settings and what it gave."""

    name: str
    prediction: Any
    target: Any
    settings: Mapping[str, Any]
    value: Any
    made_by: str | None = None


def facts(one: Criterion, values: Values, readable: Callable[[Any], Any]) -> dict[str, Any]:
    """What an event says of it; without the numbers where there are too many of them."""
    shapes = {"prediction": list(values.shape(one.prediction)), "target": list(values.shape(one.target))}
    settings = {
        name: value for name, value in one.settings.items() if isinstance(value, bool | int | float | str | type(None))
    }
    told: dict[str, Any] = {
        "function": one.name,
        "value": readable(one.value),
        "shapes": shapes,
        "settings": settings,
        "made_by": one.made_by,
        "dtypes": {"prediction": values.dtype(one.prediction), "target": values.dtype(one.target)},
    }
    try:
        prediction, target = values.to_numpy(one.prediction), values.to_numpy(one.target)
    except Unreadable:
        return told
    if not prediction.size or not target.size or max(prediction.size, target.size) > _MOST_ELEMENTS:
        return told
    weights = {
        name: values.to_numpy(value).astype(np.float64)
        for name, value in one.settings.items()
        if values.is_tensor(value)
    }
    wide = prediction.astype(np.float64)
    with np.errstate(all="ignore"):
        told["of_prediction"] = _of_prediction(one.name, wide)
        told["of_target"] = _of_target(target)
        found = recomputed(one.name, wide, target, {**settings, **weights})
        told["recomputed"] = None if found is None else float(found)
    return told


def _of_prediction(name: str, wide: Array) -> dict[str, Any]:
    found = {"min": float(wide.min()), "max": float(wide.max()), "finite": bool(np.isfinite(wide).all())}
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


def _of_target(target: Array) -> dict[str, Any]:
    return {
        "min": float(target.min()),
        "max": float(target.max()),
        "whole": target.dtype.kind in "iub",
        "zeros": int(target.size - np.count_nonzero(target)),
        "fingerprint": f"{fingerprint(np.ascontiguousarray(target).reshape(-1)):016x}",
    }
