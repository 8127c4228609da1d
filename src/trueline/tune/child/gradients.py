"""The gradients of one update as they come out of backward, counted by size."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from trueline.adapters.nouns import Unreadable, Value
from trueline.adapters.protocol import Values
from trueline.kernel.array import Array
from trueline.kernel.exponents import Exponents, count_exponents
from trueline.model.json_value import Json

# Gradients of half precision are known by so many different values at least.
_MIN_DISTINCT_VALUES: Final = 16


class Taken:
    """Gradients of one kind, those of parameters or those of what modules return."""

    def __init__(self) -> None:
        self.exponents = Exponents.none()
        self.largest = 0.0
        self.nonfinite = False
        self.squares = 0.0

    def add(self, array: Array, scale: float, *, whole: bool) -> None:
        """One more, as it is with this scale; without ``whole`` only its largest element is looked at."""
        if not array.size:
            return
        if whole:
            found = count_exponents(array, divided_by=scale)
            self.exponents = self.exponents + found
            largest, finite = found.largest, not found.nonfinite
            flat = array.astype(np.float64).reshape(-1)
            self.squares += float(flat @ flat)
        else:
            single = np.asarray(array, np.float32)
            most = max(float(single.max()), -float(single.min()))
            finite = math.isfinite(most)
            largest = most / scale if finite else 0.0
        self.largest = max(self.largest, largest)
        self.nonfinite = self.nonfinite or not finite

    def to_json(self) -> dict[str, Json]:
        """What is told of them."""
        found = self.exponents
        return {
            "largest": self.largest,
            "nonfinite": self.nonfinite,
            "zeros": found.zeros,
            "total": found.total,
            "counts": {str(exponent): count for exponent, count in found.by_exponent().items()},
        }


class Halves:
    """Which parameters' gradients have been half precision on their way, whatever they are when they arrive."""

    def __init__(self) -> None:
        self._known: dict[int, bool] = {}
        self.seen = False
        """Whether anything of this training is surely in half precision."""

    def came_through(self, parameter: Value, array: Array) -> bool:
        """All that half precision hands on is exactly a number of half precision; other numbers hardly ever are."""
        if array.dtype == np.float16:
            self.seen = True
            return True
        known = self._known.get(id(parameter))
        if known is None:
            finite = array[np.isfinite(array) & (array != 0)]
            if not finite.size:
                return True
            with np.errstate(over="ignore"):
                known = bool((finite.astype(np.float16).astype(finite.dtype) == finite).all())
            self._known[id(parameter)] = known
            self.seen = self.seen or (known and len(np.unique(finite)) >= _MIN_DISTINCT_VALUES)
        return known


def read_array(values: Values, gradient: Value) -> Array | None:
    """Its values, where it has any that are floating point."""
    try:
        array = values.to_numpy(gradient)
    except Unreadable:
        return None
    return array if array.dtype.kind == "f" or array.dtype.name == "bfloat16" else None
