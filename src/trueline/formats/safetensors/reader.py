"""safetensors files, single or in shards with an index: the header is read, the tensors are found."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from trueline.formats.files import fault, open_file
from trueline.formats.printable import printable
from trueline.formats.safetensors.types import INDEX, METADATA, TYPES, UNREAD
from trueline.formats.sharded import index_of, read_sharded
from trueline.formats.stored import MAX_DIMENSIONS, Stored
from trueline.formats.weights import MODEL, Weights
from trueline.model.json_value import Json
from trueline.model.trouble import BadFile

_MAX_JSON: Final = 100 << 20
# A whole shard's name; longer ones no file system takes.
_MAX_NAME: Final = 255


def read_safetensors(path: Path) -> Weights:
    """The tensors of a file, of the shards an index names, or of a folder that holds such an index."""
    if path.is_dir():
        path = index_of(path, INDEX)
    if path.name.endswith(".json"):
        return read_sharded(path, "safetensors", _shard)
    with open_file(path) as file:
        found, metadata = read_header(path, file)
    if not found:
        raise fault(path, "no_arrays")
    return Weights(path, "safetensors", {MODEL: found}, others=metadata)


def read_header(path: Path, file: BinaryIO) -> tuple[dict[str, Stored], dict[str, str]]:
    """The tensors by name in the order of the header, and its texts about the file."""
    size = os.fstat(file.fileno()).st_size
    start = file.read(8)
    length = int.from_bytes(start, "little")
    if len(start) < 8 or length > min(_MAX_JSON, size - 8):
        raise fault(path, "bad_header")
    header = _json(path, file.read(length))
    if not isinstance(header, dict):
        raise fault(path, "bad_header")
    about = header.pop(METADATA, None)
    texts = {name: text for name, text in about.items() if isinstance(text, str)} if isinstance(about, dict) else {}
    found = {name: _entry(path, name, entry, 8 + length, size) for name, entry in header.items()}
    _check_apart(path, found)
    return found, texts


def _check_apart(path: Path, found: Mapping[str, Stored]) -> None:
    """The format lets no two tensors share bytes: where they do, at least one offset is wrong."""
    taken = 0
    for offset, size, name in sorted((*stored.segments[0], name) for name, stored in found.items() if stored.nbytes):
        if offset < taken:
            raise _unfit(path, name)
        taken = offset + size


def _entry(path: Path, name: str, entry: Json, base: int, size: int) -> Stored:
    if not isinstance(entry, dict):
        raise _unfit(path, name)
    kind, shape, offsets = entry.get("dtype"), _counts(entry.get("shape")), _counts(entry.get("data_offsets"))
    dtype = TYPES.get(kind) if isinstance(kind, str) else None
    if dtype is None:
        if isinstance(kind, str) and kind in UNREAD:
            raise fault(path, "unread_type", name=printable(name), dtype=kind)
        raise _unfit(path, name)
    if shape is None or len(shape) > MAX_DIMENSIONS or offsets is None or len(offsets) != 2:
        raise _unfit(path, name)
    begin, end = offsets
    if not begin <= end <= size - base or math.prod(shape) * dtype.itemsize != end - begin:
        raise _unfit(path, name)
    # NumPy multiplies the other sides even of an empty array.
    if begin == end and math.prod(side for side in shape if side) * dtype.itemsize >= 1 << 63:
        raise _unfit(path, name)
    return Stored(name, tuple(shape), dtype, path, ((base + begin, end - begin),))


def _counts(found: Json) -> list[int] | None:
    """A list of numbers that count something; None for anything else."""
    counts = [count for count in found if type(count) is int and count >= 0] if isinstance(found, list) else None
    return counts if isinstance(found, list) and counts is not None and len(counts) == len(found) else None


def _unfit(path: Path, name: str) -> BadFile:
    return fault(path, "bad_array", name=printable(name))


def _json(path: Path, text: bytes) -> object:
    try:
        return msgspec.json.decode(text)
    # Nesting beyond all reason ends in a RecursionError.
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise fault(path, "bad_json", reason=printable(str(error))) from None


def _shard(path: Path) -> Mapping[str, Stored]:
    with open_file(path) as file:
        return read_header(path, file)[0]
