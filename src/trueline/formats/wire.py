"""Protobuf's wire format, as far as files of this kind need it: fields of a message as numbers and views."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from typing import TypeAlias

Value: TypeAlias = "int | memoryview"


class BadWire(ValueError):  # noqa: N818
    """The bytes are not a protobuf message."""


class Wire(IntEnum):
    """How a field's value is written."""

    VARINT = 0
    FIXED64 = 1
    BYTES = 2
    FIXED32 = 5


_FIXED = {Wire.FIXED64: 8, Wire.FIXED32: 4}


def fields(data: memoryview) -> Iterator[tuple[int, int, Value, int]]:
    """(number, wire type, value, where the value begins in ``data``) of each field, in order; nothing is copied."""
    at, end = 0, len(data)
    while at < end:
        tag, at = varint(data, at)
        number, kind = tag >> 3, tag & 7
        if not number:
            raise BadWire("field number 0")
        if kind == Wire.VARINT:
            value, after = varint(data, at)
            yield number, kind, value, at
            at = after
            continue
        if kind == Wire.BYTES:
            size, at = varint(data, at)
        elif kind in _FIXED:
            size = _FIXED[Wire(kind)]
        else:
            raise BadWire(f"wire type {kind}")
        if size > end - at:
            raise BadWire("cut short")
        yield number, kind, data[at : at + size], at
        at += size


def varint(data: memoryview, at: int) -> tuple[int, int]:
    """The number at a place, and the place after it."""
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise BadWire("cut short")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFF_FFFF_FFFF_FFFF, at
        shift += 7


def signed(value: int) -> int:
    """A varint as the int64 it stands for."""
    return value - (1 << 64) if value >> 63 else value
