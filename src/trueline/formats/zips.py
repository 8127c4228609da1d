"""Where the members of a zip archive lie: read from the mapped file, so that stored members need no copy."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from trueline.formats.files import fault, map_file, unreadable
from trueline.formats.printable import printable
from trueline.model.budget import Budget
from trueline.model.trouble import BadFile

_END: Final = struct.Struct("<4s4H2LH")
_LOCATOR: Final = struct.Struct("<4sLQL")
_END64: Final = struct.Struct("<4sQ2H2L4Q")
_ENTRY: Final = struct.Struct("<4s6H3L5H2L")
_LONGEST_COMMENT: Final = 0xFFFF
_MOST_MEMBERS: Final = 1 << 20
_FULL: Final = 0xFFFFFFFF
_PACKED_AT_ONCE: Final = 1 << 20
_STORED, _DEFLATED = 0, 8
# Deflate cannot do better than this.
_MOST_PACKED: Final = 1032


@dataclass(frozen=True, slots=True)
class Member:
    """A member: its bytes begin at ``start`` and take ``packed`` bytes there, ``size`` when inflated."""

    name: str
    start: int
    size: int
    packed: int
    compressed: bool
    crc: int


def members(path: Path) -> Mapping[str, Member]:
    """The members of an archive by name, in its order; folders are left out."""
    try:
        found = path.stat()
    except OSError as error:
        raise unreadable(path, error) from None
    return _members(path, found.st_ino, found.st_size, found.st_mtime_ns)


def inflated(path: Path, name: str) -> bytes:
    """All bytes of a member; never more than its directory entry declares, and the archive is worth."""
    member = members(path).get(name)
    if member is not None and member.compressed:
        # Its pieces, and all of them together.
        Budget(path, path.stat().st_size).hold(2 * member.size)
    return b"".join(inflating(path, name))


def inflating(path: Path, name: str, piece: int = 4 << 20) -> Iterator[bytes]:
    """The bytes of a member, ``piece`` at a time (the last may be shorter), checked against what is declared."""
    member = members(path).get(name)
    if member is None:
        raise _bad(path, name, "not there")
    crc = left = 0
    for data in _pieces(path, map_file(path), member, piece):
        crc, left = zlib.crc32(data, crc), left + len(data)
        yield data
    if left != member.size or crc != member.crc:
        raise _bad(path, name, "it does not match its checksum")


def beginning(path: Path, data: memoryview, member: Member, most: int) -> bytes:
    """The first bytes of a member of the mapped archive."""
    return next(_pieces(path, data, member, most), b"")


def _pieces(path: Path, data: memoryview, member: Member, piece: int) -> Iterator[bytes]:
    packed = data[member.start : member.start + member.packed]
    if len(packed) != member.packed:
        raise fault(path, "cut_short")
    if not member.compressed:
        for at in range(0, len(packed), piece):
            yield bytes(packed[at : at + piece])
        return
    stream = zlib.decompressobj(-zlib.MAX_WBITS)
    left, at, held = member.size, 0, b""
    try:
        while not stream.eof:
            taken = stream.unconsumed_tail
            if len(taken) < _PACKED_AT_ONCE:
                taken += packed[at : at + _PACKED_AT_ONCE]
                at += _PACKED_AT_ONCE
            found = stream.decompress(taken, piece - len(held))
            if not found and not taken:
                break
            held += found
            if len(held) > left:
                raise _bad(path, member.name, f"more than the {member.size} bytes declared")
            if len(held) == piece:
                yield held
                left, held = left - piece, b""
    except zlib.error as error:
        raise _bad(path, member.name, str(error)) from None
    if held:
        yield held


@lru_cache(maxsize=8)
def _members(path: Path, _inode: int, _size: int, _time: int) -> Mapping[str, Member]:
    data = map_file(path)
    try:
        at, size, count = _directory(data)
        if count > _MOST_MEMBERS or at + size > len(data) or count * _ENTRY.size > size:
            raise fault(path, "bad_zip")
        return _entries(path, data, at, count)
    except (struct.error, IndexError, ValueError):
        raise fault(path, "bad_zip") from None


def _directory(data: memoryview) -> tuple[int, int, int]:
    """(offset, size, members) of the central directory."""
    tail_at = max(0, len(data) - _END.size - _LONGEST_COMMENT)
    end = bytes(data[tail_at:]).rfind(b"PK\5\6")
    if end < 0:
        raise ValueError
    end += tail_at
    _, _, _, _, count, size, offset, _ = _END.unpack_from(data, end)
    locator = end - _LOCATOR.size
    if locator >= 0 and bytes(data[locator : locator + 4]) == b"PK\6\7":
        at = _LOCATOR.unpack_from(data, locator)[2]
        # A number beyond the file is no offset for unpack_from.
        if at + _END64.size > len(data) or bytes(data[at : at + 4]) != b"PK\6\6":
            raise ValueError
        *_, count, size, offset = _END64.unpack_from(data, at)
    return offset, size, count


def _entries(path: Path, data: memoryview, at: int, count: int) -> dict[str, Member]:
    found: dict[str, Member] = {}
    taken: list[tuple[int, int, str]] = []
    for _ in range(count):
        sign, _, _, flags, method, _, _, crc, packed, size, *lengths, _, _, _, start = _ENTRY.unpack_from(data, at)
        named, extra, comment = lengths
        if sign != b"PK\1\2":
            raise ValueError
        raw = bytes(data[at + _ENTRY.size : at + _ENTRY.size + named])
        name = raw.decode("utf-8" if flags & 0x800 else "cp437")
        at += _ENTRY.size + named
        if _FULL in (packed, size, start):
            packed, size, start = _wide(bytes(data[at : at + extra]), packed, size, start)
        at += extra + comment
        if name.endswith("/"):
            continue
        if name in found:
            raise _bad(path, name, "it is there twice")
        if flags & 1:
            raise _bad(path, name, "encrypted")
        if method not in (_STORED, _DEFLATED):
            raise _bad(path, name, f"compression {method}")
        possible = size <= packed * _MOST_PACKED + 64 if method else size == packed
        if packed > len(data) or not possible:
            raise _bad(path, name, f"{size} bytes declared, not as many found")
        begin = _begin(data, start, packed)
        taken.append((start, begin + packed, name))
        found[name] = Member(name, begin, size, packed, method == _DEFLATED, crc)
    _check_apart(path, taken)
    return found


def _check_apart(path: Path, taken: list[tuple[int, int, str]]) -> None:
    """Members that share bytes are no archive's: a file of a few kilobytes would hold any amount of data."""
    free = 0
    for start, end, name in sorted(taken):
        if start < free:
            raise _bad(path, name, "it lies on another one")
        free = end


def _wide(extra: bytes, packed: int, size: int, start: int) -> tuple[int, int, int]:
    at = 0
    while at + 4 <= len(extra):
        kind, length = struct.unpack_from("<HH", extra, at)
        if kind == 1:
            numbers = iter(struct.unpack_from(f"<{length // 8}Q", extra, at + 4))
            # Only the numbers that did not fit are there, in this order.
            size = next(numbers, size) if size == _FULL else size
            packed = next(numbers, packed) if packed == _FULL else packed
            start = next(numbers, start) if start == _FULL else start
            break
        at += 4 + length
    return packed, size, start


def _begin(data: memoryview, start: int, packed: int) -> int:
    """Where a member's bytes begin: after its own header, whose name and extra field differ from the directory's."""
    if start + 30 > len(data) or bytes(data[start : start + 4]) != b"PK\3\4":
        raise ValueError
    named, extra = struct.unpack_from("<HH", data, start + 26)
    begin = int(start + 30 + named + extra)
    if begin + packed > len(data):
        raise ValueError
    return begin


def is_zip(data: memoryview) -> bool:
    """Whether a file begins like an archive."""
    return bytes(data[:4]) in (b"PK\3\4", b"PK\5\6")


def _bad(path: Path, name: str, reason: str) -> BadFile:
    return fault(path, "bad_member", member=printable(name), reason=reason)
