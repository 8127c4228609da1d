"""Weights into a file that mindspore.load_checkpoint reads, written without MindSpore."""

from __future__ import annotations

import itertools
import math
import zlib
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

import numpy as np

from trueline.formats.ckpt.heads import head
from trueline.formats.ckpt.types import NAMES, TEXT
from trueline.formats.files import fault
from trueline.formats.making import Sink
from trueline.formats.outgoing import Outgoing
from trueline.formats.printable import printable
from trueline.formats.stored import Stored
from trueline.model.message import Message, message
from trueline.model.trouble import BadFile

Plain: TypeAlias = int | float | bool | str

# As MindSpore slices: a part of a protobuf message ends below 2 GB, the whole may be larger.
_SLICE: Final = 512 << 20
_LONGEST_NAME: Final = 1024
_TRAILER: Final = b"crc_num"
_SUM_SIZE: Final = 10
_PIECE: Final = 1 << 20


def cannot_hold(array: Outgoing) -> Message | None:
    """Why MindSpore would not read an array back as it is; None where it does."""
    if not _is_name(array.name):
        return message("ckpt.name", name=printable(array.name))
    if array.dtype not in NAMES:
        return message("ckpt.cannot_hold", name=printable(array.name), dtype=str(array.dtype))
    return None if array.count else message("ckpt.empty", name=printable(array.name))


def cannot_keep(name: str, value: Plain) -> Message | None:
    """Why MindSpore would not read a plain value back as it is; None where it does."""
    if not _is_name(name):
        return message("ckpt.name", name=printable(name))
    if isinstance(value, str):
        fits = not value.endswith("\0")
    else:
        fits = isinstance(value, float) or -(1 << 63) <= value < 1 << 64
    return None if fits else message("ckpt.value", name=printable(name))


def _is_name(name: str) -> bool:
    """Whether MindSpore keeps a name: it strips them, and makes up its own for an empty one."""
    if not name or name != name.strip() or len(name) > _LONGEST_NAME or "\0" in name:
        return False
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def write_ckpt(sink: Sink, arrays: Sequence[Outgoing], others: Mapping[str, Plain] = {}) -> None:
    """Arrays in their order and then plain values, as save_checkpoint writes a network and its append_dict.

    A BadFile where one cannot be held, or where two have the same name, before anything is written.
    """
    _check(sink, arrays, others)
    for array in arrays:
        _put(sink, array)
    for name, value in others.items():
        sink.write(_plain(name, value))
    _keep_the_end(sink)


def _check(sink: Sink, arrays: Sequence[Outgoing], others: Mapping[str, Plain]) -> None:
    if not arrays:
        raise fault(sink.path, "no_arrays")
    troubles = itertools.chain(map(cannot_hold, arrays), itertools.starmap(cannot_keep, others.items()))
    if (trouble := next(filter(None, troubles), None)) is not None:
        raise BadFile(sink.path, trouble.text())
    seen: set[str] = set()
    for name in itertools.chain((array.name for array in arrays), others):
        # One after the other they would be read as slices of one tensor.
        if name in seen:
            raise fault(sink.path, "same_name", name=printable(name))
        seen.add(name)


def _put(sink: Sink, array: Outgoing) -> None:
    kind = NAMES[array.dtype]
    left, room = array.nbytes, 0
    for piece in array.pieces():
        rest = piece
        while rest.size:
            if not room:
                room = min(left, _SLICE)
                sink.write(head(array.name, array.shape, kind, room))
            part, rest = rest[:room], rest[room:]
            sink.pour(Outgoing(array.name, part.shape, part.dtype, part))
            left -= part.size
            room -= part.size
    if left:
        # The file it comes from has become shorter since its header was read.
        raise fault(array.source.path if isinstance(array.source, Stored) else sink.path, "cut_short")


def _plain(name: str, value: Plain) -> bytes:
    if isinstance(value, str):
        # As NumPy keeps a text; an empty one as a single zero.
        content = (value or "\0").encode("utf-32-le", "surrogatepass")
        return head(name, (0,), TEXT, len(content)) + content
    held = np.array(value, _dtype_of(value))
    return head(name, (), NAMES[held.dtype], held.nbytes) + held.tobytes()


def _dtype_of(value: float) -> np.dtype[np.generic]:
    """MindSpore's own choice for a number, and a larger one where that would change it."""
    if isinstance(value, bool):
        return np.dtype(np.bool_)
    if isinstance(value, int):
        return np.dtype(np.int64 if value < 1 << 63 else np.uint64)
    with np.errstate(over="ignore"):
        same = math.isnan(value) or float(np.float32(value)) == value
    return np.dtype(np.float32 if same else np.float64)


def _keep_the_end(sink: Sink) -> None:
    """A file whose last bytes happen to look like a checksum's trailer gets a true one, or they would be cut off."""
    with sink.part.open("rb") as file:
        file.seek(max(0, sink.position - len(_TRAILER) - _SUM_SIZE))
        if not file.read().startswith(_TRAILER):
            return
        file.seek(0)
        crc = 0
        while data := file.read(_PIECE):
            crc = zlib.crc32(data, crc)
    sink.write(_TRAILER + crc.to_bytes(_SUM_SIZE, "big"))
