"""What a file or folder is, told by looking into it, not by its name.

The readers are imported where one is needed: a comparison of two small files is not to wait for all of them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Final

from trueline.formats.files import fault, open_file, unreadable

_HEAD: Final = 4096
_ZIP: Final = b"PK\x03\x04"
_NPY: Final = b"\x93NUMPY"
_PICKLE: Final = b"\x80"
_INDEXES: Final = (".safetensors.index.json", ".bin.index.json")
_MOST_LOOKED_AT: Final = 200_000


class Kind(StrEnum):
    """What can be compared with its like."""

    RUN = "run"
    ARRAYS = "arrays"
    WEIGHTS = "weights"
    CURVES = "curves"
    DUMP = "dump"


class Format(StrEnum):
    """How it is written."""

    RUN_FOLDER = "run_folder"
    NPY = "npy"
    NPZ = "npz"
    PTH = "pth"
    CKPT = "ckpt"
    SAFETENSORS = "safetensors"
    PTH_SHARDS = "pth_shards"
    LOG = "log"
    TENSORBOARD = "tensorboard"
    MS_SUMMARY = "ms_summary"
    MS_DUMP = "ms_dump"
    MSPROBE = "msprobe"


_KINDS: Final = {
    Format.RUN_FOLDER: Kind.RUN,
    Format.NPY: Kind.ARRAYS,
    Format.LOG: Kind.CURVES,
    Format.TENSORBOARD: Kind.CURVES,
    Format.MS_SUMMARY: Kind.CURVES,
    Format.MS_DUMP: Kind.DUMP,
    Format.MSPROBE: Kind.DUMP,
}


@dataclass(frozen=True, slots=True)
class Looked:
    """A path and what is there."""

    path: Path
    format: Format

    @property
    def kind(self) -> Kind:
        """What it can be compared with; all files of weights are of one kind."""
        return _KINDS.get(self.format, Kind.WEIGHTS)


def look(path: Path) -> Looked:
    """Tell what a path is; a BadFile where it is nothing that can be compared."""
    try:
        if path.stat() and path.is_dir():
            return Looked(path, _of_folder(path))
        found = _of_file(path)
        # A dump is its folder.
        return Looked(path.absolute().parent if found is Format.MSPROBE else path, found)
    except OSError as error:
        raise unreadable(path, error) from None


def _of_folder(path: Path) -> Format:
    if (path / "run.json").is_file() or (path / "rank-00000").is_dir():
        return Format.RUN_FOLDER
    found = list(islice(walk(path), _MOST_LOOKED_AT))
    names = [name for _, name in found]
    top = str(path)
    if not all(where == top and name.endswith((".npy", ".npz")) for where, name in found):
        from trueline.formats.ms_dump import looks_like_ms_dump
        from trueline.formats.msprobe import looks_like_msprobe

        # What is damaged, its own reader says best.
        if looks_like_msprobe(path) or "dump.json" in names:
            return Format.MSPROBE
        if looks_like_ms_dump(path):
            return Format.MS_DUMP
    lying = [name for where, name in found if where == top]
    for index, format in zip(_INDEXES, (Format.SAFETENSORS, Format.PTH_SHARDS), strict=True):
        if any(name.endswith(index) for name in lying):
            return format
    if any("tfevents" in name for name in names):
        return Format.TENSORBOARD
    if any(".events.summary." in name for name in names):
        return Format.MS_SUMMARY
    if any(name.endswith((".npy", ".npz")) for name in names):
        return Format.NPY
    if not names:
        raise fault(path, "empty_folder")
    raise fault(path, "unknown_folder")


def walk(folder: Path) -> Iterator[tuple[str, str]]:
    """(folder, name) of the files below a folder, in a stable order; links to folders are not followed."""
    for where, folders, files in os.walk(str(folder), onerror=_refuse):
        folders.sort()
        for name in sorted(files):
            yield where, name


def _refuse(error: OSError) -> None:
    raise error


def _of_file(path: Path) -> Format:
    if path.name == "dump.json":
        return Format.MSPROBE
    if path.name.endswith(_INDEXES):
        return Format.SAFETENSORS if path.name.endswith(_INDEXES[0]) else Format.PTH_SHARDS
    with open_file(path) as file:
        head = file.read(_HEAD)
        size = os.fstat(file.fileno()).st_size
    if not size:
        raise fault(path, "empty_file")
    if head.startswith(_ZIP):
        return Format.NPZ if _holds_arrays(head, path) else Format.PTH
    if path.suffix == ".safetensors":
        return Format.SAFETENSORS
    if head.startswith(_NPY):
        return Format.NPY
    if head[8:9] == b"{" and int.from_bytes(head[:8], "little") <= size - 8:
        return Format.SAFETENSORS
    return _of_content(path, head)


def _of_content(path: Path, head: bytes) -> Format:
    """What has no plain mark at its beginning."""
    from trueline.formats.ckpt import looks_like_ckpt
    from trueline.formats.event_file import looks_like_events

    if looks_like_events(head):
        return Format.MS_SUMMARY if ".events.summary." in path.name else Format.TENSORBOARD
    if head.startswith(_PICKLE):
        return Format.PTH
    if looks_like_ckpt(path):
        return Format.CKPT
    from trueline.formats.log import looks_like_log

    if looks_like_log(path):
        return Format.LOG
    by_name = {".pth": Format.PTH, ".pt": Format.PTH, ".bin": Format.PTH, ".ckpt": Format.CKPT}
    by_name |= {".npz": Format.NPZ, ".npy": Format.NPY, ".safetensors": Format.SAFETENSORS}
    by_name |= dict.fromkeys((".log", ".txt", ".csv", ".tsv", ".jsonl"), Format.LOG)
    if path.suffix in by_name:
        # Its own reader says best what is wrong with it.
        return by_name[path.suffix]
    raise fault(path, "unknown_file")


def _holds_arrays(head: bytes, path: Path) -> bool:
    name = head[30 : 30 + int.from_bytes(head[26:28], "little")]
    return name.endswith(b".npy") or path.suffix == ".npz"
