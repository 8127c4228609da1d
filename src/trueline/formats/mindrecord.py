"""MindRecord files, read without MindSpore: a header in JSON, pages of rows in msgpack, pages of their blobs.

A file is the header's length (u64), the header, and from ``header_size`` on pages of ``page_size`` bytes. A row of a
page is its length (u64 little-endian) and so many bytes. In a blob of several fields each has its length before it (u64
big-endian). Arrays of whole numbers are packed: their number (u32 big-endian), two bits for each number's width (1, 2,
4, 8 bytes), and the numbers, little-endian. The index beside the file (SQLite) says nothing that is not here.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, BinaryIO, Final

import msgspec
import numpy as np

from trueline.formats.files import open_file
from trueline.formats.printable import printable
from trueline.kernel.array import Array, DType
from trueline.model.message import message
from trueline.model.trouble import BadFile

_MOST_HEADER: Final = 256 << 20
_Count = Annotated[int, msgspec.Meta(ge=0, lt=1 << 48)]
_DTYPES: Final = {"int32": np.int32, "int64": np.int64, "float32": np.float32, "float64": np.float64}
_HEAD: Final = 8


class _Page(msgspec.Struct):
    page_id: _Count
    page_type: str
    page_type_id: _Count
    page_size: _Count
    start_row_id: _Count
    end_row_id: _Count


class _Type(msgspec.Struct):
    type: str
    shape: list[int] | None = None


class _Schema(msgspec.Struct):
    schema: dict[str, _Type]
    blob_fields: list[str] = []


class _Header(msgspec.Struct):
    header_size: _Count
    page_size: _Count
    page: list[_Page]
    schema: list[_Schema]
    shard_addresses: list[str] = []


_decoder = msgspec.json.Decoder(_Header)


@dataclass(frozen=True, slots=True)
class Field:
    """A field: its type as MindRecord calls it, the shape of an array, and whether it lies in the blob."""

    name: str
    type: str
    shape: tuple[int, ...] | None
    in_blob: bool

    @property
    def dtype(self) -> DType | None:
        """NumPy's type; None for texts and bytes."""
        found = _DTYPES.get(self.type)
        return np.dtype(found) if found is not None else None


def looks_like_mindrecord(start: bytes) -> bool:
    """Whether a file begins like one: a length, and a header that names its own size."""
    return start[8:9] == b"{" and b'"header_size"' in start[:64]


class MindRecord:
    """One file; a BadFile where its header does not fit. ``cut`` says what of its rows is missing."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with open_file(path) as file:
            self._size = os.fstat(file.fileno()).st_size
            header = self._header(file)
            self.shards: Sequence[str] = header.shard_addresses
            self._base, self._page_size = header.header_size, header.page_size
            schema = header.schema[0]
            blobs = [name for name in schema.blob_fields if name in schema.schema]
            self.fields = [_field(name, one, name in blobs) for name, one in schema.schema.items()]
            self._in_blob = [field for name in blobs for field in self.fields if field.name == name]
            self.cut: list[str] = []
            self._raw = array("q")
            for page in _of_type(header.page, "RAW_DATA"):
                if not self._scan(file, page, self._raw, None):
                    break
            self.length = len(self._raw)
            self._blob = array("q", [-1]) * self.length
            if self._in_blob:
                for page in _of_type(header.page, "BLOB_DATA"):
                    self._scan(file, page, self._blob, page)

    def _header(self, file: BinaryIO) -> _Header:
        start = file.read(_HEAD)
        length = int.from_bytes(start, "little")
        if len(start) < _HEAD or not 0 < length <= min(_MOST_HEADER, self._size - _HEAD):
            raise self._bad(f"header of {length} bytes")
        try:
            header = _decoder.decode(file.read(length))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise self._bad(printable(str(error))) from None
        if not header.schema or not header.page_size or header.header_size < length + _HEAD:
            raise self._bad("schema, page_size, header_size")
        # Pages of one place would be read as often as the header likes.
        if len({page.page_id for page in header.page}) < len(header.page):
            raise self._bad("page_id")
        return header

    def _bad(self, reason: str) -> BadFile:
        return BadFile(self.path, message("sources.bad_mindrecord", reason=reason).text())

    def _scan(self, file: BinaryIO, page: _Page, places: array[int], rows: _Page | None) -> bool:
        """Where the rows of a page begin; False where not all of them are there."""
        begin = self._base + page.page_id * self._page_size
        end = begin + min(page.page_size, self._page_size)
        at, row = begin, page.start_row_id
        while at < end and (rows is None or row < min(rows.end_row_id, len(places))):
            head = os.pread(file.fileno(), _HEAD, at) if at + _HEAD <= self._size else b""
            length = int.from_bytes(head, "little")
            if len(head) < _HEAD or at + _HEAD + length > min(end, self._size):
                self.cut.append(f"{page.page_type} {page.page_id}")
                return False
            if rows is None:
                places.append(at)
            else:
                places[row] = at
            at, row = at + _HEAD + length, row + 1
        return True

    def rows(self, start: int, stop: int, names: Container[str] | None = None) -> Iterator[dict[str, object]]:
        """Rows by number, with these fields; what is not there, or not what the schema says, is None."""
        wanted = [field for field in self.fields if names is None or field.name in names]
        with open_file(self.path) as file:
            for row in range(start, stop):
                yield self._row(file, row, wanted)

    def _row(self, file: BinaryIO, row: int, wanted: Sequence[Field]) -> dict[str, object]:
        found: dict[str, object] = {field.name: None for field in wanted}
        raw = self._read(file, self._raw[row]) if any(not field.in_blob for field in wanted) else None
        try:
            values = msgspec.msgpack.decode(raw) if raw is not None else {}
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            values = {}
        if isinstance(values, dict):
            found |= {field.name: _scalar(field, values.get(field.name)) for field in wanted if not field.in_blob}
        blob = self._read(file, self._blob[row]) if any(field.in_blob for field in wanted) else None
        if blob is not None:
            found |= self._of_blob(blob, wanted)
        return found

    def _read(self, file: BinaryIO, at: int) -> bytes | None:
        if at < 0:
            return None
        length = int.from_bytes(os.pread(file.fileno(), _HEAD, at), "little")
        if at + _HEAD + length > self._size:
            return None
        return os.pread(file.fileno(), length, at + _HEAD)

    def _of_blob(self, blob: bytes, wanted: Sequence[Field]) -> Mapping[str, object]:
        found: dict[str, object] = {}
        at = 0
        for field in self._in_blob:
            data = blob
            if len(self._in_blob) > 1:
                length = int.from_bytes(blob[at : at + _HEAD], "big")
                data = blob[at + _HEAD : at + _HEAD + length]
                at += _HEAD + length
                if len(data) != length:
                    data = b""
            if field in wanted:
                found[field.name] = _value(field, data)
        return found


def _of_type(pages: Sequence[_Page], kind: str) -> list[_Page]:
    return sorted((page for page in pages if page.page_type == kind), key=lambda page: page.page_type_id)


def _field(name: str, found: _Type, in_blob: bool) -> Field:
    return Field(name, found.type, tuple(found.shape) if found.shape is not None else None, in_blob)


def _scalar(field: Field, value: object) -> object:
    """A value of a row; None where it is not what the schema says."""
    if field.dtype is not None:
        fits = isinstance(value, int | float) and not isinstance(value, bool)
        try:
            return field.dtype.type(value) if fits else None
        except (OverflowError, ValueError):
            return None
    return value if isinstance(value, str | bytes) else None


def _value(field: Field, data: bytes) -> object:
    """A value of a blob; None where it is not what the schema says."""
    if field.dtype is None:
        return data.decode("utf-8", "replace") if field.type == "string" else data
    try:
        flat = unpack_integers(data, field.dtype) if field.dtype.kind == "i" else np.frombuffer(data, field.dtype)
        return flat.reshape(field.shape if field.shape is not None else -1)
    except (ValueError, OverflowError):
        return None


def unpack_integers(data: bytes, dtype: DType) -> Array:
    """Whole numbers that are packed, each in as few bytes as it needs; a ValueError where they do not fit."""
    count = int.from_bytes(data[:4], "big")
    bits = (count + 3) // 4
    if len(data) < 4 + bits:
        raise ValueError("packed integers")
    flags = np.frombuffer(data, np.uint8, bits, 4)
    kinds = (flags[:, None] >> np.array([6, 4, 2, 0], np.uint8) & 3).reshape(-1)[:count]
    widths = 1 << kinds.astype(np.int64)
    ends = np.cumsum(widths)
    body = np.frombuffer(data, np.uint8, offset=4 + bits)
    if count and ends[-1] != len(body):
        raise ValueError("packed integers")
    if count and kinds[0] == 0 and not kinds.any():
        return body.view(np.int8).astype(dtype)
    found = np.empty(count, dtype)
    for kind, width in enumerate((1, 2, 4, 8)):
        chosen = np.flatnonzero(kinds == kind)
        if chosen.size:
            places = (ends[chosen] - width)[:, None] + np.arange(width)
            found[chosen] = body[places].copy().view(f"<i{width}")[:, 0]
    return found
