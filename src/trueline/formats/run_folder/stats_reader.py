"""Statistics read either way: one tensor over all steps, or all tensors of one step."""

from __future__ import annotations

import os
import zlib
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from trueline.formats.run_folder import layout
from trueline.formats.run_folder.guard import bad, file_size, open_file
from trueline.formats.run_folder.layout import HISTORY, RECORD
from trueline.formats.run_folder.stats_blocks import Block, Frame, Records, read_blocks, read_names, read_tail
from trueline.model.key import Key
from trueline.model.summary import Summary

MAX_ATTEMPTS = 3  # a writer may turn the newest steps into a block between two reads


@dataclass(frozen=True, slots=True)
class _Contents:
    keys: list[Key]
    ids: dict[Key, int]
    blocks: list[Block]
    frames: list[Frame]
    # Of every step in the blocks: its number, its block and its row there.
    steps: npt.NDArray[np.int64]
    block_of: npt.NDArray[np.int64]
    row_of: npt.NDArray[np.int64]


class StatsReader:
    """One rank's names.jsonl, tail and segments."""

    def __init__(self, root: Path, folder: Path) -> None:
        self._root = root
        self._folder = folder
        self._block_by_step = lru_cache(maxsize=2)(self._read_by_step)

    @cached_property
    def _contents(self) -> _Contents:
        frames, blocks = self._read_consistently()
        keys = read_names(self._root, self._folder / layout.NAMES)
        for path, ids in [(block.path, block.directory["id"]) for block in blocks] + [
            (self._folder / layout.TAIL, frame.records["ref"]) for frame in frames
        ]:
            if len(ids) and int(ids.max()) >= len(keys):
                raise bad(path, "unknown_id", id=int(ids.max()))
        sizes = [len(block.steps) for block in blocks]
        return _Contents(
            keys,
            {key: number for number, key in enumerate(keys)},
            blocks,
            frames,
            np.concatenate([np.zeros(0, np.int64), *(block.steps["step"] for block in blocks)]),
            np.repeat(np.arange(len(blocks)), sizes),
            np.concatenate([np.zeros(0, np.int64), *(np.arange(size) for size in sizes)]),
        )

    def _read_consistently(self) -> tuple[list[Frame], list[Block]]:
        """Blocks, and the finished frames that no block has yet; read again if a writer was at work meanwhile."""
        trouble = bad(self._folder, "damaged")
        for _ in range(MAX_ATTEMPTS):
            # The tail first: what leaves it afterwards is found in a block.
            frames = read_tail(self._root, self._folder / layout.TAIL)
            blocks, cut = read_blocks(self._root, self._folder)
            following = blocks[-1].first + len(blocks[-1].steps) if blocks else 0
            frames = [frame for frame in frames if frame.sequence >= following]
            if frames and frames[0].sequence != following:
                trouble = bad(self._folder / layout.TAIL, "gap")
            elif cut is not None and not frames:
                trouble = bad(cut, "cut_short")
            else:
                length = file_size(self._root, self._folder / layout.EVENTS)
                return [frame for frame in frames if frame.events_length <= length], blocks
        raise trouble

    @cached_property
    def keys(self) -> list[Key]:
        """The keys that have statistics, in the order of their first appearance."""
        found = self._contents
        seen = np.zeros(len(found.keys), np.bool_)
        for block in found.blocks:
            seen[block.directory["id"]] = True
        for frame in found.frames:
            seen[frame.records["ref"]] = True
        return [key for key, there in zip(found.keys, seen.tolist(), strict=True) if there]

    def history(self, key: Key) -> npt.NDArray[np.void]:
        """One tensor's numbers in the order of steps; empty where there are none."""
        found = self._contents
        if key not in found.ids:
            return np.zeros(0, HISTORY)
        number = found.ids[key]
        runs = [(block, place) for block in found.blocks if (place := _place(block, number)) is not None]
        counts = [int(block.directory["records"][place]) for block, place in runs]
        newest = [(frame.step, frame.records[frame.records["ref"] == number]) for frame in found.frames]
        newest = [(step, records) for step, records in newest if len(records)]
        whole = np.empty(sum(counts) + len(newest), RECORD)
        self._read_runs(runs, whole)
        steps = np.empty(len(whole), np.int64)
        position = 0
        for (block, _), count in zip(runs, counts, strict=True):
            rows = whole["ref"][position : position + count]
            if rows.max() >= len(block.steps):
                raise bad(block.path, "damaged")
            steps[position : position + count] = block.steps["step"][rows]
            position += count
        for place, (step, records) in enumerate(newest, position):
            whole[place], steps[place] = records[-1], step
        history = whole.view(HISTORY)
        history["step"] = steps
        if (np.diff(steps) < 0).any():
            history = history[np.argsort(steps, kind="stable")]
        return history

    def _read_runs(self, runs: list[tuple[Block, int]], whole: Records) -> None:
        """The records of one key, block by block, straight into their place."""
        room = whole.view(np.uint8).data
        position = 0
        with ExitStack() as stack:
            path: Path | None = None
            for block, place in runs:
                if block.path != path:
                    file = stack.enter_context(open_file(self._root, block.path))
                    path = block.path
                size = int(block.directory["records"][place]) * RECORD.itemsize
                part = room[position : position + size]
                _read_into(block, file, part, int(block.offsets[place]))
                if zlib.crc32(part) != block.directory["crc"][place]:
                    raise bad(block.path, "damaged")
                position += size

    def stats(self, step: int) -> dict[Key, Summary]:
        """The numbers of all tensors of one step, in the order written."""
        found = self._contents
        summaries: dict[Key, Summary] = {}
        for place in np.flatnonzero(found.steps == step).tolist():
            bounds, ids, records = self._block_by_step(int(found.block_of[place]))
            row = int(found.row_of[place])
            begin, end = bounds[row]
            summaries.update(_summaries(found.keys, ids[begin:end], records[begin:end]))
        for frame in found.frames:
            if frame.step == step:
                summaries.update(_summaries(found.keys, frame.records["ref"], frame.records))
        return summaries

    def _read_by_step(self, number: int) -> tuple[list[tuple[int, int]], npt.NDArray[np.uint32], Records]:
        """A block turned back: its records step by step, in the order written."""
        block = self._contents.blocks[number]
        counts = block.directory["records"]
        records = np.empty(int(counts.sum()), RECORD)
        room = records.view(np.uint8).data
        with open_file(self._root, block.path) as file:
            _read_into(block, file, room, 0)
        starts = [*block.offsets.tolist(), len(room)]
        for (begin, end), crc in zip(pairwise(starts), block.directory["crc"].tolist(), strict=True):
            if zlib.crc32(room[begin:end]) != crc:
                raise bad(block.path, "damaged")
        sizes = block.steps["records"].tolist()
        inside = not len(records) or int(records["ref"].max()) < len(sizes)
        if not inside or np.bincount(records["ref"], minlength=len(sizes)).tolist() != sizes:
            raise bad(block.path, "damaged")
        order = np.lexsort((records["place"], records["ref"]))
        ends = np.cumsum(sizes).tolist()
        bounds = [(end - size, end) for size, end in zip(sizes, ends, strict=True)]
        return bounds, np.repeat(block.directory["id"], counts)[order], records[order]


def _place(block: Block, number: int) -> int | None:
    place = int(np.searchsorted(block.directory["id"], number))
    return place if place < len(block.directory) and block.directory["id"][place] == number else None


def _read_into(block: Block, file: BinaryIO, room: memoryview, offset: int) -> None:
    position = block.begin + offset
    while room:
        read = os.preadv(file.fileno(), [room], position)
        if read == 0:
            raise bad(block.path, "cut_short")
        room, position = room[read:], position + read


def _summaries(keys: list[Key], ids: npt.NDArray[np.uint32], records: Records) -> dict[Key, Summary]:
    return {keys[number]: Summary(*record[2:]) for number, record in zip(ids.tolist(), records.tolist(), strict=True)}
