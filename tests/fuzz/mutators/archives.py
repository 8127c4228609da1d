"""Zip archives member by member, with sums and directory made right again, and the directory itself."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from random import Random

from fuzz.case import Mutator, Mutators
from fuzz.mutators.raw import integer, pick, raw

_NAMES = (
    "archive/data.pkl",
    "data.pkl",
    "a.npy",
    "../../x",
    "/x",
    "x/",
    "",
    "archive/data/0",
    "version",
    "图.npy",
    "a\0b",
)


@lru_cache(256)
def _members(data: bytes) -> tuple[tuple[str, bytes, int], ...]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return tuple((one.filename, archive.read(one), one.compress_type) for one in archive.infolist())
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OSError):
        return ()


def packed(members: Sequence[tuple[str, bytes, int]]) -> bytes:
    """An archive; names may be there twice."""
    out, entries = bytearray(), bytearray()
    for name, content, method in members:
        stream = zlib.compressobj(1, zlib.DEFLATED, -15)
        body = stream.compress(content) + stream.flush() if method == 8 else content
        text = name.encode("utf-8", "replace")
        # As torch writes: elements begin at a multiple of 64.
        pad = -(len(out) + 30 + len(text)) % 64
        extra = struct.pack("<HH", 0x4246, pad - 4) + b"\0" * (pad - 4) if pad >= 4 else b""
        common = struct.pack(
            "<5H3L2H", 20, 0x800, method, 0, 33, zlib.crc32(content), len(body), len(content), len(text), len(extra)
        )
        entries += b"PK\1\2\x14\0" + common[:-2] + struct.pack("<4H2L", 0, 0, 0, 0, 0, len(out)) + text
        out += b"PK\3\4" + common + text + extra + body
    at = len(out)
    count = min(len(members), 65535)
    return bytes(out + entries + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, count, count, len(entries), at, 0))


def members_by(inner: Callable[[str], Mutators]) -> Mutator:
    """A member mutated as its name says, left out, repeated, renamed, packed otherwise; the rest is right."""

    def mutate(data: bytes, chance: Random, others: Sequence[bytes]) -> bytes:
        members = list(_members(data))
        if not members:
            return raw(data, chance, others)
        at = chance.randrange(len(members))
        # The pickle is where the structure is.
        if chance.random() < 0.6:
            at = next((n for n, one in enumerate(members) if one[0].endswith(".pkl")), at)
        name, content, method = members[at]
        match chance.randrange(12):
            case 0:
                del members[at]
            case 1:
                members.insert(chance.randrange(len(members) + 1), members[at])
            case 2:
                members[at] = chance.choice((*_NAMES, *(one[0] for one in members), name + "x")), content, method
            case 3:
                members[at] = name, content, 8 - method
            case 4:
                chance.shuffle(members)
            case 5 if others:
                other = _members(chance.choice(others))
                members[at] = (name, chance.choice(other)[1], method) if other else members[at]
            case _:
                siblings = [one[1] for one in members]
                for _ in range(chance.choice((1, 1, 1, 2, 3))):
                    content = pick(inner(name), chance)(content, chance, siblings)
                members[at] = name, content, method
        return packed(members)

    return mutate


def directory(data: bytes, chance: Random, others: Sequence[bytes]) -> bytes:
    """Numbers of the central directory and of its end."""
    at = data.find(b"PK\1\2")
    if at < 0:
        return raw(data, chance, others)
    if chance.random() < 0.3:
        # Entries that all point at the same place, as in archives that grow when they are unpacked.
        end = data.rfind(b"PK\5\6")
        entry = data[at : data.find(b"PK", at + 4)]
        times = chance.choice((2, 50, 500))
        entries = b"".join(_renamed(entry, number) for number in range(times))
        return (
            data[:at] + entries + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, times, times, len(entries), at, 0)
            if end > 0
            else data
        )
    return data[:at] + integer(data[at:], chance, others)


def _renamed(entry: bytes, number: int) -> bytes:
    size = int.from_bytes(entry[28:30], "little")
    text = (b"%d" % number).rjust(min(4, size), b"0")[:size]
    return entry[:46] + text + entry[46 + len(text) :]
