"""What a user named, opened: a file or folder of a known kind, a recorded run, or a factory of a module."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any, Final

from trueline.adapters.guest.entry import looks_like_entry
from trueline.data.source import Source
from trueline.data.sources.factory import open_factory
from trueline.data.sources.run import PARTS, is_run, open_fed
from trueline.formats.files import opened, unreadable
from trueline.model.message import message
from trueline.model.trouble import BadFile, BadUsage

_LOOKED_AT: Final = 2000
_ARRAYS: Final = (".npy", ".npz")


def open_source(text: str, *, label: str | None = None) -> Source:
    """A dataset by its path, or by ``module:factory``; ``label`` is the field that holds the label.

    A part of a file (train, test …) is named as if the file were a folder. A BadUsage or BadFile where it is none.
    """
    path = Path(text)
    try:
        if path.is_dir():
            return _of_folder(path, text, label)
        if path.exists():
            return _of_file(path, text, label, None)
        if path.parent.is_file():
            return _of_file(path.parent, text, label, path.name)
        if path.name in PARTS and is_run(path.parent):
            return open_fed(path.parent, text, label, path.name)
    except OSError as error:
        raise unreadable(path, error) from None
    if looks_like_entry(text):
        return open_factory(text, label)
    raise BadUsage("sources.nothing_there", text=text)


def _call(module: str, name: str, *args: Any) -> Any:
    """A function of a room beside this one, imported when it is needed."""
    return getattr(import_module(f"trueline.data.sources.{module}"), name)(*args)


def _of_file(path: Path, text: str, label: str | None, part: str | None) -> Source:
    ending = path.suffix.lower()
    with opened(path) as file:
        start = file.read(16)
    source: Source
    if start.startswith(b"\x93NUMPY") or ending in _ARRAYS:
        source = _call("arrays", "open_arrays", path, text, label, part)
    else:
        raise BadFile(path, message("sources.unknown_file").text())
    return source


def _of_folder(path: Path, text: str, label: str | None) -> Source:
    if is_run(path):
        return open_fed(path, text, label)
    endings = Counter(os.path.splitext(one)[1].lower() for one in islice(_names(path), _LOOKED_AT))  # noqa: PTH122
    arrays = sum(endings[one] for one in _ARRAYS)
    source: Source
    if arrays > endings.total() - arrays:
        source = _call("arrays", "open_arrays", path, text, label)
    elif endings:
        source = _call("images", "open_images", path, text, label)
    else:
        raise BadFile(path, message("sources.empty").text())
    return source


def _names(folder: Path) -> Iterator[str]:
    """Names of files below a folder; of links that lead in a circle not more than a few rounds."""
    for _, folders, files in islice(os.walk(folder, followlinks=True), _LOOKED_AT):
        folders.sort()
        yield from files
