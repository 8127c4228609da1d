"""The messages between a side and its process: a line of JSON, followed by the arrays it declares."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Protocol

import numpy as np

from trueline.kernel.array import Array, DType

Content = dict[str, Any]

MAX_LINE_BYTES: Final = 1 << 28
_MAX_DIMENSIONS: Final = 32
_ARRAYS: Final = "arrays"


class Garbled(Exception):  # noqa: N818
    """Malformed bytes in place of a message."""


class Source(Protocol):
    """A source of messages."""

    def line(self) -> bytes:
        """The next line; empty at end of file."""
        ...

    def fill(self, room: memoryview) -> None:
        """Exactly as many bytes as the buffer holds."""
        ...


def packed(content: Mapping[str, object], arrays: Sequence[Array] = ()) -> Iterator[bytes | memoryview]:
    """A message as the bytes to write, in order."""
    named = [[array.dtype.name, list(array.shape)] for array in arrays]
    # ASCII, so that no text of a user's can be one that UTF-8 does not know.
    yield json.dumps({**content, _ARRAYS: named}).encode("ascii") + b"\n"
    for array in arrays:
        native = np.ascontiguousarray(array.astype(array.dtype.newbyteorder("="), copy=False))
        if native.size:
            yield native.reshape(-1).view(np.uint8).data


def unpacked(source: Source) -> tuple[Content, list[Array]] | None:
    """The next message; None at end of file."""
    line = source.line()
    if not line:
        return None
    try:
        content = json.loads(line)
        arrays = [_room(*described) for described in content.pop(_ARRAYS)]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, MemoryError) as error:
        raise Garbled(str(error)) from None
    for array in arrays:
        if array.size:
            source.fill(array.reshape(-1).view(np.uint8).data)
    return content, arrays


def _room(name: object, shape: object) -> Array:
    if not isinstance(shape, list) or not all(isinstance(side, int) and side >= 0 for side in shape):
        raise ValueError("shape")
    if len(shape) > _MAX_DIMENSIONS or math.prod(side for side in shape if side) >= 1 << 48:
        raise ValueError("shape")
    dtype = _dtype(name)
    if dtype.kind not in "?biufcV" or dtype.names is not None:
        raise ValueError("dtype")
    return np.empty(shape, dtype)


def _dtype(name: object) -> DType:
    if not isinstance(name, str) or not name.isidentifier():
        # Of a text with commas NumPy makes a record, and parses it as Python does.
        raise ValueError("dtype")
    try:
        # MindSpore, once imported, gives NumPy another type of the name bfloat16.
        dtype = np.dtype(name) if name != "bfloat16" else None
    except TypeError:
        dtype = None
    if dtype is not None:
        return dtype
    import ml_dtypes

    return np.dtype(getattr(ml_dtypes, name))
