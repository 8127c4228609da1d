"""What stands before a tensor's elements in a .ckpt: protobuf's tags and sizes, its name, shape and type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from trueline.formats.wire import Wire

_VALUE: Final = 1
_NAME: Final = 1
_TENSOR: Final = 2
_SIDE: Final = 1
_TYPE: Final = 2
_CONTENT: Final = 3


def head(name: str, shape: Sequence[int], kind: str, size: int) -> bytes:
    """The bytes before ``size`` bytes of elements of a tensor, or of one slice of it."""
    sides = b"".join(_tag(_SIDE, Wire.VARINT) + _varint(side) for side in shape)
    tensor = sides + _text(_TYPE, kind) + _tag(_CONTENT, Wire.BYTES) + _varint(size)
    value = _text(_NAME, name) + _tag(_TENSOR, Wire.BYTES) + _varint(len(tensor) + size) + tensor
    return _tag(_VALUE, Wire.BYTES) + _varint(len(value) + size) + value


def _text(number: int, text: str) -> bytes:
    content = text.encode()
    return _tag(number, Wire.BYTES) + _varint(len(content)) + content


def _tag(number: int, kind: Wire) -> bytes:
    return _varint(number << 3 | kind)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
