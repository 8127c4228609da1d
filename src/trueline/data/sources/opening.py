"""What a user named, opened: a file or folder of a known kind, a recorded run, or a factory of a module."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Final, cast

from trueline.data.source import Source
from trueline.formats.files import opened, unreadable
from trueline.model.message import message
from trueline.model.trouble import BadFile, BadUsage

# What a folder holds shows in its first files; a dataset may have millions.
_MAX_LISTED_FILES: Final = 5000
_ARRAYS: Final = (".npy", ".npz")
# Where what was downloaded lies below the folder that a user names.
_INNER: Final = (
    *("raw", "MNIST/raw", "FashionMNIST/raw", "cifar-10-batches-bin", "cifar-10-batches-py"),
    *("cifar-100-binary", "cifar-100-python"),
)


def open_source(text: str, *, label: str | None = None) -> Source:
    """A dataset by its path, or by ``module:factory``; ``label`` is the field that holds the label.

    A part of a file or of a run (train, test …) is named as if it were a folder in it. A BadUsage or BadFile where it
    is none.
    """
    try:
        found = _at(Path(text), text, label)
    except OSError as error:
        raise unreadable(Path(text), error) from None
    if found is None:
        from trueline.adapters.guest.entry import looks_like_entry

        if not looks_like_entry(text):
            raise BadUsage("sources.nothing_there", text=text)
        found = _opened("factory", "open_factory", text, label)
    return found


def _ask(module: str, name: str, *args: object) -> object:
    """A function of a room beside this one, imported when it is needed."""
    return getattr(import_module(f"trueline.data.sources.{module}"), name)(*args)


def _opened(module: str, name: str, *args: object) -> Source:
    return cast(Source, _ask(module, name, *args))


def _at(path: Path, text: str, label: str | None) -> Source | None:
    """What lies at a path; None where nothing does."""
    if path.is_dir():
        return _of_folder(path, text, label)
    if path.exists():
        return _of_file(path, text, label, None)
    if path.parent.is_file():
        return _of_file(path.parent, text, label, path.name)
    if _ask("run", "is_part", path):
        return _opened("run", "open_fed", path.parent, text, label, path.name)
    shard = cast(Path | None, _ask("mindrecord", "first_shard", path))
    return _of_file(shard, text, label, None) if shard is not None else None


def _of_file(path: Path, text: str, label: str | None, part: str | None) -> Source:
    ending = path.suffix.lower()
    with opened(path) as file:
        start = file.read(64)
    if start.startswith(b"\x93NUMPY") or ending in _ARRAYS:
        return _opened("arrays", "open_arrays", path, text, label, part)
    # Tables before what has no ending of its own: whatever is loaded to look at a file is time.
    if ending != ".gz" and _ask("tables", "is_table", path):
        return _table(path, text, label)
    from trueline.data.sources.idx import looks_like_idx
    from trueline.formats.mindrecord import looks_like_mindrecord

    if looks_like_mindrecord(start) or ending == ".mindrecord":
        return _opened("mindrecord", "open_mindrecord", path, text, label)
    if _ask("idx", "idx_names", [path.name]) or (looks_like_idx(start) and ending in ("", ".idx")):
        return _opened("idx", "open_idx", path, text, label)
    if _ask("cifar", "is_cifar", path):
        return _opened("cifar", "open_cifar", path, text, label)
    if ending == ".arrow":
        return _opened("huggingface", "open_saved", path, text, label)
    if _ask("tables", "is_table", path):
        return _table(path, text, label)
    raise BadFile(path, message("sources.unknown_file").text())


def _of_folder(path: Path, text: str, label: str | None) -> Source:
    if _ask("run", "is_run", path):
        return _opened("run", "open_fed", path, text, label)
    if _ask("huggingface", "is_saved", path):
        return _opened("huggingface", "open_saved", path, text, label)
    for folder in (path, *(path / inner for inner in _INNER)):
        names = _names_in(folder)
        if _ask("mindrecord", "mindrecords_in", folder, names):
            return _opened("mindrecord", "open_mindrecord", folder, text, label)
        if _ask("idx", "idx_names", names):
            return _opened("idx", "open_idx", folder, text, label)
        if _ask("cifar", "cifar_names", folder, names):
            return _opened("cifar", "open_cifar", folder, text, label)
    endings = Counter(os.path.splitext(file)[1].lower() for file in islice(_below(path), _MAX_LISTED_FILES))  # noqa: PTH122
    most = endings.total() // 2
    if sum(endings[ending] for ending in _ARRAYS) > most:
        return _opened("arrays", "open_arrays", path, text, label)
    images = import_module("trueline.data.sources.images").ENDINGS
    if sum(endings[image] for image in images) <= most and _ask("tables", "is_table", path):
        return _table(path, text, label)
    if endings:
        return _opened("images", "open_images", path, text, label)
    raise BadFile(path, message("sources.empty").text())


def _table(path: Path, text: str, label: str | None) -> Source:
    source: Source = import_module("trueline.data.sources.tables").open_table(path, label=label, name=text)
    return source


def _names_in(folder: Path) -> list[str]:
    if not folder.is_dir():
        return []
    with os.scandir(folder) as entries:
        return [entry.name for entry in islice(entries, _MAX_LISTED_FILES)]


def _below(folder: Path) -> Iterator[str]:
    """Names of files below a folder; of links that lead in a circle not more than a few rounds."""
    for _, folders, files in islice(os.walk(folder, followlinks=True), _MAX_LISTED_FILES):
        folders.sort()
        yield from files
