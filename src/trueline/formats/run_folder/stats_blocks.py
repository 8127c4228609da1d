"""The files of statistics, checked: frames of the tail, and blocks of the segments by their tables."""

from __future__ import annotations

import os
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from trueline.formats.run_folder import layout
from trueline.formats.run_folder.guard import bad, decode_json, list_names, open_file, open_if_there
from trueline.formats.run_folder.layout import BLOCK, DIRECTORY_ROW, FRAME, RECORD, STEP_ROW
from trueline.model.json_value import Json
from trueline.model.key import Key

Records = npt.NDArray[np.void]


@dataclass(frozen=True, slots=True)
class Frame:
    """One step of the tail, in execution order."""

    sequence: int
    step: int
    events_length: int
    records: Records


@dataclass(frozen=True, slots=True)
class Block:
    """The tables of one block; its records stay in the file, those of each key together, from ``begin`` on."""

    path: Path
    first: int
    begin: int
    steps: npt.NDArray[np.void]
    directory: npt.NDArray[np.void]
    offsets: npt.NDArray[np.int64]


def read_names(root: Path, path: Path) -> list[Key]:
    """The keys by their ids."""
    keys: dict[Key, None] = {}
    with open_if_there(root, path) as file:
        if file is None:
            return []
        size = os.fstat(file.fileno()).st_size
        if size > layout.MAX_NAMES:
            raise bad(path, "too_large", size=size, most=layout.MAX_NAMES)
        for number, line in enumerate(file):
            if not line.endswith(b"\n"):
                break
            key = _named(path, number, decode_json(path, line, number + 1))
            if key in keys:
                raise bad(path, "bad_line", line=number + 1, reason=repr(str(key)))
            keys[key] = None
    return list(keys)


def _named(path: Path, number: int, entry: Json) -> Key:
    if not isinstance(entry, dict) or entry.get("id") != number or not isinstance(entry.get("key"), str):
        raise bad(path, "bad_line", line=number + 1, reason=f'{{"id": {number}, "key": …}}')
    try:
        return Key.parse(str(entry["key"]))
    except ValueError as error:
        raise bad(path, "bad_line", line=number + 1, reason=str(error)[:200]) from None


def read_tail(root: Path, path: Path) -> list[Frame]:
    """All whole frames of the tail, in order."""
    frames: list[Frame] = []
    with open_if_there(root, path) as file:
        if file is None:
            return frames
        rest = os.fstat(file.fileno()).st_size
        while rest >= FRAME.size:
            head = file.read(FRAME.size)
            rest -= FRAME.size
            if _never_written(head):
                break
            magic, sequence, step, events_length, phase, count, crc, head_crc = FRAME.unpack(head)
            if magic != layout.FRAME_MAGIC or zlib.crc32(head[:-4]) != head_crc or count > layout.MAX_KEYS:
                raise bad(path, "damaged")
            if count * RECORD.itemsize > rest:
                break
            data = file.read(count * RECORD.itemsize)
            rest -= len(data)
            if zlib.crc32(data) != crc or len(data) != count * RECORD.itemsize:
                raise bad(path, "damaged")
            if phase >= len(layout.PHASES) or step >= 1 << 63 or (frames and sequence != frames[-1].sequence + 1):
                raise bad(path, "damaged")
            frames.append(Frame(sequence, step, events_length, np.frombuffer(data, RECORD)))
    return frames


def read_blocks(root: Path, folder: Path) -> tuple[list[Block], Path | None]:
    """The whole blocks of all segments, and the segment that ends within a block if there is one."""
    numbers = sorted(
        int(found[1]) for name in list_names(root, folder) if (found := layout.SEGMENT_NAME.fullmatch(name))
    )
    blocks: list[Block] = []
    for place, number in enumerate(numbers):
        path = folder / layout.segment_name(number)
        if place != number:
            raise bad(folder, "missing_segment", name=layout.segment_name(place))
        with open_file(root, path) as file:
            size = os.fstat(file.fileno()).st_size
            position = 0
            while position < size:
                block, length = _read_block(path, file, position, size)
                if block is None:
                    if number != numbers[-1]:
                        raise bad(path, "cut_short")
                    return blocks, path
                if block.first != (blocks[-1].first + len(blocks[-1].steps) if blocks else 0):
                    raise bad(path, "damaged")
                blocks.append(block)
                position += length
    return blocks, None


def _read_block(path: Path, file: BinaryIO, position: int, size: int) -> tuple[Block | None, int]:
    if size - position < BLOCK.size:
        return None, 0
    head = os.pread(file.fileno(), BLOCK.size, position)
    if len(head) < BLOCK.size or _never_written(head):
        return None, 0
    magic, first, length, records, steps, keys, crc, head_crc = BLOCK.unpack(head)
    if magic != layout.BLOCK_MAGIC or zlib.crc32(head[:-4]) != head_crc:
        raise bad(path, "damaged")
    tables_size = steps * STEP_ROW.itemsize + keys * DIRECTORY_ROW.itemsize
    if length != BLOCK.size + tables_size + records * RECORD.itemsize or length > layout.MAX_BLOCK:
        raise bad(path, "damaged")
    if not 0 < steps <= layout.MAX_BLOCK_STEPS or keys > layout.MAX_KEYS:
        raise bad(path, "damaged")
    if length > size - position:
        return None, 0
    tables = os.pread(file.fileno(), tables_size, position + BLOCK.size)
    if len(tables) != tables_size or zlib.crc32(tables) != crc:
        raise bad(path, "damaged")
    table = np.frombuffer(tables, STEP_ROW, steps)
    directory = np.frombuffer(tables, DIRECTORY_ROW, keys, steps * STEP_ROW.itemsize)
    counts = directory["records"].astype(np.int64)
    if (
        counts.sum() != records
        or (counts == 0).any()
        or (counts > steps).any()
        or (np.diff(directory["id"].astype(np.int64)) <= 0).any()
        or (table["phase"] >= len(layout.PHASES)).any()
        or (table["step"] < 0).any()
        or table["records"].astype(np.int64).sum() != records
    ):
        raise bad(path, "damaged")
    offsets = (np.cumsum(counts) - counts) * RECORD.itemsize
    return Block(path, first, position + BLOCK.size + tables_size, table, directory, offsets), length


def _never_written(head: bytes) -> bool:
    """Zeros are what a machine that lost its power leaves at the end of a file."""
    return not any(head)
