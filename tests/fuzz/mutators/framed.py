"""Binary formats by their parts, with lengths and checksums made right again, so that damage gets deep."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Sequence
from random import Random

from fuzz.case import Mutator, Mutators
from fuzz.mutators.raw import RAW, integer, number, raw
from fuzz.mutators.text import JSON, TEXT, changed_tree, json_tree, one_of, token

_JSON = one_of(JSON)
_TEXT = one_of(TEXT)


_TYPES = (
    "<f4", ">f8", "<i8", "|u1", "|b1", "<f2", "|O", "<U3", "|S5", "|V2", "<U99999999", "|S0", "<M8[ns]", "<c16", "<f16",
    "bfloat16", "|V0", "", "x", "<f4,<i2", "O", "(2,3)<f4", "<M8[9999999999s]", "<m8[7D]", "<T4", "<U-1", "U", "S", "V",
)  # fmt: skip
# Where sizes of elements wrap around, in bytes and in letters of four.
_EDGES = (0, 1, 2**29 - 1, 2**29, 2**30 - 1, 2**30, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**32 + 4, 10**11, 2**63, 2**64)


def npy_type(chance: Random, depth: int = 0) -> object:
    """What a header may say of its elements: NumPy's types, those at the edges of its numbers, records, sub-arrays."""
    if chance.random() < 0.4:
        plain = f"{chance.choice('<>|=')}{chance.choice('USVfiumMc')}{chance.choice(_EDGES)}"
    else:
        plain = chance.choice(_TYPES)
    if depth == 3 or chance.random() < 0.4:
        return plain
    shape = tuple(chance.choice((0, 1, 2, 3, -1, 2**16, 2**31, 2**62)) for _ in range(chance.choice((0, 1, 2, 33))))
    inner = npy_type(chance, depth + 1)
    return chance.choice(
        (
            [("a", inner)],
            [("a", inner, shape)],
            [("a", "<i4"), ("b", inner)],
            [("", inner), ("a", "<f4")],
            [(("title", "a"), inner, chance.choice((2, -1, 2**31)))],
            [("a", inner), ("a", inner)],
            [("a",)],
            [],
            (inner, shape),
            {"names": ["a"], "formats": [inner], "itemsize": chance.choice(_EDGES)},
            inner,
        )
    )


def npy_header(data: bytes, chance: Random, others: Sequence[bytes]) -> bytes:
    """The dictionary of an .npy file; its length is right."""
    if data[:6] != b"\x93NUMPY" or len(data) < 12:
        return raw(data, chance, others)
    wide = data[6] > 1
    begin = 12 if wide else 10
    size = int.from_bytes(data[8:begin], "little")
    header, body = data[begin : begin + size], data[begin + size :]
    if chance.random() < 0.5:
        shape = str(
            tuple(
                chance.choice((0, 1, 2, 3, 7, -1, 10**3, 10**6, 10**12, 2**62, 2**64))
                for _ in range(chance.choice((0, 1, 2, 2, 3, 33)))
            )
        )
        order = chance.choice(("False", "False", "True", "1", "None"))
        text = f"{{'descr': {npy_type(chance)!r}, 'fortran_order': {order}, 'shape': {shape}, }}"
        header = text.encode() + b"\n"
    else:
        header = token(header, chance, others)
    if len(header) > 65535 and not wide:
        header = header[:65535]
    return data[:8] + len(header).to_bytes(begin - 8, "little") + header + body


NPY: Mutators = {npy_header: 5, raw: 3, integer: 1}


def safetensors_header(data: bytes, chance: Random, others: Sequence[bytes]) -> bytes:
    """The JSON of a .safetensors file; its length is right, most times."""
    size = int.from_bytes(data[:8], "little")
    if len(data) < 8 or size > len(data) - 8:
        return raw(data, chance, others)
    header, body = data[8 : 8 + size], data[8 + size :]
    header = _JSON(header, chance, [one[8 : 8 + int.from_bytes(one[:8], "little")] for one in others[:3]])
    if chance.random() < 0.5:
        header += b" " * (-len(header) % 8)
    return len(header).to_bytes(8, "little") + header + body


SAFETENSORS: Mutators = {safetensors_header: 6, raw: 3}


def _varint(value: int) -> bytes:
    out = bytearray()
    value %= 1 << 64
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data) and shift < 70:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    raise ValueError


_Field = tuple[int, int, bytes | int]


def _fields(data: bytes) -> list[_Field] | None:
    """(number, wire type, content) of a message; None where it is none."""
    found: list[_Field] = []
    at = 0
    try:
        while at < len(data):
            tag, at = _read_varint(data, at)
            kind = tag & 7
            if kind == 0:
                value, at = _read_varint(data, at)
                found.append((tag >> 3, kind, value))
                continue
            if kind == 2:
                size, at = _read_varint(data, at)
            elif kind in (1, 5):
                size = 8 if kind == 1 else 4
            else:
                return None
            if size > len(data) - at or not tag >> 3:
                return None
            found.append((tag >> 3, kind, data[at : at + size]))
            at += size
    except ValueError:
        return None
    return found


def _joined(fields: Sequence[_Field]) -> bytes:
    out = bytearray()
    for number_, kind, value in fields:
        out += _varint(number_ << 3 | kind)
        if isinstance(value, int):
            out += _varint(value)
        else:
            out += (_varint(len(value)) if kind == 2 else b"") + value
    return bytes(out)


def protobuf(data: bytes, chance: Random, others: Sequence[bytes], depth: int = 0) -> bytes:
    """A field of a message, or of a message in it, changed; the lengths around it are right."""
    fields = _fields(data) if data else None
    if not fields or depth > 8:
        return raw(data, chance, others) if data else chance.choice((b"", b"\x0a\0", b"\x08\x01"))
    at = chance.randrange(len(fields))
    number_, kind, value = fields[at]
    choice = chance.random()
    if isinstance(value, bytes) and kind == 2 and choice < 0.65:
        fields[at] = number_, kind, protobuf(value, chance, others, depth + 1)
    elif isinstance(value, int) and choice < 0.6:
        fields[at] = (
            number_,
            kind,
            chance.choice((0, 1, value + 1, value - 1, 127, 1 << 31, (1 << 63) - 1, 1 << 63, -1, 10**12)),
        )
    elif choice < 0.72:
        del fields[at]
    elif choice < 0.82:
        fields[at:at] = [fields[at]] * chance.choice((1, 1, 2, 300))
    elif choice < 0.88:
        fields[at] = chance.randrange(1, 20), kind, value
    elif choice < 0.93:
        there = chance.randrange(len(fields))
        fields[at], fields[there] = fields[there], fields[at]
    elif choice < 0.96:
        fields.insert(at, (chance.randrange(1, 20), 2, chance.randbytes(chance.randrange(20))))
    elif isinstance(value, bytes):
        fields[at] = number_, 5 if kind != 5 else 1, value[:4].ljust(4, b"\0")
    return _joined(fields)


_TRAILER = b"crc_num"


def ckpt(data: bytes, chance: Random, others: Sequence[bytes]) -> bytes:
    """A MindSpore checkpoint by its fields; its sum is right."""
    if data[-17:-10] != _TRAILER:
        return protobuf(data, chance, others)
    body = protobuf(data[:-17], chance, others)
    return body + _TRAILER + b"%010d" % zlib.crc32(body)


CKPT: Mutators = {ckpt: 6, raw: 3, number: 0.3}


def _frames(data: bytes) -> list[bytes]:
    found: list[bytes] = []
    at = 0
    while at + 16 <= len(data):
        size = int.from_bytes(data[at : at + 8], "little")
        if size > len(data) - at - 16:
            break
        found.append(data[at + 12 : at + 12 + size])
        at += 16 + size
    return found


def framed(records: Sequence[bytes]) -> bytes:
    """Records as event files frame them."""
    from trueline.formats.checksums import masked_crc

    out = bytearray()
    for one in records:
        size = struct.pack("<Q", len(one))
        out += size + struct.pack("<I", masked_crc(size)) + one + struct.pack("<I", masked_crc(one))
    return bytes(out)


def events(data: bytes, chance: Random, others: Sequence[bytes]) -> bytes:
    """A record of an event file changed, left out, repeated or moved; lengths and sums are right."""
    records = _frames(data)
    if not records:
        return raw(data, chance, others)
    for _ in range(chance.choice((1, 1, 2, 4))):
        if not records:
            break
        at = chance.randrange(len(records))
        match chance.randrange(10):
            case 0:
                del records[at]
            case 1:
                records[at:at] = [records[at]] * chance.choice((1, 1, 20))
            case 2:
                there = chance.randrange(len(records))
                records[at], records[there] = records[there], records[at]
            case 3:
                records.insert(at, chance.choice((b"", b"\x10\x01", b"\x2a\0", chance.randbytes(30))))
            case _:
                records[at] = protobuf(records[at], chance, others)
    return framed(records)


EVENTS: Mutators = {events: 6, raw: 3}


def mindrecord(data: bytes, chance: Random, others: Sequence[bytes]) -> bytes:
    """The header of a MindRecord file; its length is right and the pages stay where they are."""
    size = int.from_bytes(data[:8], "little")
    if not 0 < size <= len(data) - 8:
        return raw(data, chance, others)
    try:
        tree = json.loads(data[8 : 8 + size])
        base = min(int(tree["header_size"]), len(data))
    except (ValueError, TypeError, KeyError, OverflowError):
        return raw(data, chance, others)
    pages = data[base:]
    if chance.random() < 0.35:
        # The rows, in msgpack; lengths before them stay.
        return data[:base] + raw(pages, chance, others)
    header = json_tree(data[8 : 8 + size], chance, others)
    if chance.random() < 0.5:
        kept = {key: tree[key] for key in ("header_size", "page_size") if key in tree}
        # What the pages are is what their readers follow.
        header = (
            json.dumps({**changed_tree(json.loads(json.dumps(tree)), chance), **kept}).encode()
            if isinstance(tree, dict)
            else header
        )
    return len(header).to_bytes(8, "little") + header.ljust(base - 8, b"\0") + pages


MINDRECORD: Mutators = {mindrecord: 6, raw: 3}


def png(data: bytes, chance: Random, others: Sequence[bytes]) -> bytes:
    """A chunk of a PNG changed, left out, repeated or moved; lengths and sums are right."""
    if data[:8] != b"\x89PNG\r\n\x1a\n":
        return raw(data, chance, others)
    chunks: list[tuple[bytes, bytes]] = []
    at = 8
    while at + 12 <= len(data):
        size = int.from_bytes(data[at : at + 4], "big")
        chunks.append((data[at + 4 : at + 8], data[at + 8 : at + 8 + size]))
        at += 12 + size
    if not chunks:
        return raw(data, chance, others)
    for _ in range(chance.choice((1, 1, 2))):
        if not chunks:
            break
        at = chance.randrange(len(chunks))
        kind, content = chunks[at]
        match chance.randrange(9):
            case 0:
                del chunks[at]
            case 1:
                chunks[at:at] = [chunks[at]] * chance.choice((1, 1, 50))
            case 2:
                there = chance.randrange(len(chunks))
                chunks[at], chunks[there] = chunks[there], chunks[at]
            case 3:
                some = chance.choice(
                    (b"tEXt", b"zTXt", b"iCCP", b"PLTE", b"tRNS", b"acTL", b"fcTL", b"IDAT", b"eXIf", b"iTXt")
                )
                body = chance.choice((b"", b"a\0\0" + zlib.compress(b"\0" * 100_000), chance.randbytes(30), content))
                chunks.insert(at, (some, body))
            case 4:
                chunks[0] = chunks[0][0], integer(chunks[0][1], chance, ())
            case 5:
                chunks[at] = kind, zlib.compress(raw(_inflated(content), chance, others), 1)
            case _:
                chunks[at] = kind, raw(content, chance, others)
    out = bytearray(data[:8])
    for kind, content in chunks:
        out += len(content).to_bytes(4, "big") + kind + content + zlib.crc32(kind + content).to_bytes(4, "big")
    return bytes(out)


def _inflated(content: bytes) -> bytes:
    try:
        return zlib.decompressobj().decompress(content, 1 << 20)
    except zlib.error:
        return content


PNG: Mutators = {png: 6, raw: 2}


def with_tail(inner: Mutator, size: int) -> Mutator:
    """The last bytes stay: the structure of the file is found through them."""
    return lambda data, chance, others: inner(data[:-size], chance, others) + data[-size:]


def footer(data: bytes, chance: Random, others: Sequence[bytes]) -> bytes:
    """The footer of a Parquet file, which its last eight bytes find; its length is right."""
    if data[-4:] != b"PAR1" or len(data) < 12:
        return raw(data, chance, others)
    size = int.from_bytes(data[-8:-4], "little")
    at = len(data) - 8 - size
    if at < 4:
        return raw(data, chance, others)
    changed = raw(data[at:-8], chance, others)
    return data[:at] + changed + len(changed).to_bytes(4, "little") + b"PAR1"


PARQUET: Mutators = {footer: 5, with_tail(raw, 8): 4, raw: 2}
ARROW: Mutators = {integer: 5, **{one: weight * 0.6 for one, weight in RAW.items() if one is not integer}}
