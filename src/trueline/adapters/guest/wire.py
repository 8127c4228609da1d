"""The messages between a side and its process: a line of JSON, then the arrays it declares that are not beside it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Protocol

import numpy as np

from trueline.adapters.guest.segments import MIN_BYTES, Channel, Outgoing, Segment, Unsealed
from trueline.kernel.array import Array, DType

Content = dict[str, Any]

MAX_LINE_BYTES: Final = 1 << 28
_MAX_DIMENSIONS: Final = 32
# What describes an array that follows its line: a type and a shape; one beside it has a segment and an offset too.
_INLINE: Final = 2
_ARRAYS: Final = "arrays"
_SEGMENTS: Final = "segments"


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


def packed(
    content: Mapping[str, object], arrays: Sequence[Array] = (), channel: Channel | None = None
) -> Iterator[bytes | memoryview]:
    """A message as the bytes to write, in order; large arrays lie beside it where there is a channel."""
    natives = [np.asarray(array, array.dtype.newbyteorder("="), order="C") for array in arrays]
    beside = {place for place, array in enumerate(natives) if channel is not None and array.nbytes >= MIN_BYTES}
    outgoing = Outgoing()
    named = [
        [array.dtype.name, list(array.shape), *(outgoing.place(array) if place in beside else ())]
        for place, array in enumerate(natives)
    ]
    segments = 0
    if channel is not None and beside:
        with outgoing.written() as descriptors:
            segments = len(descriptors)
            channel.give(descriptors)
    # ASCII, so that no text of a user's can be one that UTF-8 does not know.
    yield json.dumps({**content, _ARRAYS: named, _SEGMENTS: segments}).encode("ascii") + b"\n"
    for place, native in enumerate(natives):
        if native.size and place not in beside:
            yield native.reshape(-1).view(np.uint8).data


def unpacked(
    source: Source, channel: Channel | None = None, *, writeable: bool = True
) -> tuple[Content, list[Array]] | None:
    """The next message; None at end of file. What is not ``writeable`` goes on to another process as it is."""
    line = source.line()
    if not line:
        return None
    try:
        content = json.loads(line)
        described, count = content.pop(_ARRAYS), content.pop(_SEGMENTS, 0)
        if not isinstance(count, int) or not 0 <= count <= len(described) + 1:
            raise ValueError(_SEGMENTS)
        segments = channel.take(count) if channel is not None else []
        places = [_room(*each[:2]) if len(each) == _INLINE else _beside(segments, *each) for each in described]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, MemoryError, Unsealed) as error:
        raise Garbled(str(error)) from None
    for array, each in zip(places, described, strict=True):
        if len(each) != _INLINE:
            array.flags.writeable = writeable
        elif array.size:
            source.fill(array.reshape(-1).view(np.uint8).data)
    return content, places


def _room(name: object, shape: object) -> Array:
    return np.empty(*_described(name, shape))


def _beside(segments: Sequence[Segment], name: object, shape: object, number: object, offset: object) -> Array:
    """An array where it lies in a segment."""
    sides, dtype = _described(name, shape)
    if not isinstance(number, int) or not isinstance(offset, int) or not 0 <= number < len(segments):
        raise ValueError(_SEGMENTS)
    return segments[number].bytes_at(offset, math.prod(sides) * dtype.itemsize).view(dtype).reshape(sides)


def _described(name: object, shape: object) -> tuple[list[int], DType]:
    """The shape and the type of an array; ValueError where there is no such thing."""
    if not isinstance(shape, list) or not all(isinstance(side, int) and side >= 0 for side in shape):
        raise ValueError("shape")
    if len(shape) > _MAX_DIMENSIONS or math.prod(side for side in shape if side) >= 1 << 48:
        raise ValueError("shape")
    dtype = _dtype(name)
    if dtype.kind not in "?biufcV" or dtype.names is not None:
        raise ValueError("dtype")
    return shape, dtype


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
