"""The statistics of a run folder, damaged with right checksums."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from random import Random

from fuzz.case import Mutators
from fuzz.mutators.framed import SAFETENSORS
from fuzz.mutators.raw import raw
from fuzz.mutators.text import JSON, JSON_LINES, TEXT, by_ending


def block(data: bytes, chance: Random, others: Sequence[bytes]) -> bytes:
    """The first block of a segment."""
    from trueline.formats.run_folder.layout import BLOCK, DIRECTORY_ROW, RECORD, STEP_ROW

    if len(data) < BLOCK.size:
        return raw(data, chance, others)
    out = bytearray(data)
    _, _, length, _, steps, keys, _, _ = BLOCK.unpack_from(out)
    begin, middle = BLOCK.size, BLOCK.size + steps * STEP_ROW.itemsize
    body = middle + keys * DIRECTORY_ROW.itemsize
    if not begin < middle < body < length <= len(out):
        return raw(data, chance, others)
    _spoil(out, chance, ((8, BLOCK.size - 8), (begin, middle), (middle, body), (body, length)))
    at = body
    for row in range(keys):
        place = middle + row * DIRECTORY_ROW.itemsize
        end = min(at + int.from_bytes(out[place + 4 : place + 8], "little") * RECORD.itemsize, length)
        out[place + 8 : place + 12] = zlib.crc32(out[at:end]).to_bytes(4, "little")
        at = end
    out[BLOCK.size - 8 : BLOCK.size - 4] = zlib.crc32(out[begin:body]).to_bytes(4, "little")
    out[BLOCK.size - 4 : BLOCK.size] = zlib.crc32(out[: BLOCK.size - 4]).to_bytes(4, "little")
    return bytes(out)


def frame(data: bytes, chance: Random, others: Sequence[bytes]) -> bytes:
    """The first frame of the tail."""
    from trueline.formats.run_folder.layout import FRAME, RECORD

    if len(data) < FRAME.size:
        return raw(data, chance, others)
    out = bytearray(data)
    end = FRAME.size + FRAME.unpack_from(out)[5] * RECORD.itemsize
    if end > len(out) or end <= FRAME.size:
        return raw(data, chance, others)
    _spoil(out, chance, ((8, FRAME.size - 8), (FRAME.size, end)))
    out[FRAME.size - 8 : FRAME.size - 4] = zlib.crc32(out[FRAME.size : end]).to_bytes(4, "little")
    out[FRAME.size - 4 : FRAME.size] = zlib.crc32(out[: FRAME.size - 4]).to_bytes(4, "little")
    return bytes(out)


def _spoil(out: bytearray, chance: Random, parts: Sequence[tuple[int, int]]) -> None:
    low, high = chance.choice(parts)
    for _ in range(chance.randint(1, 3)):
        out[chance.randrange(low, high)] = chance.choice((0, 1, 2, 127, 128, 255))


RUN_FOLDER = by_ending(
    {
        "-tail.bin": {frame: 5, raw: 3},
        ".bin": {block: 5, raw: 3},
        ".safetensors": SAFETENSORS,
        ".jsonl": JSON_LINES,
        ".json": JSON,
        ".py": TEXT,
    }
)
BLOCKS: Mutators = {block: 5, raw: 3}
