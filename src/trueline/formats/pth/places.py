"""From a tensor of the pickle to where its elements lie in the file."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from trueline.formats.files import fault
from trueline.formats.printable import printable
from trueline.formats.pth.trouble import BadPickle
from trueline.formats.pth.values import Storage, StorageType, Tensor
from trueline.formats.stored import Stored

# An expanded view repeats few bytes; beyond this it is no weight but a trap.
_MOST_EXPANDED: Final = 1 << 30


@dataclass(frozen=True, slots=True)
class Place:
    """Where a storage's bytes lie: in the file, or in the inflated member of an archive."""

    start: int
    nbytes: int
    member: str | None = None


def storage(found: object, parts: int) -> Storage:
    """The storage a persistent id speaks of: ('storage', its type, its key, its device, how many elements, ...)."""
    if not isinstance(found, tuple) or len(found) != parts or found[0] != "storage":
        raise BadPickle("storage")
    _, kind, key, _, count, *view = found
    if not isinstance(kind, StorageType) or not isinstance(key, str) or type(count) is not int or count < 0:
        raise BadPickle("storage")
    # Storages that are views of others went out of use before the format did.
    if any(view):
        raise BadPickle("view of a storage")
    return Storage(key, kind.dtype, count)


def stored(path: Path, name: str, tensor: Tensor, place: Place | None, *, big_endian: bool) -> Stored:
    """A tensor as an array of the file."""
    dtype, shape = tensor.dtype, tensor.shape
    size = dtype.itemsize
    wide = math.prod(side for side in shape if side) * size
    if place is None or tensor.storage.nbytes > place.nbytes or wide >= 1 << 63:
        raise fault(path, "bad_array", name=printable(name))
    if big_endian and size > 1:
        dtype = dtype.newbyteorder(">")
    if 0 in shape:
        return Stored(name, shape, dtype, path, ((place.start, 0),), None, place.member)
    plain = _contiguous(shape, tensor.strides)
    last = sum((side - 1) * step for side, step in zip(shape, tensor.strides, strict=True))
    begin, needed = tensor.offset * size, (last + 1) * size
    if begin + needed > tensor.storage.nbytes or wide > max(place.nbytes, _MOST_EXPANDED):
        raise fault(path, "bad_array", name=printable(name))
    strides = None if plain else tensor.strides
    return Stored(name, shape, dtype, path, ((place.start + begin, needed),), strides, place.member)


def _contiguous(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    step = 1
    for side, found in zip(reversed(shape), reversed(strides), strict=True):
        if side != 1 and found != step:
            return False
        step *= side
    return True
