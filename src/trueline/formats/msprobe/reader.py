"""Reading a dump folder of msprobe."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import msgspec

from trueline.formats.dump import Dump, Dumped
from trueline.formats.files import map_file
from trueline.formats.msprobe.entries import Entry, entries_of
from trueline.formats.msprobe.places import DUMP, dumps_of
from trueline.formats.npy import read_npy
from trueline.formats.pth import read_pth
from trueline.formats.stored import Stored
from trueline.model.message import message
from trueline.model.trouble import BadFile

_TENSORS: Final = "dump_tensor_data"
_LARGEST: Final = 4 << 30
# Python writes these words, which are no JSON; a quote inside a text has a backslash before it.
_WORD: Final = re.compile(rb'(?<!\\)(":\s*)(NaN|-?Infinity)(?=\s*[,}\]])')


def read_msprobe(folder: Path) -> Dump:
    """A dump folder, one of its steps, or one rank of a step; tensors where they were kept, else their numbers."""
    found = dumps_of(folder)
    if not found:
        raise BadFile(folder, message("msprobe.no_dump").text())
    steps = {place: _read(one) for place, one in found.items()}
    if not any(steps.values()):
        raise BadFile(folder, message("msprobe.no_tensors").text())
    return Dump(folder, "msprobe", steps)


def _read(folder: Path) -> list[Dumped]:
    path = folder / DUMP
    data = _decoded(path)
    calls = data.get("data") if isinstance(data, dict) else None
    if not isinstance(calls, dict):
        raise BadFile(path, message("msprobe.not_a_dump").text())
    try:
        files = set(os.listdir(folder / _TENSORS))  # noqa: PTH208 (only the names are wanted)
    except OSError:
        files = set()
    return [
        _with_elements(folder / _TENSORS, files, entry)
        for name, call in calls.items()
        for entry in entries_of(name, call)
    ]


def _decoded(path: Path) -> Any:
    data: memoryview | bytes = map_file(path)
    if len(data) > _LARGEST:
        raise BadFile(path, message("msprobe.too_large", size=len(data), most=_LARGEST).text())
    if _WORD.search(data) is not None:
        data = _WORD.sub(rb'\1"\2"', bytes(data))
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        reason = str(error).replace("\n", " ")[:200]
        raise BadFile(path, message("msprobe.bad_json", reason=reason).text()) from None


def _with_elements(folder: Path, files: set[str], entry: Entry) -> Dumped:
    # Only a name that the folder itself lists is opened: none leads out of it. What is not there has its numbers.
    if entry.file not in files:
        return entry.dumped
    stored = _stored(folder / entry.file, entry.dumped.name)
    if stored is None:
        return entry.dumped
    return replace(entry.dumped, stored=stored, shape=stored.shape, dtype=stored.dtype.name)


def _stored(path: Path, name: str) -> Stored | None:
    if path.suffix == ".npy":
        return read_npy(path, name)
    if path.suffix == ".pt":
        held = [one for section in read_pth(path).sections.values() for one in section.values()]
        return replace(held[0], name=name) if len(held) == 1 else None
    return None
