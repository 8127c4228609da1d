"""A step's full tensors as one safetensors file: written in one go, read as views of the mapped file."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import ml_dtypes
import numpy as np
import numpy.typing as npt

from trueline.formats.run_folder import layout
from trueline.formats.run_folder.appending import write_all
from trueline.formats.run_folder.guard import bad, decode_json, open_file
from trueline.formats.run_folder.json_text import json_bytes
from trueline.model.key import Key

Array = npt.NDArray[Any]

_TYPES: Final[dict[str, np.dtype[Any]]] = {
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
}
_NAMES: Final[dict[np.dtype[Any], str]] = {dtype: name for name, dtype in _TYPES.items()}
# The format has no complex128, and its older readers no complex64: both are kept as pairs of real numbers.
_COMPLEX: Final[dict[np.dtype[Any], np.dtype[Any]]] = {
    np.dtype(np.complex64): np.dtype(np.float32),
    np.dtype(np.complex128): np.dtype(np.float64),
}
_MARK: Final = "trueline.complex"


def can_keep(array: Array) -> bool:
    """Whether a tensor of this dtype fits into the file."""
    dtype = np.asarray(array).dtype.newbyteorder("<")
    return dtype in _NAMES or dtype in _COMPLEX


def write_tensors(path: Path, tensors: Mapping[Key, Array]) -> None:
    """All tensors, which must all be ones that ``can_keep`` allows."""
    kept = {str(key): _little_endian(array) for key, array in tensors.items()}
    # Wide elements first keeps every view aligned; the header keeps the order that was given.
    laid_out = sorted(kept, key=lambda name: -_real(kept[name].dtype).itemsize)
    offsets: dict[str, tuple[int, int]] = {}
    position = 0
    for name in laid_out:
        offsets[name] = (position, position + kept[name].nbytes)
        position += kept[name].nbytes
    header: dict[str, Any] = {
        "__metadata__": {
            _MARK: " ".join(str(place) for place, one in enumerate(kept.values()) if one.dtype in _COMPLEX)
        }
    }
    for name, array in kept.items():
        shape = (*array.shape, 2) if array.dtype in _COMPLEX else array.shape
        header[name] = {"dtype": _NAMES[_real(array.dtype)], "shape": list(shape), "data_offsets": offsets[name]}
    text = json_bytes(header)
    text += b" " * (-len(text) % 8)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        write_all(descriptor, len(text).to_bytes(8, "little") + text)
        for name in laid_out:
            if kept[name].nbytes:
                write_all(descriptor, np.ascontiguousarray(kept[name]).reshape(-1).view(np.uint8).data)
    finally:
        os.close(descriptor)


@dataclass(frozen=True, slots=True)
class _Entry:
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    data: Array


class Tensors(Mapping[Key, Array]):
    """The tensors of a step, in the order written; each is a read-only view of its mapped file."""

    def __init__(self, entries: Mapping[Key, _Entry]) -> None:
        self._entries = entries

    def __or__(self, other: Tensors) -> Tensors:
        return Tensors({**self._entries, **other._entries})

    def __getitem__(self, key: Key) -> Array:
        entry = self._entries[key]
        return entry.data.view(entry.dtype).reshape(entry.shape)

    def __iter__(self) -> Iterator[Key]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


def read_tensors(root: Path, path: Path) -> Tensors:
    """Open one file; only its header is read."""
    with open_file(root, path) as file:
        size = os.fstat(file.fileno()).st_size
        start = file.read(8)
        length = int.from_bytes(start, "little")
        if len(start) < 8 or length > min(layout.MAX_HEADER, size - 8):
            raise bad(path, "bad_header")
        header = decode_json(path, file.read(length))
        if not isinstance(header, dict):
            raise bad(path, "bad_header")
        # A mapping of no bytes is refused by the system.
        data: Array = np.zeros(0, np.uint8)
        if size > 8 + length:
            data = np.asarray(np.memmap(file, np.uint8, "r", 8 + length))
    metadata = header.pop("__metadata__", {})
    marked = metadata.get(_MARK, "") if isinstance(metadata, dict) else ""
    paired = set(marked.split()) if isinstance(marked, str) else set()
    entries: dict[Key, _Entry] = {}
    for place, (name, entry) in enumerate(header.items()):
        try:
            key = Key.parse(name)
        except ValueError:
            raise bad(path, "bad_key", key=repr(name[:200])) from None
        entries[key] = _entry(path, name, entry, data, str(place) in paired)
    return Tensors(entries)


def _entry(path: Path, name: str, entry: Any, data: Array, paired: bool) -> _Entry:
    wrong = bad(path, "bad_tensor", key=repr(name[:200]))
    if not isinstance(entry, dict):
        raise wrong
    dtype = _TYPES.get(entry["dtype"]) if isinstance(entry.get("dtype"), str) else None
    shape: Any = entry.get("shape")
    offsets: Any = entry.get("data_offsets")
    if dtype is None or not _counts(shape, layout.MAX_DIMENSIONS) or not _counts(offsets, 2) or len(offsets) != 2:
        raise wrong
    begin, end = offsets
    if not begin <= end <= len(data) or math.prod(shape) * dtype.itemsize != end - begin:
        raise wrong
    # NumPy multiplies the other sides even of an empty array.
    if math.prod(side for side in shape if side) * dtype.itemsize >= 1 << 63:
        raise wrong
    if paired:
        whole = {real: kind for kind, real in _COMPLEX.items()}.get(dtype)
        if whole is None or shape[-1:] != [2]:
            raise wrong
        return _Entry(whole, tuple(shape[:-1]), data[begin:end])
    return _Entry(dtype, tuple(shape), data[begin:end])


def _counts(found: Any, most: int) -> bool:
    return (
        isinstance(found, list)
        and len(found) <= most
        and all(isinstance(one, int) and not isinstance(one, bool) and one >= 0 for one in found)
    )


def _real(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return _COMPLEX.get(dtype, dtype)


def _little_endian(array: Array) -> Array:
    return np.asarray(array).astype(np.asarray(array).dtype.newbyteorder("<"), copy=False)
