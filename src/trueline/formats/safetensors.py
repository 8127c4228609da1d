"""safetensors files, single or in shards with an index: the header is read, the tensors are found."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, Final

import ml_dtypes
import msgspec
import numpy as np

from trueline.formats.files import fault, open_file, unreadable
from trueline.formats.printable import printable
from trueline.formats.stored import MAX_DIMENSIONS, Stored
from trueline.formats.weights import MODEL, Weights
from trueline.model.trouble import BadFile

INDEX: Final = ".safetensors.index.json"
_MAX_JSON: Final = 100 << 20
# A whole shard's name; longer ones no file system takes.
_MAX_NAME: Final = 255

TYPES: Final[dict[str, np.dtype[Any]]] = {
    "BOOL": np.dtype(np.bool_),
    "U8": np.dtype(np.uint8),
    "I8": np.dtype(np.int8),
    "F8_E4M3": np.dtype(ml_dtypes.float8_e4m3fn),
    "F8_E5M2": np.dtype(ml_dtypes.float8_e5m2),
    "U16": np.dtype(np.uint16),
    "I16": np.dtype(np.int16),
    "F16": np.dtype(np.float16),
    "BF16": np.dtype(ml_dtypes.bfloat16),
    "U32": np.dtype(np.uint32),
    "I32": np.dtype(np.int32),
    "F32": np.dtype(np.float32),
    "U64": np.dtype(np.uint64),
    "I64": np.dtype(np.int64),
    "F64": np.dtype(np.float64),
    "C64": np.dtype(np.complex64),
}
# Older releases of ml_dtypes lack them.
for _name, _type in (
    ("F8_E8M0", "float8_e8m0fnu"),
    ("F8_E4M3FNUZ", "float8_e4m3fnuz"),
    ("F8_E5M2FNUZ", "float8_e5m2fnuz"),
):
    if hasattr(ml_dtypes, _type):
        TYPES[_name] = np.dtype(getattr(ml_dtypes, _type))
# Types of the format whose elements are smaller than a byte, or that this release of ml_dtypes lacks.
_UNREAD: Final = {"F4", "F6_E2M3", "F6_E3M2", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ"} - TYPES.keys()


def read_safetensors(path: Path) -> Weights:
    """The tensors of a file, of the shards an index names, or of a folder that holds such an index."""
    if path.is_dir():
        path = _index_of(path)
    if path.name.endswith(".json"):
        return _read_sharded(path)
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
    about = header.pop("__metadata__", None)
    texts = {name: text for name, text in about.items() if isinstance(text, str)} if isinstance(about, dict) else {}
    found = {name: _entry(path, name, entry, 8 + length, size) for name, entry in header.items()}
    _check_apart(path, found)
    return found, texts


def _check_apart(path: Path, found: Mapping[str, Stored]) -> None:
    """The format lets no two tensors share bytes: where they do, at least one offset is wrong."""
    taken = 0
    for offset, size, name in sorted((*one.segments[0], name) for name, one in found.items() if one.nbytes):
        if offset < taken:
            raise _unfit(path, name)
        taken = offset + size


def _entry(path: Path, name: str, entry: Any, base: int, size: int) -> Stored:
    if not isinstance(entry, dict):
        raise _unfit(path, name)
    kind: Any = entry.get("dtype")
    shape: Any = entry.get("shape")
    offsets: Any = entry.get("data_offsets")
    dtype = TYPES.get(kind) if isinstance(kind, str) else None
    if dtype is None:
        if isinstance(kind, str) and kind in _UNREAD:
            raise fault(path, "unread_type", name=printable(name), dtype=kind)
        raise _unfit(path, name)
    if not _counts(shape, MAX_DIMENSIONS) or not _counts(offsets, 2) or len(offsets) != 2:
        raise _unfit(path, name)
    begin, end = offsets
    if not begin <= end <= size - base or math.prod(shape) * dtype.itemsize != end - begin:
        raise _unfit(path, name)
    # NumPy multiplies the other sides even of an empty array.
    if begin == end and math.prod(side for side in shape if side) * dtype.itemsize >= 1 << 63:
        raise _unfit(path, name)
    return Stored(name, tuple(shape), dtype, path, ((base + begin, end - begin),))


def _counts(found: Any, most: int) -> bool:
    return (
        isinstance(found, list)
        and len(found) <= most
        and all(isinstance(one, int) and not isinstance(one, bool) and one >= 0 for one in found)
    )


def _unfit(path: Path, name: str) -> BadFile:
    return fault(path, "bad_array", name=printable(name))


def _json(path: Path, text: bytes) -> Any:
    try:
        return msgspec.json.decode(text)
    # Nesting beyond all reason ends in a RecursionError.
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise fault(path, "bad_json", reason=printable(str(error))) from None


def _index_of(folder: Path) -> Path:
    try:
        found = sorted(one for one in folder.iterdir() if one.name.endswith(INDEX))
    except OSError as error:
        raise unreadable(folder, error) from None
    if len(found) != 1:
        raise fault(folder, "no_index" if not found else "several_indexes", name=f"*{INDEX}")
    return found[0]


def _read_sharded(path: Path) -> Weights:
    with open_file(path) as file:
        if os.fstat(file.fileno()).st_size > _MAX_JSON:
            raise fault(path, "bad_index")
        index = _json(path, file.read(_MAX_JSON))
    places = index.get("weight_map") if isinstance(index, dict) else None
    if not isinstance(places, dict) or not all(isinstance(shard, str) for shard in places.values()):
        raise fault(path, "bad_index")
    shards = dict(_shards(path, sorted(set(places.values()))))
    found: dict[str, Stored] = {}
    for name, shard in places.items():
        if name not in shards[shard]:
            raise fault(path, "not_in_shard", name=printable(name), shard=printable(shard))
        found[name] = shards[shard][name]
    if not found:
        raise fault(path, "no_arrays")
    about = index.get("metadata")
    plain = (str, int, float, bool)
    others = {name: one for name, one in about.items() if isinstance(one, plain)} if isinstance(about, dict) else {}
    return Weights(path, "safetensors", {MODEL: found}, others=others)


def _shards(index: Path, names: list[str]) -> Iterator[tuple[str, Mapping[str, Stored]]]:
    for name in names:
        parts = PurePosixPath(name).parts
        if not parts or name.startswith("/") or ".." in parts or "\0" in name or len(name) > _MAX_NAME:
            raise fault(index, "shard_outside", shard=printable(name))
        path = index.parent / name
        if not path.exists():
            raise fault(index, "no_shard", shard=printable(name))
        with open_file(path) as file:
            yield name, read_header(path, file)[0]
