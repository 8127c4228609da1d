"""Under which condition a call stands that is no ordinary one: what the edges of an API are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np

from trueline.kernel.array import Array
from trueline.migrate.lab.draw import Draw, DrawnValue, DType, Strided

# Numbers beyond this are large: their exponentials leave float32.
LARGE: Final = 100.0
_OTHER_FLOATS: Final = ("float16", "bfloat16", "float64")
# Only where the process has made other calls before.
AFTER_OTHERS: Final = "after_others"
# Only at numbers where the gradient jumps.
KINK: Final = "kink"


def conditions_of(draw: Draw) -> frozenset[str]:
    """All conditions of a call; none for finite float32 tensors of one or more axes and several elements."""
    found = set(draw.conditions)
    largest = np.empty(0)
    for value in (*draw.values.values(), *draw.build.values()):
        if isinstance(value, DType) and value.name in _OTHER_FLOATS:
            found.add(value.name)
        for array, strided in arrays_in(value):
            found.update(_of_array(array))
            largest = max(largest, array, key=np.size)
            if strided:
                found.add("strided")
    if largest.size == 1 and largest.ndim:
        found.add("one_element")
    return frozenset(found)


def arrays_in(value: DrawnValue) -> Iterator[tuple[Array, bool]]:
    """The arrays of a value, and whether each becomes a tensor that is not contiguous."""
    if isinstance(value, np.ndarray):
        yield value, False
    elif isinstance(value, Strided):
        yield value.array, True
    elif isinstance(value, list | tuple):
        for element in value:
            yield from arrays_in(element)


def _of_array(array: Array) -> Iterable[str]:
    if array.ndim == 0:
        yield "0-d"
    if array.size == 0:
        yield "empty"
        return
    if array.dtype.kind == "c":
        yield "complex"
    elif array.dtype.kind == "f" or array.dtype.name == "bfloat16":
        if array.dtype != np.float32:
            yield array.dtype.name
        wide = array.astype(np.float64)
        finite = np.isfinite(wide)
        if np.isnan(wide).any():
            yield "nan"
        if np.isinf(wide).any():
            yield "inf"
        if (np.signbit(wide) & (wide == 0)).any():
            yield "negative_zero"
        if np.abs(wide[finite]).max(initial=0.0) > LARGE:
            yield "large"
