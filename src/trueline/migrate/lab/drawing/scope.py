"""What the expressions of a drawing table mean: sizes, shapes and arrays, drawn as they are first named."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from trueline.kernel.array import Array
from trueline.migrate.lab.conditions import arrays_in
from trueline.migrate.lab.draw import DrawnValue, DType, Strided
from trueline.migrate.lab.drawing import arrays
from trueline.migrate.lab.drawing.arrays import Values
from trueline.migrate.lab.drawing.edges import OF_SOME, Edge, float_on_edge, whole_on_edge

# How many axes the shapes have that a table names; an edge may make them empty, one element or 0-d.
SHAPES: Final[Mapping[str, tuple[int, int]]] = {"S": (1, 3), "S2": (2, 3), "B": (0, 2)}
_SIZES: Final = (2, 5)  # from, and below
# How often an array is left ordinary whose call stands on an edge of numbers.
_FIRST_SPARED: Final = 0.2
_OTHERS_SPARED: Final = 0.7
# Arrays with a structure that no edge of their values may break.
_STRUCTURED: Final[Mapping[str, Callable[..., Array]]] = {
    "complex": arrays.complex_numbers,
    "distinct": arrays.distinct,
    "invertible": arrays.invertible,
    "labels": arrays.labels,
    "log_probabilities": arrays.log_probabilities,
    "lower": arrays.lower,
    "one_hot": arrays.one_hot,
    "pivots": arrays.pivots,
    "pooled": arrays.pooled,
    "positive_definite": arrays.positive_definite,
    "stochastic": arrays.stochastic,
}


class Scope:
    """What is drawn so far of one call."""

    def __init__(self, rng: np.random.Generator, edge: Edge | None, ranges: Mapping[str, Values]) -> None:
        self.rng = rng
        self.edge = edge
        self.values: dict[str, DrawnValue] = {}
        self.applied = False
        self._ranges = ranges
        self._symbols: dict[str, Any] = {}
        self._float_arrays = 0
        self._tied = np.empty(0)  # the numbers that all arrays of a call have in common where ties are the edge
        self._calls: dict[str, Callable[..., DrawnValue]] = {
            "as_float": lambda array: self._typed(array.astype(np.float32)),
            "axes": self.axes,
            "axis": self.axis,
            "axis_at": self.axis_at,
            "bool": lambda: bool(self.rng.integers(2)),
            "broadcast": self.broadcast,
            "dtype": lambda *names: DType(str(self.rng.choice(names))),
            "float": lambda low, high: round(round(float(self.rng.uniform(low, high)) * 20) / 20, 2),
            "index": self.index,
            "int": lambda low, high: int(self.rng.integers(low, high + 1)),
            "mask": lambda *shape: self.rng.random(shape) < 0.6,
            "new_axis": self.new_axis,
            "one_of": lambda numbers, *shape: np.asarray(self.rng.choice(numbers, shape)),
            "sorted": lambda array: np.sort(array, axis=-1),
            "whole": self.whole,
        }

    def bind(self, name: str, value: Any) -> None:
        """Give a size or shape its value."""
        self._symbols[name] = value

    def look_up(self, name: str) -> Any:
        """The argument, size or shape of a name; a size or shape is drawn when it is first named."""
        if name in self.values:
            return self.values[name]
        if name not in self._symbols:
            if not name[0].isupper():
                raise LookupError(f"no argument before this one is named {name}")
            self._symbols[name] = self._shape(*SHAPES[name]) if name in SHAPES else self._size(name)
        return self._symbols[name]

    def call(self, name: str, arguments: Sequence[Any]) -> DrawnValue:
        """What a function of the language draws."""
        if name in self._calls:
            drawn = self._calls[name](*arguments)
            return np.asarray(drawn) if isinstance(drawn, np.generic) else drawn  # NumPy unpacks what has no axes
        if name in _STRUCTURED:
            return self._typed(_STRUCTURED[name](self.rng, *arguments))
        return self.floats(self._ranges[name], tuple(arguments))

    def primary(self) -> Array:
        """The first array of the call: the one that axes and sizes speak of."""
        for value in self.values.values():
            for array, _ in arrays_in(value):
                return array
        return np.empty((1, 1))

    def floats(self, values: Values, shape: tuple[int, ...]) -> Array:
        """Float32 numbers of a range, on the edge where there is one."""
        array = arrays.floats(self.rng, values, shape, self._float_arrays)
        self._float_arrays += 1
        if self.edge is None:
            return array
        if self.edge is Edge.MIXED_TYPES:
            return self._of_other_type(array)
        if (
            self.edge is Edge.TIES
            and self._tied.size
            and values.low < self._tied.min() <= self._tied.max() < values.high
        ):
            self.applied = True
            return np.asarray(self.rng.choice(self._tied, shape))
        if self.edge in OF_SOME and self.rng.random() < (_OTHERS_SPARED if self.applied else _FIRST_SPARED):
            return array
        moved = float_on_edge(array, self.edge, self.rng, (values.low, values.high))
        if moved is None:
            return array
        self.applied = True
        if self.edge is Edge.TIES:
            self._tied = np.unique(moved)
        return moved

    def whole(self, low: int, high: int, *shape: int) -> Array:
        """Whole numbers of int64, bounds included."""
        array = self.rng.integers(low, high + 1, shape)
        moved = None if self.edge is None else whole_on_edge(array, self.edge, self.rng)
        if moved is None:
            return array
        self.applied = True
        return moved

    def index(self, bound: int, *shape: int) -> Array:
        """Indices below a bound."""
        array = self.rng.integers(0, max(bound, 1), shape)
        if self.edge is not Edge.INT32:
            return array
        self.applied = True
        return array.astype(np.int32)

    def axis(self) -> int:
        """An axis of the first array."""
        rank = max(self.primary().ndim, 1)
        return self._signed(int(self.rng.integers(rank)), rank)

    def axis_at(self, place: int) -> int:
        """The axis of the first array at a place, counted from the end where that is the edge."""
        return self._signed(place, self.primary().ndim)

    def new_axis(self) -> int:
        """An axis of an array that has one axis more than the first."""
        rank = self.primary().ndim + 1
        return self._signed(int(self.rng.integers(rank)), rank)

    def axes(self, count: int = 0) -> tuple[int, ...]:
        """Several axes of the first array, each once."""
        rank = self.primary().ndim
        count = min(count, rank) or int(self.rng.integers(min(1, rank), rank + 1))
        return tuple(self._signed(int(axis), rank) for axis in self.rng.permutation(rank)[:count])

    def broadcast(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """The shape; one that broadcasts to it where that is the edge."""
        if self.edge is not Edge.BROADCAST or not shape or max(shape) == 1:
            return shape
        self.applied = True
        kept = int(self.rng.integers(len(shape)))
        if len(shape) > 1 and self.rng.random() < 0.5:
            return shape[max(kept, 1) :]
        return tuple(1 if axis == kept or self.rng.random() < 0.3 else size for axis, size in enumerate(shape))

    def strided(self) -> None:
        """Make the first array that has several elements one that is not contiguous, where that is the edge."""
        if self.edge is not Edge.STRIDED:
            return
        for name, value in self.values.items():
            if isinstance(value, np.ndarray) and value.ndim and value.size > 1:
                self.values[name] = Strided(value)
                self.applied = True
                return

    def _signed(self, axis: int, rank: int) -> int:
        if self.edge is not Edge.NEGATIVE_AXIS:
            return axis
        self.applied = True
        return axis - rank

    def _of_other_type(self, array: Array) -> Array:
        """The second array of the call in another type than the first."""
        if self._float_arrays != 2:
            return array
        self.applied = True
        kind = self.rng.choice(["int64", "float64", "float16"])
        return np.asarray(np.ceil(array) if kind == "int64" else array, dtype=kind)

    def _typed(self, array: Array) -> Array:
        if self.edge not in (Edge.FLOAT16, Edge.FLOAT64) or array.dtype != np.float32:
            return array
        self.applied = True
        return array.astype(self.edge.value)

    def _size(self, name: str) -> int:
        if self.edge is Edge.EMPTY and name == "N":
            self.applied = True
            return 0
        if self.edge is Edge.ONE_ELEMENT:
            self.applied = True
            return 1
        return int(self.rng.integers(*_SIZES))

    def _shape(self, least: int, most: int) -> tuple[int, ...]:
        rank = int(self.rng.integers(least, most + 1))
        shape = [int(size) for size in self.rng.integers(*_SIZES, rank)]
        match self.edge:
            case Edge.ZERO_D if least == 1:
                shape = []
            case Edge.EMPTY if rank:
                shape[int(self.rng.integers(rank))] = 0
            case Edge.ONE_ELEMENT if rank:
                shape = [1] * rank
            case _:
                return tuple(shape)
        self.applied = True
        return tuple(shape)
