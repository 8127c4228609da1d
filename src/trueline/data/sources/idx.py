"""IDX files, as MNIST and its like come in, plain or with gzip: images and labels are found by their names."""

from __future__ import annotations

import gzip
import math
import os
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from trueline.data.source import Skipped, Source
from trueline.data.sources.classes import lines_of, naming
from trueline.data.sources.columns import ColumnSource, Part
from trueline.data.sources.labels import choose_label
from trueline.data.sources.rows import PlainRows, Rows, SeenRows, StreamedRows, check_rows
from trueline.formats.files import fault, open_file
from trueline.model.message import message
from trueline.model.trouble import BadFile

_TYPES: Final = {8: "u1", 9: "i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}
_NAME: Final = re.compile(r"(?i)(.*?)[-_.]?(images?|labels?)[-_.]?idx\d?[-_.]?u?(byte|int|float)?(\.gz)?")
_SPLITS: Final = {"train": "train", "t10k": "test", "test": "test", "val": "val", "emnist": ""}
# Files with a line for each class.
_CLASSES: Final = ("classes.txt", "class_names.txt", "labels.txt", "label_names.txt")
_MOST_DIMENSIONS: Final = 8
_MOST_ROW: Final = 1 << 30
_PIECE: Final = 1 << 20


def looks_like_idx(start: bytes) -> bool:
    """Whether a file begins like one: two zeros, a type, and how many sides it has."""
    return len(start) > 7 and start[:2] == b"\0\0" and start[2] in _TYPES and 0 < start[3] <= _MOST_DIMENSIONS


def idx_names(names: Sequence[str]) -> list[str]:
    """Those names that are the names of IDX files."""
    return sorted(name for name in names if _NAME.fullmatch(name))


def open_idx(path: Path, name: str, label: str | None = None) -> Source:
    """A file with the one that belongs to it, or all of a folder."""
    skipped = Skipped()
    if path.is_dir():
        files = idx_names([entry.name for entry in path.iterdir()])
        chosen = _paired(files)
    else:
        found = _NAME.fullmatch(path.name)
        beside = idx_names([entry.name for entry in path.parent.iterdir()]) if found else []
        chosen = {split: pair for split, pair in _paired(beside).items() if path.name in pair.values()}
        chosen = chosen or {"": {"image": path.name}}
    folder = path if path.is_dir() else path.parent
    names = next((lines_of(folder / file) for file in _CLASSES if (folder / file).is_file()), [])
    parts = []
    for split, pair in chosen.items():
        same = {"split": _SPLITS.get(split.lower(), split) or None} if len(chosen) > 1 else {}
        part = _part(folder, pair, same, skipped, names, alone=not path.is_dir())
        parts += [part] if part is not None else []
    if not parts:
        raise BadFile(path, message("sources.no_rows").text())
    fields = list(dict.fromkeys(field for part in parts for field in (*part.columns, *part.same)))
    held = choose_label(name, fields, label)
    return ColumnSource(name, "idx", fields, held, parts, skipped, names if held == "label" else ())


def _paired(names: Sequence[str]) -> dict[str, dict[str, str]]:
    """Names by what stands before images and labels; the plain file before the packed one."""
    found: dict[str, dict[str, str]] = {}
    for name in sorted(names, key=lambda file: (file.endswith(".gz"), file)):
        match = _NAME.fullmatch(name)
        if match is not None:
            kind = "image" if match[2].lower().startswith("image") else "label"
            found.setdefault(match[1], {}).setdefault(kind, name)
    return found


def _part(
    folder: Path,
    pair: Mapping[str, str],
    same: Mapping[str, object],
    skipped: Skipped,
    names: Sequence[str],
    *,
    alone: bool,
) -> Part | None:
    columns: dict[str, Rows] = {}
    for field, name in sorted(pair.items()):
        try:
            columns[field] = _rows(folder / name, skipped)
        except BadFile as trouble:
            if alone and len(pair) == 1:
                raise
            skipped.add("unreadable_file", f"{name}: {trouble.reason}")
    if not columns:
        return None
    if len({rows.length for rows in columns.values()}) > 1:
        lengths = ", ".join(f"{pair[field]} {rows.length}" for field, rows in columns.items())
        skipped.add("unequal_length", lengths)
    if names and "label" in columns:
        columns["label"] = SeenRows(columns["label"], naming(names), {})
    return Part(", ".join(pair.values()), max(rows.length for rows in columns.values()), columns, same)


def _rows(path: Path, skipped: Skipped) -> Rows:
    packed = path.name.endswith(".gz")
    with open_file(path) as file:
        size = os.fstat(file.fileno()).st_size
        start = file.read(4 + 4 * _MOST_DIMENSIONS) if not packed else b""
    if packed:
        start = next(_inflating(path), b"")[: 4 + 4 * _MOST_DIMENSIONS]
    if not looks_like_idx(start):
        raise BadFile(path, message("sources.bad_idx").text())
    dtype = np.dtype(_TYPES[start[2]])
    offset = 4 + 4 * start[3]
    shape = tuple(int.from_bytes(start[at : at + 4], "big") for at in range(4, offset, 4))
    row = math.prod(shape[1:]) * dtype.itemsize
    # NumPy multiplies the other sides even of an empty array.
    wide = math.prod(side for side in shape if side) * dtype.itemsize
    if len(start) < offset or row > _MOST_ROW or wide >= 1 << 63:
        raise BadFile(path, message("sources.bad_idx").text())
    rows = shape[0] if packed or not row else min(shape[0], (size - offset) // row)
    check_rows(path, rows, row, numbers=len(shape) == 1)
    if packed:
        return StreamedRows(path, lambda: _inflating(path), offset, shape, dtype)
    there = (size - offset) // row if row else shape[0]
    if there < shape[0]:
        skipped.add("cut_short", f"{path.name}: {there} / {shape[0]}")
        shape = (there, *shape[1:])
    return PlainRows(path, offset, shape, dtype)


def _inflating(path: Path) -> Iterator[bytes]:
    with open_file(path) as raw, gzip.GzipFile(fileobj=raw) as file:
        while True:
            try:
                piece = file.read(_PIECE)
            except (EOFError, gzip.BadGzipFile, zlib.error):
                raise fault(path, "cut_short") from None
            if not piece:
                return
            yield piece
