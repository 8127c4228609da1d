"""CIFAR-10 and CIFAR-100 as they are handed out: binary files, or pickles, which are read without running them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np

from trueline.data.source import Column, Sample, Skipped, Source
from trueline.data.sources.classes import lines_of, naming
from trueline.data.sources.columns import ColumnSource, Part
from trueline.data.sources.labels import choose_label
from trueline.data.sources.rows import PlainRows, Readable, Reading, Rows, SeenRows
from trueline.formats.pickled_arrays import read_pickle
from trueline.kernel.array import Array
from trueline.model.message import message
from trueline.model.trouble import BadFile

_SHAPE: Final = (3, 32, 32)
_PIXELS: Final = ("image", "u1", _SHAPE)
_TEN: Final = np.dtype([("label", "u1"), _PIXELS])
_HUNDRED: Final = np.dtype([("coarse_label", "u1"), ("label", "u1"), _PIXELS])
_BATCH: Final = re.compile(r"(data|test)_batch(_\d+)?(\.bin)?")
# The lists of names in a folder: a text with a line for each, or an entry of a pickle.
_NAMES: Final = {
    "label": (("batches.meta.txt", ""), ("fine_label_names.txt", ""), ("batches.meta", "label_names")),
    "coarse_label": (("coarse_label_names.txt", ""), ("meta", "coarse_label_names")),
}
_HUNDRED_NAMES: Final = ("meta", "fine_label_names")

# Samples as a binary file has them, or arrays by name as a pickle has them.
_Records: TypeAlias = Array | Mapping[str, Array]


def cifar_names(folder: Path, names: Sequence[str]) -> list[str]:
    """Those of the names in a folder that are files of CIFAR."""
    there = set(names)
    ten = sorted(name for name in there if _BATCH.fullmatch(name))
    if "fine_label_names.txt" in there or {"train.bin", "test.bin"} <= there:
        ten += [name for name in ("train.bin", "test.bin") if name in there and _is_hundred(folder / name)]
    if {"meta", "train"} <= there:
        ten += [name for name in ("train", "test") if name in there]
    return ten


def _is_hundred(path: Path) -> bool:
    return path.is_file() and path.stat().st_size % _HUNDRED.itemsize == 0


def is_cifar(path: Path) -> bool:
    """Whether a file is one of CIFAR's, by its name and its size."""
    if _BATCH.fullmatch(path.name) is not None:
        return True
    hundred = path.name in ("train.bin", "test.bin") and _is_hundred(path)
    return hundred or (path.name in ("train", "test") and (path.parent / "meta").is_file())


def open_cifar(path: Path, name: str, label: str | None = None) -> Source:
    """A file, or all files of a folder."""
    folder = path if path.is_dir() else path.parent
    files = cifar_names(folder, [entry.name for entry in folder.iterdir()]) if path.is_dir() else [path.name]
    skipped = Skipped()
    splits = {_split(file) for file in files}
    names = _names_of_classes(folder, skipped)
    parts: list[Part] = []
    held: dict[Path, Mapping[str, Array]] = {}
    for file in sorted(files, key=lambda file: (_split(file) == "test", file)):
        same = {"split": _split(file)} if len(splits) > 1 else {}
        try:
            if file.endswith(".bin"):
                parts.append(_binary(folder / file, names, same, skipped))
            else:
                parts.append(_pickled(folder / file, names, same, skipped, held))
        except BadFile as trouble:
            if len(files) == 1:
                raise
            skipped.add("unreadable_file", f"{file}: {trouble.reason}")
    if not parts:
        raise BadFile(path, message("sources.no_rows").text())
    fields = list(dict.fromkeys(field for part in parts for field in (*part.columns, *part.same)))
    chosen = choose_label(name, fields, label)
    return ColumnSource(name, "cifar", fields, chosen, parts, skipped, names.get(chosen or "", ()))


def _split(name: str) -> str:
    return "test" if name.startswith("test") else "train"


def _names_of_classes(folder: Path, skipped: Skipped) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for field, places in {**_NAMES, "fine": (_HUNDRED_NAMES,)}.items():
        for file, entry in places:
            if not (folder / file).is_file():
                continue
            try:
                names = lines_of(folder / file) if not entry else _listed(read_pickle(folder / file), entry)
            except BadFile as trouble:
                skipped.add("unreadable_file", f"{file}: {trouble.reason}")
                continue
            if names:
                found.setdefault("label" if field == "fine" else field, names)
    return found


def _entry(found: object, name: str) -> object:
    """An entry of a dictionary whose keys may be bytes."""
    if not isinstance(found, dict):
        return None
    return found.get(name, found.get(name.encode()))


def _listed(found: object, name: str) -> list[str]:
    entry = _entry(found, name)
    return [_text(name_of_class) for name_of_class in entry] if isinstance(entry, list) else []


def _text(value: object) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    # What a pickle nests can be far longer as text than the pickle is.
    return str(value) if isinstance(value, str | int | float) else type(value).__name__


def _binary(path: Path, names: Mapping[str, list[str]], same: Sample, skipped: Skipped) -> Part:
    dtype = _TEN if _BATCH.fullmatch(path.name) else _HUNDRED
    size = path.stat().st_size
    length, rest = divmod(size, dtype.itemsize)
    if rest:
        skipped.add("cut_short", f"{path.name}: {size} / {dtype.itemsize}")
    return _looked_at(path, PlainRows(path, 0, (length,), dtype), dtype.names or (), names, same)


def _looked_at(
    path: Path, rows: Readable[_Records], fields: Sequence[str], names: Mapping[str, list[str]], same: Sample
) -> Part:
    last: dict[Reading, _Records] = {}
    looks: dict[str, Callable[[_Records], Column]] = {"image": lambda found: _channels_last(found["image"])}
    for field in fields:
        if field != "image":
            looks[field] = _looking_at(field, naming(names.get(field, [])))
    columns: dict[str, Rows] = {field: SeenRows(rows, looks[field], last) for field in ("image", *fields)}
    return Part(path.name, rows.length, columns, same)


def _looking_at(field: str, named: Callable[[Column], Column]) -> Callable[[_Records], Column]:
    return lambda found: named(found[field])


def _channels_last(images: Array) -> Array:
    return np.ascontiguousarray(images.reshape(-1, *_SHAPE).transpose(0, 2, 3, 1))


class _PickledRows:
    """The images and labels of a pickle, which is read as a whole, and forgotten once the next one is."""

    def __init__(self, path: Path, length: int, held: dict[Path, Mapping[str, Array]]) -> None:
        self._path = path
        self._held = held
        self.length = length
        self.row_bytes = _TEN.itemsize

    def read(self, start: int, stop: int) -> Mapping[str, Array]:
        """Arrays by name, as records have them."""
        if self._path not in self._held:
            self._held.clear()
            self._held[self._path] = _of_pickle(self._path)
        return {name: array[start:stop] for name, array in self._held[self._path].items()}


def _of_pickle(path: Path) -> dict[str, Array]:
    """Images and labels; as many as there are of both."""
    page = read_pickle(path)
    images = _entry(page, "data")
    if not isinstance(images, np.ndarray) or images.ndim != 2 or images.shape[1] != 3072 or images.dtype != np.uint8:
        raise BadFile(path, message("sources.bad_cifar").text())
    found: dict[str, Array] = {"image": images}
    for field, entry in (("label", "labels"), ("label", "fine_labels"), ("coarse_label", "coarse_labels")):
        values = _entry(page, entry)
        if isinstance(values, list) and all(type(value) is int and abs(value) < 1 << 62 for value in values):
            found[field] = np.array(values, np.int64)
    return found


def _pickled(
    path: Path,
    names: Mapping[str, list[str]],
    same: Sample,
    skipped: Skipped,
    held: dict[Path, Mapping[str, Array]],
) -> Part:
    found = _of_pickle(path)
    lengths = {len(array) for array in found.values()}
    if len(lengths) > 1:
        skipped.add("unequal_length", f"{path.name}: {sorted(lengths)}")
    rows = _PickledRows(path, min(lengths), held)
    return _looked_at(path, rows, [field for field in found if field != "image"], names, same)
