"""Reading a dump folder of msprobe."""

from __future__ import annotations

import contextlib
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Final

import msgspec

from trueline.formats.dump import Dump, Dumped
from trueline.formats.files import map_file
from trueline.formats.msprobe.entries import Entry, entries_of
from trueline.formats.msprobe.places import DUMP, dumps_of
from trueline.formats.npy import read_npy
from trueline.formats.pth import read_pth
from trueline.formats.stored import Stored
from trueline.model.budget import READ_PER_UNIT, Budget
from trueline.model.message import message
from trueline.model.trouble import BadFile

_TENSORS: Final = "dump_tensor_data"
_LARGEST: Final = 4 << 30
# A listed tensor, beside what the JSON of it takes.
_ENTRY_BYTES: Final = 768
# Python writes these words, which are no JSON; a quote inside a text has a backslash before it.
_WORD: Final = re.compile(rb'(?<!\\)(":\s*)(NaN|-?Infinity)(?=\s*[,}\]])')


def read_msprobe(folder: Path) -> Dump:
    """A dump folder, one of its steps, or one rank of a step; tensors where they were kept, else their numbers."""
    found = dumps_of(folder)
    if not found:
        raise BadFile(folder, message("msprobe.no_dump").text())
    steps = {place: _read(path) for place, path in found.items()}
    if not any(steps.values()):
        raise BadFile(folder, message("msprobe.no_tensors").text())
    return Dump(folder, "msprobe", steps)


def _read(folder: Path) -> list[Dumped]:
    path = folder / DUMP
    budget = Budget(path, 0)
    data = _decoded(path, budget)
    calls = data.get("data") if isinstance(data, dict) else None
    if not isinstance(calls, dict):
        raise BadFile(path, message("msprobe.not_a_dump").text())
    try:
        files = set(os.listdir(folder / _TENSORS))  # noqa: PTH208 (only the names are wanted)
    except OSError:
        files = set()
    tensors = _Tensors(folder / _TENSORS, files, budget)
    found: list[Dumped] = []
    for name, call in calls.items():
        for entry in entries_of(name, call):
            # One long name may have many tensors, and each has its rows in what is told of them.
            budget.hold(_ENTRY_BYTES + 4 * len(entry.dumped.name))
            found.append(tensors.with_elements(entry))
    return found


def _decoded(path: Path, budget: Budget) -> object:
    data: memoryview | bytes = map_file(path)
    budget.widen(len(data))
    # What it is decoded to, and what the words below are replaced in.
    budget.hold(16 * len(data))
    if len(data) > _LARGEST:
        raise BadFile(path, message("msprobe.too_large", size=len(data), most=_LARGEST).text())
    if _WORD.search(data) is not None:
        data = _WORD.sub(rb'\1"\2"', bytes(data))
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        reason = str(error).replace("\n", " ")[:200]
        raise BadFile(path, message("msprobe.bad_json", reason=reason).text()) from None


class _Tensors:
    """The files beside a listing; each is read once, however often it is listed."""

    def __init__(self, folder: Path, files: set[str], budget: Budget) -> None:
        self._folder = folder
        self._files = files
        self._budget = budget
        self._read: dict[str, Stored | None] = {}

    def with_elements(self, entry: Entry) -> Dumped:
        """The tensor with the elements that its file has."""
        # Only a name that the folder itself lists is opened: none leads out of it. What is not there has its numbers.
        if entry.file not in self._files:
            return entry.dumped
        if entry.file not in self._read:
            path = self._folder / entry.file
            self._read[entry.file] = _stored(path)
            with contextlib.suppress(OSError):
                self._budget.widen(path.stat().st_size)
        stored = self._read[entry.file]
        if stored is None:
            return entry.dumped
        # Whoever compares reads them once for each entry.
        self._budget.spend(1 + stored.nbytes // READ_PER_UNIT)
        own = replace(stored, name=entry.dumped.name)
        return replace(entry.dumped, stored=own, shape=own.shape, dtype=own.dtype.name)


def _stored(path: Path) -> Stored | None:
    if path.suffix == ".npy":
        return read_npy(path)
    if path.suffix == ".pt":
        held = [stored for section in read_pth(path).sections.values() for stored in section.values()]
        return held[0] if len(held) == 1 else None
    return None
