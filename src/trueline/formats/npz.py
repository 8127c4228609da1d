"""NumPy's .npz archives: named arrays, each found without reading it."""

from __future__ import annotations

from pathlib import Path

from trueline.formats.files import fault, map_file
from trueline.formats.npy import MAX_HEADER, header_length, parse_header
from trueline.formats.npy_types import UnreadType
from trueline.formats.printable import printable
from trueline.formats.stored import Stored
from trueline.formats.weights import MODEL, Weights
from trueline.formats.zips import Member, beginning, is_zip, members

_FIRST = 256


def read_npz(path: Path, *, wide: bool = False) -> Weights:
    """The arrays of an archive; those that hold no numbers are named among the other values.

    ``wide`` takes records, texts and dates for arrays, too, and names a damaged one instead of refusing them all.
    """
    data = map_file(path)
    if not is_zip(data):
        raise fault(path, "bad_zip")
    arrays: dict[str, Stored] = {}
    others: dict[str, object] = {}
    for member in members(path).values():
        if not member.name.endswith(".npy"):
            continue
        name = member.name.removesuffix(".npy")
        found = _array(path, data, member, name, wide)
        if isinstance(found, Stored):
            arrays[name] = found
        else:
            others[name] = found
    if not arrays:
        raise fault(path, "no_arrays")
    return Weights(path, "npz", {MODEL: arrays}, others=others)


def _array(path: Path, data: memoryview, member: Member, name: str, wide: bool) -> Stored | str:
    start = beginning(path, data, member, _FIRST)
    if _FIRST < header_length(start) <= MAX_HEADER:
        start = beginning(path, data, member, MAX_HEADER)
    try:
        header = parse_header(start, wide=wide)
    except UnreadType as error:
        return f"array of {printable(str(error))}"
    except ValueError:
        return _misfit(path, name, wide)
    # What a compressed member inflates to is then no more than its array needs.
    if header.length + header.nbytes != member.size:
        return _misfit(path, name, wide)
    inside = member.name if member.compressed else None
    begin = header.length + (0 if inside else member.start)
    return Stored(name, header.shape, header.dtype, path, ((begin, header.nbytes),), header.strides, inside)


def _misfit(path: Path, name: str, named: bool) -> str:
    trouble = fault(path, "bad_array", name=printable(name))
    if not named:
        raise trouble
    return trouble.reason
