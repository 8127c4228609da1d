"""NumPy's .npz archives, written as numpy.savez does: not compressed, and each array where it can be mapped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import ml_dtypes
import numpy as np

from trueline.formats.holding import check_all, name_trouble
from trueline.formats.making import Sink
from trueline.formats.npy import MAGIC
from trueline.formats.outgoing import Outgoing
from trueline.formats.printable import printable
from trueline.formats.zip_writer import ZipWriter
from trueline.kernel.array import DType
from trueline.model.message import Message, message
from trueline.model.trouble import BadFile

_SUFFIX: Final = ".npy"
_ALIGNED: Final = 64

_DESCRIBED: Final[dict[DType, str]] = {
    np.dtype(kind): np.dtype(kind).str
    for kind in ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "<f2", "<f4", "<f8", "<c8", "<c16")
}
# NumPy knows the types of ml_dtypes by size alone, and so does its reader: the two bytes come back as bfloat16 here,
# and with ``.view(ml_dtypes.bfloat16)`` from numpy.load. One byte may be any of several types and is not written.
_DESCRIBED[np.dtype(ml_dtypes.bfloat16)] = "<V2"


def cannot_hold(array: Outgoing) -> Message | None:
    """Why an archive cannot hold an array (no float8 comes back from it), None where it can."""
    if array.dtype not in _DESCRIBED:
        return message("npz.cannot_hold", name=printable(array.name), dtype=array.dtype.name)
    # An absolute name leads out of the folder that an archive is unpacked in, too.
    if array.name.startswith(("/", "\\")):
        return message("formats.name_unsafe", name=printable(array.name))
    return name_trouble(array.name)


def write_npz(sink: Sink, arrays: Sequence[Outgoing]) -> None:
    """One archive of all arrays; shared ones are copies."""
    check_all(sink.path, arrays, cannot_hold)
    names = {array.name for array in arrays}
    for array in arrays:
        # numpy.load takes a member's whole name before the array's: "a.npy" would be the array "a".
        other = array.name + _SUFFIX
        if other in names:
            taken = message("npz.same_member", name=printable(array.name), other=printable(other))
            raise BadFile(sink.path, taken.text())
    archive = ZipWriter(sink)
    for array in arrays:
        archive.add_array(array.name + _SUFFIX, array, before=_header(array), align=_ALIGNED)
    archive.finish()


def _header(array: Outgoing) -> bytes:
    """The beginning of a .npy file, as long as a multiple of the alignment."""
    shape = tuple(int(side) for side in array.shape)
    text = f"{{'descr': '{_DESCRIBED[array.dtype]}', 'fortran_order': False, 'shape': {shape}, }}"
    length = len(MAGIC) + 4 + len(text) + 1
    text += " " * (-length % _ALIGNED) + "\n"
    return MAGIC + b"\1\0" + len(text).to_bytes(2, "little") + text.encode("ascii")
