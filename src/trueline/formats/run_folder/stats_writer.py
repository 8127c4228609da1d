"""Statistics written twice: step by step as steps finish, then tensor by tensor, so that a history is one piece."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from itertools import starmap
from operator import attrgetter
from pathlib import Path

import numpy as np
import numpy.typing as npt

from trueline.formats.run_folder import layout
from trueline.formats.run_folder.appending import Appender
from trueline.formats.run_folder.json_text import json_bytes
from trueline.formats.run_folder.layout import BLOCK, FRAME, Limits
from trueline.model.key import Key
from trueline.model.summary import Summary

_numbers = attrgetter(*layout.SUMMARY_FIELDS)


class StatsWriter:
    """One rank's names.jsonl, tail and segments."""

    def __init__(self, folder: Path, limits: Limits) -> None:
        self._folder = folder
        self._limits = limits
        self._names = Appender(folder / layout.NAMES)
        self._tail = Appender(folder / layout.TAIL)
        self._segment = Appender(folder / layout.segment_name(0))
        self._segments = 1
        self._ids: dict[Key, int] = {}
        self._last_keys: tuple[Key, ...] = ()
        self._last_refs = np.zeros(0, np.uint32)
        self._sequence = 0
        # Fresh memory costs more than the work done in it: both stay for the whole run.
        self._waiting = np.zeros(0, layout.RECORD)
        self._turned = np.zeros(0, np.uint8)
        self._steps: list[tuple[int, int, int]] = []
        self._records = 0

    @property
    def full(self) -> bool:
        """Whether the newest steps should become a block now."""
        return len(self._steps) >= self._limits.block_steps or self._tail.size >= self._limits.block_bytes

    def append(self, step: int, phase: int, stats: Sequence[tuple[Key, Summary]], events_length: int) -> None:
        """One step's statistics, finished once events.jsonl has the given length."""
        keys: tuple[Key, ...]
        summaries: tuple[Summary, ...]
        keys, summaries = zip(*stats, strict=True)
        # Comparing with the last step's keys is far cheaper than looking every one up again.
        if keys != self._last_keys:
            if len(set(keys)) != len(keys):
                return self.append(step, phase, list(dict(stats).items()), events_length)
            self._last_refs = self._number(keys)
            self._last_keys = keys
        data = self._wait(summaries).tobytes()
        head = FRAME.pack(
            layout.FRAME_MAGIC, self._sequence, step, events_length, phase, len(keys), zlib.crc32(data), 0
        )
        self._tail.append(_sealed(head) + data)
        self._sequence += 1
        self._steps.append((step, phase, len(keys)))
        self._records += len(keys)
        return None

    def turn(self) -> None:
        """Turn the newest steps into a block; only finished steps may be waiting."""
        if not self._steps:
            return
        block = self._block()
        if self._segment.size and self._segment.size + len(block) > self._limits.segment_bytes:
            self._segment.close()
            self._segment = Appender(self._folder / layout.segment_name(self._segments))
            self._segments += 1
        try:
            self._segment.append(block)
        except OSError:
            self._segment.give_back()
            raise
        self._steps.clear()
        self._records = 0
        # A new file rather than a shortened one: who reads along keeps a whole tail in hand.
        self._tail.remove()

    def close(self) -> None:
        """Let go of the files."""
        for file in (self._names, self._tail, self._segment):
            file.close()

    def _number(self, keys: Sequence[Key]) -> npt.NDArray[np.uint32]:
        new = [key for key in keys if key not in self._ids]
        if new:
            first = len(self._ids)
            lines = [json_bytes({"id": first + place, "key": str(key)}) + b"\n" for place, key in enumerate(new)]
            self._names.append(b"".join(lines))
            self._ids.update((key, first + place) for place, key in enumerate(new))
        return np.array([self._ids[key] for key in keys], np.uint32)

    def _wait(self, summaries: Sequence[Summary]) -> npt.NDArray[np.void]:
        """Put a step's records behind those that wait."""
        count = len(summaries)
        begin = self._records
        if begin + count > len(self._waiting):
            self._waiting = np.concatenate([self._waiting, np.zeros(begin + count, layout.RECORD)])
        records = self._waiting[begin : begin + count]
        records["ref"] = self._last_refs
        records["place"] = np.arange(count)
        body = b"".join(starmap(layout.SUMMARY_PACK.pack, map(_numbers, summaries)))
        bytewise = records.view(np.uint8).reshape(count, layout.RECORD.itemsize)
        bytewise[:, -layout.SUMMARY_PACK.size :] = np.frombuffer(body, np.uint8).reshape(count, -1)
        return records

    def _block(self) -> memoryview:
        """What waits, tensor by tensor."""
        steps = np.array(self._steps, layout.STEP_ROW)
        waiting = self._waiting[: self._records]
        order = np.argsort(waiting["ref"], kind="stable")
        sorted_ids = waiting["ref"][order]
        firsts = np.flatnonzero(np.diff(sorted_ids, prepend=np.int64(-1)))
        ids, counts = sorted_ids[firsts], np.diff(firsts, append=len(waiting))
        # The tail has the ids; what waits is not needed any more once it is turned.
        waiting["ref"] = np.repeat(np.arange(len(steps)), steps["records"])
        begin = BLOCK.size + steps.nbytes + len(ids) * layout.DIRECTORY_ROW.itemsize
        length = begin + waiting.nbytes
        if length > len(self._turned):
            self._turned = np.zeros(length, np.uint8)
        block = self._turned[:length]
        width = layout.RECORD.itemsize
        rows = waiting.view(np.uint8).reshape(len(waiting), width)
        np.take(rows, order, axis=0, out=block[begin:].reshape(len(waiting), width), mode="clip")
        ends = begin + np.cumsum(counts) * width
        begins = ends - counts * width
        crcs = [zlib.crc32(block.data[begin:end]) for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)]
        directory = np.zeros(len(ids), layout.DIRECTORY_ROW)
        directory["id"], directory["records"], directory["crc"] = ids, counts, crcs
        tables = steps.tobytes() + directory.tobytes()
        first = self._sequence - len(steps)
        head = BLOCK.pack(layout.BLOCK_MAGIC, first, length, len(waiting), len(steps), len(ids), zlib.crc32(tables), 0)
        block[:begin] = np.frombuffer(_sealed(head) + tables, np.uint8)
        return block.data


def _sealed(head: bytes) -> bytes:
    """The same head with its checksum in the last place."""
    return head[:-4] + zlib.crc32(head[:-4]).to_bytes(4, "little")
