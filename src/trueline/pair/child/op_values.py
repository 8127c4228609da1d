"""The values that a block's operators take and give: each numbered once, and copied as it is at that moment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from trueline.adapters.nouns import Unreadable, Value
from trueline.adapters.protocol import Values
from trueline.kernel import UnsupportedDtype, fingerprint
from trueline.kernel.array import Array

# An array with fewer numbers may equal another by chance.
_MIN_TELLING_SIZE: Final = 4

_Mark = tuple[str, tuple[int, ...], int]


class SeenValues:
    """Numbers tensors by identity and content: one that was written in place is another value from then on.

    A tensor that comes from nowhere but has the content of an earlier value is that value: the framework has copied
    it behind the scenes.
    """

    def __init__(self, values: Values, names: Mapping[int, str], max_bytes: int) -> None:
        self._values, self._names_by_id, self._left = values, names, max_bytes
        self._seen: dict[int, tuple[Value, _Mark, int]] = {}
        self._same: dict[_Mark, int] = {}
        self.arrays: list[Array | None] = []
        self.names: dict[int, str] = {}

    def before(self, tensor: Value, outputs: Sequence[Value] = ()) -> int | None:
        """The number of an op's input; where the op has just written into it, of what it was before, if known."""
        array, mark = self._read(tensor)
        known = self._seen.get(id(tensor))
        if known is not None and (known[1] == mark or mark in [self._read(output)[1] for output in outputs]):
            return known[2]
        if known is None and any(output is tensor for output in outputs) and id(tensor) not in self._names_by_id:
            return None
        same = self._same.get(mark) if _telling(array) else None
        return self._hold(tensor, mark, same) if same is not None else self._add(tensor, array, mark)

    def after(self, tensor: Value) -> int:
        """The number of an op's output: a new one, unless it is a tensor that the op has left as it was."""
        array, mark = self._read(tensor)
        known = self._seen.get(id(tensor))
        if known is not None and known[1] == mark:
            return known[2]
        return self._add(tensor, array, mark)

    def numbers(self) -> Iterator[tuple[int, int]]:
        """The identity of each tensor that was seen, and the number of its value."""
        return ((place, number) for place, (_, _, number) in self._seen.items())

    def _read(self, tensor: Value) -> tuple[Array | None, _Mark]:
        shape = self._values.shape(tensor)
        try:
            array = self._values.to_numpy(tensor)
            return array, (array.dtype.name, shape, fingerprint(np.ascontiguousarray(array)))
        except (Unreadable, UnsupportedDtype):
            return None, (self._values.dtype(tensor), shape, id(tensor))

    def _add(self, tensor: Value, array: Array | None, mark: _Mark) -> int:
        number = len(self.arrays)
        fits = array is not None and array.nbytes <= self._left
        if array is not None and fits:
            self._left -= array.nbytes
            self.arrays.append(np.array(array, copy=True))
        else:
            self.arrays.append(None)
        self._same[mark] = number
        if id(tensor) in self._names_by_id:
            self.names[number] = self._names_by_id[id(tensor)]
        return self._hold(tensor, mark, number)

    def _hold(self, tensor: Value, mark: _Mark, number: int) -> int:
        # The tensor itself is held too, so that no other can get its identity.
        self._seen[id(tensor)] = (tensor, mark, number)
        return number


def _telling(array: Array | None) -> bool:
    if array is None or array.size < _MIN_TELLING_SIZE or array.dtype.kind not in "fV":
        return False
    flat = array.reshape(-1)
    return bool((flat != flat[0]).any())
