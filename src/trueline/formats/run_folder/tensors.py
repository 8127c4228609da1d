"""A step's full tensors as one safetensors file: written in one go, read as views of the mapped file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Final

import numpy as np

from trueline.formats.files import fault
from trueline.formats.run_folder.guard import bad, open_file
from trueline.formats.safetensors import read_header
from trueline.formats.safetensors.layout import Entry, beginning, wide_first
from trueline.formats.safetensors.types import NAMES
from trueline.formats.stored import Stored
from trueline.kernel.array import Array, DType
from trueline.model.descriptor import OwnDescriptor
from trueline.model.key import Key

_NAMES: Final[dict[DType, str]] = {dtype: name for dtype, name in NAMES.items() if name != "C64"}
# The format has no complex128, and its older readers no complex64: both are kept as pairs of real numbers.
_COMPLEX: Final[dict[DType, DType]] = {
    np.dtype(np.complex64): np.dtype(np.float32),
    np.dtype(np.complex128): np.dtype(np.float64),
}
_MARK: Final = "trueline.complex"
_NONE: Final[Mapping[str, str]] = MappingProxyType({})


def can_keep(array: Array) -> bool:
    """Whether a tensor of this dtype fits into the file."""
    dtype = np.asarray(array).dtype.newbyteorder("<")
    return dtype in _NAMES or dtype in _COMPLEX


def write_tensors(path: Path, tensors: Mapping[Key, Array]) -> None:
    """All tensors, which must all be ones that ``can_keep`` allows."""
    write_arrays(path, {str(key): array for key, array in tensors.items()})


def write_arrays(path: Path, arrays: Mapping[str, Array], texts: Mapping[str, str] = _NONE) -> None:
    """Arrays by any names, which must all be ones that ``can_keep`` allows; texts go into the header."""
    kept = [(name, _little_endian(array)) for name, array in arrays.items()]
    paired = " ".join(str(place) for place, (_, array) in enumerate(kept) if array.dtype in _COMPLEX)
    entries = [_entry(name, array) for name, array in kept]
    order = wide_first(entries)
    file = OwnDescriptor.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        file.write_all(beginning(entries, order, {_MARK: paired, **texts}))
        for place in order:
            array = kept[place][1]
            if array.nbytes:
                file.write_all(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    finally:
        file.close()


class Tensors(Mapping[Key, Array]):
    """The tensors of a step, in the order written; each is a read-only view of its mapped file."""

    def __init__(self, entries: Mapping[Key, tuple[Stored, Array]]) -> None:
        self._entries = entries

    def __or__(self, other: Tensors) -> Tensors:
        return Tensors({**self._entries, **other._entries})

    def __getitem__(self, key: Key) -> Array:
        # Through the mapping that was made when the file was opened: the file itself may be gone by now.
        return _view(*self._entries[key])

    def __iter__(self) -> Iterator[Key]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def stored(self, key: Key) -> Stored:
        """Where a tensor lies."""
        return self._entries[key][0]


def read_tensors(root: Path, path: Path) -> Tensors:
    """Open one file; only its header is read."""
    entries: dict[Key, tuple[Stored, Array]] = {}
    for name, entry in _read_entries(root, path)[0].items():
        try:
            entries[Key.parse(name)] = entry
        except ValueError:
            raise bad(path, "bad_key", key=repr(name[:200])) from None
    return Tensors(entries)


def read_arrays(root: Path, path: Path) -> dict[str, Array]:
    """Arrays by name, as read-only views of the mapped file."""
    return read_with_texts(root, path)[0]


def read_with_texts(root: Path, path: Path) -> tuple[dict[str, Array], dict[str, str]]:
    """The same, and the texts of the header."""
    entries, texts = _read_entries(root, path)
    return {name: _view(*entry) for name, entry in entries.items()}, texts


def _read_entries(root: Path, path: Path) -> tuple[dict[str, tuple[Stored, Array]], dict[str, str]]:
    with open_file(root, path) as file:
        header, metadata = read_header(path, file)
        data = np.asarray(np.memmap(file, np.uint8, "r"))
    paired = set(metadata.get(_MARK, "").split())
    entries = {
        name: (_whole(stored) if str(place) in paired else stored, data)
        for place, (name, stored) in enumerate(header.items())
    }
    return entries, metadata


def _view(stored: Stored, data: Array) -> Array:
    ((begin, size),) = stored.segments
    return data[begin : begin + size].view(stored.dtype).reshape(stored.shape)


def _whole(stored: Stored) -> Stored:
    """A complex tensor, out of its pairs of real numbers."""
    dtype = {real: kind for kind, real in _COMPLEX.items()}.get(stored.dtype)
    if dtype is None or stored.shape[-1:] != (2,):
        raise fault(stored.path, "bad_array", name=repr(stored.name[:200]))
    return replace(stored, dtype=dtype, shape=stored.shape[:-1])


def _entry(name: str, array: Array) -> Entry:
    if array.dtype in _COMPLEX:
        return Entry(name, _NAMES[_COMPLEX[array.dtype]], (*array.shape, 2))
    return Entry(name, _NAMES[array.dtype], array.shape)


def _little_endian(array: Array) -> Array:
    return np.asarray(array).astype(np.asarray(array).dtype.newbyteorder("<"), copy=False)
