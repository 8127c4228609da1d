"""Zip archives of stored members, written in one pass: what torch, NumPy and zipfile read, and can map."""

from __future__ import annotations

import struct
import zlib
from typing import Final

from trueline.formats.files import fault
from trueline.formats.making import Sink
from trueline.formats.outgoing import Outgoing
from trueline.formats.printable import printable
from trueline.formats.stored import Stored

_LOCAL: Final = struct.Struct("<4s5H3L2H")
_ENTRY: Final = struct.Struct("<4s6H3L5H2L")
_END64: Final = struct.Struct("<4sQ2H2L4Q")
_LOCATOR: Final = struct.Struct("<4sLQL")
_END: Final = struct.Struct("<4s4H2LH")
_CRC_AT: Final = 14
# Numbers from here on do not fit: they stand as these in their places, and elsewhere in full.
_LARGE = _FULL = 0xFFFFFFFF
_MANY = _ALL = 0xFFFF
_LONGEST_NAME: Final = 0xFFFF
_PLAIN, _WIDE = 20, 45
_UTF8: Final = 0x800
# The first day there is in an archive: equal weights give equal files.
_TIME, _DATE = 0, 1 << 5 | 1
# The extra field that torch fills up to an alignment with.
_PADDING: Final = 0x4246


class ZipWriter:
    """An archive on its way into a sink; ``finish`` completes it."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._entries: list[bytes] = []

    def add(self, name: str, data: bytes, *, align: int = 1) -> None:
        """A member of these bytes, which begin at a multiple of ``align``."""
        crc = zlib.crc32(data)
        start = self._begin(name, len(data), crc, align)
        self._sink.write(data)
        self._end(name, len(data), crc, start)

    def add_array(self, name: str, array: Outgoing, *, before: bytes = b"", align: int = 64) -> None:
        """A member of some bytes and then the elements of an array; it begins at a multiple of ``align``."""
        size = len(before) + array.nbytes
        start = self._begin(name, size, 0, align)
        self._sink.write(before)
        begin = self._sink.position
        crc = self._sink.pour_summed(array, zlib.crc32(before))
        if self._sink.position - begin != array.nbytes:
            # The file it comes from has become shorter since its header was read.
            source = array.source.path if isinstance(array.source, Stored) else self._sink.path
            raise fault(source, "cut_short")
        self._sink.patch(start + _CRC_AT, struct.pack("<L", crc))
        self._end(name, size, crc, start)

    def finish(self) -> None:
        """The directory of all members, at the end."""
        sink, count, start = self._sink, len(self._entries), self._sink.position
        for begin in range(0, count, 4096):
            sink.write(b"".join(self._entries[begin : begin + 4096]))
        end = sink.position
        size = end - start
        if count >= _MANY or start >= _LARGE or size >= _LARGE:
            sink.write(_END64.pack(b"PK\6\6", _END64.size - 12, _WIDE, _WIDE, 0, 0, count, count, size, start))
            sink.write(_LOCATOR.pack(b"PK\6\7", 0, end, 1))
            count, size, start = _ALL, _FULL, _FULL
        sink.write(_END.pack(b"PK\5\6", 0, 0, count, count, size, start, 0))

    def _begin(self, name: str, size: int, crc: int, align: int) -> int:
        """Write a member's own header; returns where that is."""
        raw, flags = self._named(name)
        start, wide = self._sink.position, size >= _LARGE
        extra = struct.pack("<2H2Q", 1, 16, size, size) if wide else b""
        lacking = -(start + _LOCAL.size + len(raw) + len(extra)) % align
        if lacking:
            # An extra field has four bytes at least.
            filling = (lacking - 4) % align
            extra += struct.pack("<2H", _PADDING, filling) + b"Z" * filling
        shown = _FULL if wide else size
        header = _LOCAL.pack(
            *(b"PK\3\4", _WIDE if wide else _PLAIN, flags, 0, _TIME, _DATE, crc, shown, shown, len(raw), len(extra))
        )
        self._sink.write(header + raw + extra)
        return start

    def _end(self, name: str, size: int, crc: int, start: int) -> None:
        """Keep a member for the directory."""
        raw, flags = self._named(name)
        # Only the numbers that do not fit elsewhere are there.
        wide, far = size >= _LARGE, start >= _LARGE
        numbers = [size, size] * wide + [start] * far
        extra = struct.pack(f"<2H{len(numbers)}Q", 1, 8 * len(numbers), *numbers) if numbers else b""
        version, shown = _WIDE if numbers else _PLAIN, _FULL if wide else size
        entry = _ENTRY.pack(
            *(b"PK\1\2", version, version, flags, 0, _TIME, _DATE, crc, shown, shown, len(raw), len(extra)),
            *(0, 0, 0, 0, _FULL if far else start),
        )
        self._entries.append(entry + raw + extra)

    def _named(self, name: str) -> tuple[bytes, int]:
        """A member's name as bytes, and the flag that says which."""
        try:
            raw = name.encode("utf-8")
        except UnicodeEncodeError:
            raw = b""
        if not raw or len(raw) > _LONGEST_NAME:
            raise fault(self._sink.path, "bad_member_name", name=printable(name))
        return raw, 0 if name.isascii() else _UTF8
