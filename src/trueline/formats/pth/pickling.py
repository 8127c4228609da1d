"""Pickles of plain values and tensors, written opcode by opcode: protocol 2, which every torch reads."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Final

_PROTOCOL: Final = b"\x80\x02"
_NONE, _TRUE, _FALSE = b"N", b"\x88", b"\x89"
_MARK, _TUPLE, _REDUCE, _PERSISTENT, _STOP = b"(", b"t", b"R", b"Q", b"."
# Tuples of up to three parts need no mark.
_SHORT_TUPLES: Final = (b")", b"\x85", b"\x86", b"\x87")
_EMPTY_LIST, _APPENDS = b"]", b"e"
_EMPTY_DICT, _SETITEMS = b"}", b"u"
# torch.load(weights_only=True) knows no larger integers.
_MOST_INT_BYTES: Final = 255


class HugeNumber(ValueError):  # noqa: N818
    """An integer that torch.load would not read."""


class Pickling:
    """One pickle in the making; what a user asks for is appended in order."""

    def __init__(self) -> None:
        self._code = bytearray(_PROTOCOL)
        self._known: dict[bytes, int] = {}

    def done(self) -> bytes:
        """The whole pickle, whose value is the one thing that was put."""
        return bytes(self._code + _STOP)

    def plain(self, value: object) -> None:
        """None, a truth value, a number or a text."""
        if value is None:
            self._code += _NONE
        elif isinstance(value, bool):
            self._code += _TRUE if value else _FALSE
        elif isinstance(value, int):
            self._code += _whole(value)
        elif isinstance(value, float):
            self._code += struct.pack(">cd", b"G", value)
        elif isinstance(value, str):
            self._code += _text(value)
        else:
            raise TypeError(type(value).__name__)

    def open_dict(self, held: Mapping[object, object]) -> None:
        """A dictionary begins: its keys and values are put in turn, then it is closed."""
        self._code += _EMPTY_DICT + (_MARK if held else b"")

    def close_dict(self, held: Mapping[object, object]) -> None:
        """All keys and values are there."""
        self._code += _SETITEMS if held else b""

    def open_list(self, held: Sequence[object]) -> None:
        """A list begins: its parts are put, then it is closed."""
        self._code += _EMPTY_LIST + (_MARK if held else b"")

    def close_list(self, held: Sequence[object]) -> None:
        """All parts are there."""
        self._code += _APPENDS if held else b""

    def open_tuple(self, held: Sequence[object]) -> None:
        """A tuple begins: its parts are put, then it is closed."""
        self._code += b"" if len(held) < len(_SHORT_TUPLES) else _MARK

    def close_tuple(self, held: Sequence[object]) -> None:
        """All parts are there."""
        self._code += _SHORT_TUPLES[len(held)] if len(held) < len(_SHORT_TUPLES) else _TUPLE

    def tensor(self, *, typed: str | None, dtype: str, key: str, size: int, shape: tuple[int, ...]) -> None:
        """A contiguous tensor over a whole storage, of a ``typed`` storage class or else of bytes and a dtype.

        ``size`` is the storage's: in elements where it is typed, in bytes otherwise.
        """
        self._constant(_global("torch._utils", "_rebuild_tensor_v2" if typed else "_rebuild_tensor_v3"))
        self._code += _MARK
        self._code += _MARK
        self._constant(_text("storage"))
        self._constant(_global("torch", typed) if typed else _global("torch.storage", "UntypedStorage"))
        self._code += _text(key)
        self._constant(_text("cpu"))
        self._code += _whole(size) + _TUPLE + _PERSISTENT
        self._code += _whole(0)
        self._numbers(shape)
        self._numbers(_strides(shape))
        # It needs no gradient, and has no hooks for one.
        self._code += _FALSE
        self._constant(_global("collections", "OrderedDict"))
        self._code += _SHORT_TUPLES[0] + _REDUCE
        if not typed:
            self._constant(_global("torch", dtype))
        self._code += _TUPLE + _REDUCE

    def _numbers(self, numbers: tuple[int, ...]) -> None:
        self.open_tuple(numbers)
        for number in numbers:
            self._code += _whole(number)
        self.close_tuple(numbers)

    def _constant(self, code: bytes) -> None:
        """What is the same in many tensors is written once and then referred to; there are few such things."""
        place = self._known.get(code)
        if place is None:
            place = self._known[code] = len(self._known)
            self._code += code + b"q" + bytes([place])
        else:
            self._code += b"h" + bytes([place])


def _whole(value: int) -> bytes:
    if 0 <= value < 1 << 8:
        return b"K" + bytes([value])
    if 0 <= value < 1 << 16:
        return struct.pack("<cH", b"M", value)
    if -(1 << 31) <= value < 1 << 31:
        return struct.pack("<ci", b"J", value)
    length = value.bit_length() // 8 + 1
    if length > _MOST_INT_BYTES:
        raise HugeNumber
    return b"\x8a" + bytes([length]) + value.to_bytes(length, "little", signed=True)


def _text(value: str) -> bytes:
    raw = value.encode("utf-8", "surrogatepass")
    return struct.pack("<cL", b"X", len(raw)) + raw


def _global(module: str, name: str) -> bytes:
    return f"c{module}\n{name}\n".encode()


def _strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """How far apart neighbours are in C order, in elements; torch counts an empty side as one."""
    steps, step = [], 1
    for side in reversed(shape):
        steps.append(step)
        step *= max(side, 1)
    return tuple(reversed(steps))
