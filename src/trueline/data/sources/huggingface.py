"""Datasets of Hugging Face as they lie on disk: Arrow streams, and a page about their features."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from trueline.data.source import Chunk, Column, Sample, Skipped, Source
from trueline.data.sources.arrow_columns import Feature, column_of, size_of_picture
from trueline.data.sources.judged import Judged
from trueline.data.sources.labels import choose_label
from trueline.data.sources.pictures import has_pillow
from trueline.formats.files import open_file
from trueline.formats.printable import is_plain_name, printable
from trueline.formats.run_folder.guard import bad
from trueline.model.budget import Budget, OverBudget
from trueline.model.json_value import JsonObject
from trueline.model.message import message
from trueline.model.trouble import BadFile, Missing

if TYPE_CHECKING:
    import pyarrow

_INFO: Final = "dataset_info.json"
_STATE: Final = "state.json"
_SPLITS: Final = "dataset_dict.json"
_MOST_JSON: Final = 64 << 20
_CHUNK_SAMPLES: Final = 4096
_CHUNK_BYTES: Final = 16 << 20
# So many bytes of repeated words are a unit of work, and are there so many times while they become Python's.
_WORDS_PER_UNIT, _WORDS_AT_ONCE = 512, 4
# Of so many samples a fingerprint is kept, and looked for among the others.
_KEPT, _FINGERPRINT = 1_000_000, 96
# Images become larger when they are decoded.
_PACKED_BYTES: Final = 2 << 20
_PIXEL_BYTES: Final = 32 << 20
# What pyarrow raises besides its own at damaged files.
_DAMAGE: Final = (OSError, ValueError, KeyError, TypeError, OverflowError, MemoryError)


def is_saved(path: Path) -> bool:
    """Whether a folder is such a dataset, or has one for each split."""
    if (path / _SPLITS).is_file():
        return True
    return (path / _INFO).is_file() and ((path / _STATE).is_file() or any(path.glob("*.arrow")))


def open_saved(path: Path, name: str, label: str | None = None) -> Source:
    """A dataset, all splits of one, or one Arrow file."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise Missing("sources.no_pyarrow") from None
    skipped = Skipped()
    if (path / _SPLITS).is_file():
        listed = _page(path / _SPLITS).get("splits")
        if not isinstance(listed, list) or not all(isinstance(name, str) for name in listed):
            raise BadFile(path / _SPLITS, message("formats.damaged").text())
        names = list(dict.fromkeys(map(str, listed)))
        for split in names:
            if not is_plain_name(split):
                raise BadFile(path / _SPLITS, message("sources.split_outside", name=printable(split)).text())
        parts = [part for split in names for part in _parts(path / split, split, skipped)]
    else:
        parts = _parts(path, None, skipped)
    if not parts:
        raise BadFile(path, message("sources.no_rows").text())
    return SavedSource(name, parts, label, skipped)


@dataclass(frozen=True, slots=True)
class _Part:
    """One Arrow file: how many rows of it can be read, and the features that the dataset's page speaks of."""

    path: Path
    length: int
    features: Mapping[str, Feature]
    split: str | None


def _parts(folder: Path, split: str | None, skipped: Skipped) -> list[_Part]:
    found: list[_Part] = []
    features = _features(folder, skipped)
    for path in _files(folder, skipped):
        try:
            rows, fields = _count(path, skipped)
        except OverBudget:
            raise
        except BadFile as trouble:
            skipped.add("unreadable_file", f"{path.name}: {trouble.reason}")
            continue
        found.append(_Part(path, rows, {field: features.get(field, Feature()) for field in fields}, split))
    _compare_count(folder, sum(part.length for part in found), skipped)
    return found


def _compare_count(folder: Path, rows: int, skipped: Skipped) -> None:
    """Whether the page speaks of another number of rows, as it also does after a selection or a filter."""
    if not (folder / _INFO).is_file() or not (folder / _STATE).is_file():
        return
    try:
        splits, state = _page(folder / _INFO).get("splits"), _page(folder / _STATE).get("_split")
    except BadFile:
        return
    if not isinstance(splits, dict) or not splits:
        return
    split = splits[state] if isinstance(state, str) and state in splits else next(iter(splits.values()))
    declared = split.get("num_examples") if isinstance(split, dict) else None
    if isinstance(declared, int) and declared != rows:
        skipped.add("count_differs", f"{_INFO}: {declared} / {rows}")


def _files(folder: Path, skipped: Skipped) -> list[Path]:
    if folder.is_file():
        return [folder]
    names: list[str] = []
    if (folder / _STATE).is_file():
        listed_files = _page(folder / _STATE).get("_data_files")
        entries = listed_files if isinstance(listed_files, list) else []
        names = [str(entry.get("filename")) for entry in entries if isinstance(entry, dict)]
    listed = dict.fromkeys(Path(name).name for name in names)
    found = [folder / file for file in listed if is_plain_name(file)] or sorted(folder.glob("*.arrow"))
    for path in found:
        if not path.is_file():
            skipped.add("missing_shard", path.name)
    return [path for path in found if path.is_file()]


def _features(folder: Path, skipped: Skipped) -> dict[str, Feature]:
    path = (folder if folder.is_dir() else folder.parent) / _INFO
    if not path.is_file():
        return {}
    try:
        features = _page(path).get("features")
    except BadFile as trouble:
        skipped.add("unreadable_file", f"{path.name}: {trouble.reason}")
        return {}
    return {str(field): Feature.told(page) for field, page in features.items()} if isinstance(features, dict) else {}


def _page(path: Path) -> JsonObject:
    """What a JSON file says; nothing where that is no object."""
    with open_file(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > _MOST_JSON:
            raise bad(path, "too_large", size=size, most=_MOST_JSON)
        text = file.read(size)
    try:
        page = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadFile(path, message("formats.bad_json", reason=str(error)[:200]).text()) from None
    return page if isinstance(page, dict) else {}


def _count(path: Path, skipped: Skipped) -> tuple[int, list[str]]:
    """The rows of a file and its columns, without reading them."""
    import pyarrow as arrow

    rows = 0
    budget = Budget(path, path.stat().st_size)
    try:
        with arrow.memory_map(str(path)) as file, arrow.ipc.open_stream(file) as stream:
            fields = [str(name) for name in stream.schema.names]
            units = sum(_units(field.type) for field in stream.schema)
            try:
                for batch in stream:
                    rows += batch.num_rows
                    _check_words(batch, budget)
            except (arrow.ArrowException, *_DAMAGE) as error:
                skipped.add("damaged_part", f"{path.name}: {_first_line(error)}")
    except (arrow.ArrowException, *_DAMAGE) as error:
        raise BadFile(path, _first_line(error)) from None
    budget.hold(_FINGERPRINT * min(_KEPT, rows))
    budget.spend(rows * units)
    return rows, fields


def _check_words(batch: pyarrow.RecordBatch, budget: Budget) -> None:
    """An OverBudget where the words of a dictionary are repeated more often than the file is worth."""
    import pyarrow as arrow

    for column in batch.columns:
        if not arrow.types.is_dictionary(column.type):
            continue
        words = column.dictionary
        kind = words.type
        if not (arrow.types.is_string(kind) or arrow.types.is_binary(kind) or arrow.types.is_large_string(kind)):
            continue
        import pyarrow.compute as compute

        size = compute.sum(compute.take(compute.binary_length(words), column.indices)).as_py() or 0
        budget.spend(size // _WORDS_PER_UNIT)
        budget.can_hold(_WORDS_AT_ONCE * size * min(_CHUNK_SAMPLES, batch.num_rows) // batch.num_rows)


def _units(kind: object) -> int:
    """What a value of this type takes: packed batches have many for a byte."""
    import pyarrow as arrow

    if not arrow.types.is_primitive(kind):
        return 4
    return 2 if arrow.types.is_integer(kind) else 1


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0][:200]


class SavedSource:
    """The Source of such files, one after the other."""

    kind = "huggingface"

    def __init__(self, name: str, parts: Sequence[_Part], label: str | None, skipped: Skipped) -> None:
        self.name = name
        self.skipped = skipped
        self._parts = parts
        self.length = sum(part.length for part in parts)
        self.fields = list(dict.fromkeys(field for part in parts for field in part.features))
        classes = {field: feature.names for part in parts for field, feature in part.features.items() if feature.names}
        self.label = choose_label(name, self.fields, label) or next(iter(classes), None)
        self.class_names: Sequence[str] = classes.get(self.label or "", ())
        if any(part.split is not None for part in parts) and "split" not in self.fields:
            self.fields.append("split")
        self._damaged: set[Path] = set()
        self._judged = Judged(skipped)

    def chunks(self, fields: Sequence[str] | None = None) -> Iterator[Chunk]:
        """Batch by batch of each file, in pieces."""
        import pyarrow as arrow

        names = list(self.fields if fields is None else fields)
        begin = 0
        for part in self._parts:
            at = begin
            try:
                # Read, not mapped: mapped pages would count as memory in use.
                with arrow.OSFile(str(part.path)) as file, arrow.ipc.open_stream(file) as stream:
                    for batch in stream:
                        batch.validate(full=True)
                        for piece in _pieces(batch, part):
                            columns = _columns(piece, part, names)
                            self._judged.look_at_pictures(at, columns)
                            yield Chunk(at, piece.num_rows, columns)
                            at += piece.num_rows
            except (arrow.ArrowException, *_DAMAGE) as error:
                self._damage(part, error)
            begin += part.length

    def _damage(self, part: _Part, error: Exception) -> None:
        place = f"{part.path.name}: {_first_line(error)}"
        if part.path not in self._damaged and place not in self.skipped.places.get("damaged_part", ()):
            self.skipped.add("damaged_part", place)
        self._damaged.add(part.path)

    def take(self, indexes: Sequence[int]) -> list[Mapping[str, object]]:
        """Mapped, so that of the batches before nothing is read."""
        import pyarrow as arrow

        if any(not 0 <= index < self.length for index in indexes):
            raise IndexError(indexes)
        found: dict[int, Sample] = {}
        at = 0
        for part in self._parts:
            inside = {index - at for index in indexes if at <= index < at + part.length}
            try:
                with arrow.memory_map(str(part.path)) as file, arrow.ipc.open_stream(file) as stream:
                    begin = 0
                    for batch in stream if inside else ():
                        for one in inside.intersection(range(begin, begin + batch.num_rows)):
                            row = batch.slice(one - begin, 1)
                            row.validate(full=True)
                            columns = _columns(row, part, self.fields)
                            found[at + one] = {name: column[0] for name, column in columns.items()}
                        begin += batch.num_rows
            except (arrow.ArrowException, *_DAMAGE) as error:
                self._damage(part, error)
            at += part.length
        return [found.get(index, dict.fromkeys(self.fields)) for index in indexes]


def _pieces(batch: pyarrow.RecordBatch, part: _Part) -> Iterator[pyarrow.RecordBatch]:
    packed = any(feature.kind == "Image" for feature in part.features.values())
    row = max(1, batch.nbytes // max(1, batch.num_rows))
    many = max(1, min(_CHUNK_SAMPLES, (_PACKED_BYTES if packed else _CHUNK_BYTES) // row))
    for start in range(0, batch.num_rows, many):
        piece = batch.slice(start, many)
        yield from _by_pixels(piece, part) if packed and has_pillow() else (piece,)


def _by_pixels(piece: pyarrow.RecordBatch, part: _Part) -> Iterator[pyarrow.RecordBatch]:
    """Cut where the images in it would become too large when they are decoded."""
    columns = [
        piece.column(piece.schema.get_field_index(name))
        for name, feature in part.features.items()
        if feature.kind == "Image"
    ]
    start = held = 0
    for row in range(piece.num_rows):
        size = sum(size_of_picture(column[row]) for column in columns)
        if held and held + size > _PIXEL_BYTES:
            yield piece.slice(start, row - start)
            start = row
            held = 0
        held += size
    yield piece.slice(start)


def _columns(piece: pyarrow.RecordBatch, part: _Part, names: Sequence[str]) -> dict[str, Column]:
    found: dict[str, Column] = {}
    for name in names:
        if name in part.features:
            place = piece.schema.get_field_index(name)
            found[name] = column_of(piece.column(place), part.features[name], part.path.parent)
        else:
            found[name] = [part.split if name == "split" else None] * piece.num_rows
    return found
