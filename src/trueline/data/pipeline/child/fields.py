"""What is seen of one value over many samples: types, shapes, dtypes, range, and the first that is not finite."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from trueline.adapters.nouns import Value
from trueline.adapters.tree import leaves
from trueline.data.pipeline.answers import Counted, FieldJson
from trueline.kernel.array import Array
from trueline.model.numbers import encode

# Samples that are named by their index; the others are counted.
_MAX_NAMED_SAMPLES: Final = 8
# Different whole numbers that are counted one by one: labels, not measurements.
_MAX_WHOLE_VALUES: Final = 1000
# So many samples tell a mean and a standard deviation well enough.
_MEASURED_SAMPLES: Final = 256
# Samples are of another order of magnitude where the rest keeps together, and they are few and far from it.
_MIN_SAMPLES_FOR_OUTLIERS: Final = 8
_OUTLIER_FACTOR: Final = 50.0
_USUAL_FACTOR: Final = 5.0
_MAX_OUTLIER_SHARE: Final = 0.2
# A list of no more numbers may be what a sample consists of.
_MAX_STRUCTURE_LENGTH: Final = 4


class Groups:
    """How many samples have which word, and the first indexes of each."""

    def __init__(self, most: int = 64) -> None:
        self._found: dict[str, tuple[list[int], list[int]]] = {}
        self._most = most

    def add(self, word: str, sample: int) -> None:
        """One more sample."""
        if word not in self._found and len(self._found) >= self._most:
            return
        count, first = self._found.setdefault(word, ([0], []))
        count[0] += 1
        if len(first) < _MAX_NAMED_SAMPLES and sample not in first:
            first.append(sample)

    def told(self) -> dict[str, Counted]:
        """The JSON of it."""
        return {word: [count[0], first] for word, (count, first) in self._found.items()}


class FieldSeen:
    """One value of an operator's output."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._types, self._shapes, self._dtypes = Groups(), Groups(), Groups()
        self._nonfinite, self._whole = Groups(), Groups(_MAX_WHOLE_VALUES)
        self._low, self._high = math.inf, -math.inf
        self._means: list[float] = []
        self._squares: list[float] = []
        self._sizes: list[tuple[int, float]] = []
        self._there: set[int] = set()

    def see(self, sample: int, value: object, array: Array | None) -> None:
        """One sample's value; ``array`` where it is numbers."""
        self._there.add(sample)
        self._types.add(_type_name(value), sample)
        if array is None:
            return
        self._shapes.add("x".join(map(str, array.shape)) or "()", sample)
        self._dtypes.add(str(array.dtype), sample)
        if not array.size or array.dtype.kind not in "biuf":
            return
        low, high = float(array.min()), float(array.max())
        if not (math.isfinite(low) and math.isfinite(high)):
            self._not_finite(sample, array)
            finite = array[np.isfinite(array)]
            if not finite.size:
                return
            array, low, high = finite, float(finite.min()), float(finite.max())
        self._low, self._high = min(self._low, low), max(self._high, high)
        if array.size > _MAX_STRUCTURE_LENGTH:
            self._sizes.append((sample, max(abs(low), abs(high))))
        if array.size == 1 and low == int(low):
            self._whole.add(str(int(low)), sample)
        if len(self._means) < _MEASURED_SAMPLES:
            wide = array.astype(np.float64)
            self._means.append(float(wide.mean()))
            self._squares.append(float(np.square(wide).mean()))

    def _not_finite(self, sample: int, array: Array) -> None:
        for word, there in (("nan", np.isnan(array)), ("inf", np.isinf(array))):
            if there.any():
                self._nonfinite.add(word, sample)

    def told(self) -> FieldJson:
        """The JSON of an evidence.Field."""
        mean = float(np.mean(self._means)) if self._means else None
        std = None
        if mean is not None:
            std = math.sqrt(max(0.0, float(np.mean(self._squares)) - mean * mean))
        seen = self._low <= self._high
        return {
            "name": self.name,
            "types": self._types.told(),
            "shapes": self._shapes.told(),
            "dtypes": self._dtypes.told(),
            "nonfinite": self._nonfinite.told(),
            "whole": self._whole.told(),
            "low": encode(self._low) if seen else None,
            "high": encode(self._high) if seen else None,
            "mean": encode(mean) if mean is not None else None,
            "std": encode(std) if std is not None else None,
            "apart": self._apart(),
        }

    def lacking(self, samples: Sequence[int]) -> list[int]:
        """The first of these samples that do not have it."""
        return [sample for sample in samples if sample not in self._there][:_MAX_NAMED_SAMPLES]

    def _apart(self) -> tuple[float, list[int]] | None:
        """The few samples whose values are of another order of magnitude than those of all others, and how far."""
        sizes = np.array([size for _, size in self._sizes])
        if len(sizes) < _MIN_SAMPLES_FOR_OUTLIERS or not (usual := float(np.median(sizes))):
            return None
        far = sizes > _OUTLIER_FACTOR * usual
        inside = sizes[~far]
        if not far.any() or far.mean() > _MAX_OUTLIER_SHARE or float(inside.max()) > _USUAL_FACTOR * usual:
            return None
        samples = [self._sizes[at][0] for at in np.flatnonzero(far)[:_MAX_NAMED_SAMPLES]]
        return float(sizes[far].min()) / usual, samples


class Reader:
    """Values of a framework, images and numbers as arrays."""

    def __init__(self, is_tensor: Callable[[Value], bool], to_numpy: Callable[..., Array]) -> None:
        self._is_tensor, self._to_numpy = is_tensor, to_numpy

    def values(self, tree: object) -> list[tuple[str, Value]]:
        """All values of a structure by their paths: arrays, numbers, texts, and None."""
        if tree is None:
            return [("0", None)]
        return list(leaves(tree, self._is_value))

    def array(self, value: object, *, copy: bool = False) -> Array | None:
        """A value as an array; None for texts and the like."""
        if self._is_tensor(value):
            return self._to_numpy(value, copy=copy)
        if isinstance(value, np.ndarray):
            return value.copy() if copy else value
        if isinstance(value, bool | int | float | np.generic) or _is_list_of_numbers(value):
            return np.asarray(value)
        if _is_image(value):
            return np.array(value)
        return None

    def arrays(self, tree: object, *, copy: bool = False) -> list[Array]:
        """All that are numbers, in order."""
        found = (self.array(value, copy=copy) for _, value in self.values(tree))
        return [array for array in found if array is not None and array.dtype.kind in "biufc"]

    def _is_value(self, value: object) -> bool:
        if value is None or isinstance(value, np.ndarray | np.generic | bool | int | float | str | bytes):
            return True
        return self._is_tensor(value) or _is_image(value) or _is_list_of_numbers(value)


def _is_list_of_numbers(value: object) -> bool:
    """Whether this is one value and not a structure: tokens, a row of a table."""
    return (
        isinstance(value, list)
        and len(value) > _MAX_STRUCTURE_LENGTH
        and all(isinstance(number, int | float | np.number) for number in value)
    )


def _is_image(value: object) -> bool:
    return hasattr(value, "__array_interface__") and not isinstance(value, type)


def _type_name(value: object) -> str:
    kind = type(value)
    top = kind.__module__.partition(".")[0]
    return kind.__name__ if top == "builtins" else f"{top}.{kind.__name__}"
