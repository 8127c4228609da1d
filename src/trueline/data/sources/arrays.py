"""Arrays of NumPy: a .npy or .npz file, or a folder of them; rows are samples, arrays are fields."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from trueline.data.source import Skipped, Source
from trueline.data.sources.columns import ColumnSource, Part
from trueline.data.sources.labels import choose_label, split_off
from trueline.data.sources.pictures import TooLarge
from trueline.data.sources.rows import stored_rows
from trueline.data.sources.sample_files import Read, SampleFiles, Sort
from trueline.formats.npy import read_npy
from trueline.formats.npz import read_npz
from trueline.formats.stored import Stored
from trueline.model.message import message
from trueline.model.trouble import BadFile

_LABELS: Final = re.compile(r"(?i)y|labels?|targets?|class(es)?|annotations?")
# A table has not so many columns in files of their own.
_MOST_FIELDS: Final = 64


def open_arrays(path: Path, name: str, label: str | None = None, split: str | None = None) -> Source:
    """A file or a folder; ``split`` is the part of an archive with x_train, x_test … that is meant."""
    if path.is_dir():
        return _of_folder(path, name, label)
    skipped = Skipped()
    if path.suffix.lower() == ".npy":
        stored = _whole_rows(path, skipped)
        if not stored.shape:
            raise BadFile(path, message("sources.no_rows").text())
        return _source(name, "npy", label, [_part(path.name, {path.stem: stored}, {})], skipped)
    return _source(name, "npz", label, _splits(path, _of_archive(path, skipped), split, skipped), skipped)


def _source(name: str, kind: str, label: str | None, parts: Sequence[Part], skipped: Skipped) -> Source:
    fields: dict[str, None] = {}
    for part in parts:
        fields |= dict.fromkeys([*part.inside, *part.columns, *part.same])
    return ColumnSource(name, kind, list(fields), choose_label(name, list(fields), label), parts, skipped)


def _whole_rows(path: Path, skipped: Skipped) -> Stored:
    """The array of a file; of one that is cut short the rows that are there."""
    try:
        return read_npy(path, wide=True)
    except BadFile as trouble:
        if not _is_cut(trouble):
            raise
    found = read_npy(path, wide=True, partly=True)
    skipped.add("cut_short", path.name)
    return found


def _of_archive(path: Path, skipped: Skipped) -> dict[str, Stored]:
    found = read_npz(path, wide=True)
    for one, what in found.others.items():
        skipped.add("unread_array", f"{path.name}: {one}: {what}")
    return dict(found.model)


def _splits(path: Path, arrays: Mapping[str, Stored], only: str | None, skipped: Skipped) -> list[Part]:
    """x_train, y_train, x_test … by split; without such names all of them together."""
    by_split: dict[str, dict[str, Stored]] = {}
    for name, stored in arrays.items():
        field, split = split_off(name)
        by_split.setdefault(split, {})[field] = stored
    # One array that happens to be called so makes no splits.
    if len([split for split in by_split if split]) < 2 and only is None:
        by_split = {"": dict(arrays)}
    if only is not None and only not in by_split:
        known = ", ".join(split for split in by_split if split) or "-"
        raise BadFile(path, message("sources.no_split", split=only, known=known).text())
    parts = []
    for split, fields in by_split.items():
        if only is not None and split != only:
            continue
        kept = _of_one_length(path.name, fields, skipped)
        if not kept:
            continue
        same = {"split": split or None} if len(by_split) > 1 and only is None else {}
        parts.append(_part(f"{path.name}: {split}" if split else path.name, kept, same))
    if not parts:
        raise BadFile(path, message("sources.no_rows").text())
    return parts


def _of_one_length(place: str, arrays: Mapping[str, Stored], skipped: Skipped) -> dict[str, Stored]:
    """The arrays that are columns of one table: as long as the largest of them, or nearly."""
    rows = {name: stored for name, stored in arrays.items() if stored.shape}
    length = max(rows.values(), key=lambda stored: stored.nbytes).shape[0] if rows else 0
    kept = {}
    for name, stored in arrays.items():
        near = bool(stored.shape) and length // 2 <= stored.shape[0] <= length * 2
        if not stored.shape or (stored.shape[0] != length and not near and not _LABELS.fullmatch(name)):
            skipped.add("other_length", f"{place}: {name} {list(stored.shape)}")
            continue
        if stored.shape[0] != length:
            skipped.add("unequal_length", f"{place}: {name} {list(stored.shape)}")
        kept[name] = stored
    return kept


def _part(place: str, arrays: Mapping[str, Stored], same: Mapping[str, str | None]) -> Part:
    length = max(stored.shape[0] for stored in arrays.values())
    only = next(iter(arrays.values()))
    if len(arrays) == 1 and only.dtype.names is not None and len(only.shape) == 1:
        return Part(place, length, {}, same, stored_rows(only), only.dtype.names)
    return Part(place, length, {name: stored_rows(stored) for name, stored in arrays.items()}, same)


def _of_folder(path: Path, name: str, label: str | None) -> Source:
    """Archives that are shards of one table, files that are its columns, or files that are samples."""
    names = sorted(entry.name for entry in path.iterdir())
    archives = [name for name in names if name.lower().endswith(".npz")]
    single = [name for name in names if name.lower().endswith(".npy")]
    skipped = Skipped()
    parts: list[Part] = []
    if archives and not single:
        for archive in archives:
            try:
                parts += _splits(path / archive, _of_archive(path / archive, skipped), None, skipped)
            except BadFile as trouble:
                skipped.add("unreadable_file", f"{archive}: {trouble.reason}")
        if not parts:
            raise BadFile(path, message("sources.no_rows").text())
    elif single and (fields := _fields(path, single, skipped)):
        parts = _splits(path, fields, None, skipped)
    if not parts:
        return SampleFiles(path, name, _FILES, label)
    for one in names:
        if one not in (archives or single):
            skipped.add("not_an_array", one)
    return _source(name, "npz" if archives else "npy", label, parts, skipped)


def _fields(path: Path, files: Sequence[str], skipped: Skipped) -> dict[str, Stored]:
    """The files as columns; nothing where each is a sample of its own: many of them, or numbered."""
    numbered = sum(1 for file in files if re.search(r"\d", Path(file).stem))
    if len(files) > _MOST_FIELDS or (numbered > len(files) // 2 and len(files) > 1):
        return {}
    found: dict[str, Stored] = {}
    seen = Skipped()
    for file in files:
        try:
            found[Path(file).stem] = _whole_rows(path / file, seen)
        except BadFile as trouble:
            seen.add("unreadable_file", f"{file}: {trouble.reason}")
    lengths = {stored.shape[0] if stored.shape else -1 for stored in found.values()}
    named = any(_LABELS.fullmatch(split_off(Path(file).stem)[0]) for file in files)
    if not found or not (named or (len(lengths) == 1 and -1 not in lengths)):
        return {}
    skipped.join(seen)
    return found


def _read_file(root: Path, path: str, most: int | None) -> Read:
    """The array of a file that is a sample."""
    try:
        stored = read_npy(root / path, wide=True)
        if most is not None and stored.nbytes > most:
            raise TooLarge
        return Read(np.array(stored.array()), stored.nbytes)
    except BadFile as trouble:
        return Read(None, 0, "cut_short" if _is_cut(trouble) else "unreadable_file")


def _is_array(_where: str, name: str) -> str | None:
    return None if name.lower().endswith(".npy") else "not_an_array"


def _is_cut(trouble: BadFile) -> bool:
    return trouble.reason == message("formats.cut_short").text()


_FILES: Final = Sort("npy", "array", _is_array, _read_file, "sources.no_rows")
