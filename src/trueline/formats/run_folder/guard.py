"""Reading files that may be anything: every fault becomes one BadFile with the file and the reason."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final, TypeVar

import msgspec

from trueline.formats.files import opened, unreadable
from trueline.model.json_value import Json
from trueline.model.message import Message
from trueline.model.trouble import BadFile

Read = TypeVar("Read")
# Nothing that is written is nested half as deep.
MAX_DEPTH: Final = 100
_ANYTHING: Final[msgspec.json.Decoder[Json]] = msgspec.json.Decoder()


def bad(path: Path, reason: str, /, **params: object) -> BadFile:
    """The trouble with a file; the reason is a message of the section run_folder."""
    return BadFile(path, Message(f"run_folder.{reason}", params).text())


def _opened(root: Path, path: Path) -> BinaryIO:
    _check_inside(root, path)
    return opened(path)


@contextmanager
def open_file(root: Path, path: Path) -> Iterator[BinaryIO]:
    """A regular file inside the folder, opened for reading."""
    try:
        with _opened(root, path) as file:
            yield file
    except OSError as error:
        raise unreadable(path, error) from None


@contextmanager
def open_if_there(root: Path, path: Path) -> Iterator[BinaryIO | None]:
    """The same, or None where there is no such file: a writer may take it away at any moment."""
    try:
        file = _opened(root, path)
    except FileNotFoundError as error:
        if path.is_symlink():
            raise unreadable(path, error) from None
        yield None
        return
    except OSError as error:
        raise unreadable(path, error) from None
    try:
        with file:
            yield file
    except OSError as error:
        raise unreadable(path, error) from None


def file_size(root: Path, path: Path) -> int:
    """The length of a file, 0 where there is none."""
    with open_if_there(root, path) as file:
        return os.fstat(file.fileno()).st_size if file is not None else 0


def _check_inside(root: Path, path: Path) -> None:
    try:
        inside = path.resolve().is_relative_to(root.resolve())
    except RuntimeError:
        # Links that lead in a circle.
        inside = False
    if not inside:
        raise bad(path, "outside")


def list_names(root: Path, path: Path) -> list[str]:
    """The names in a directory inside the folder, sorted; none where it does not exist."""
    try:
        _check_inside(root, path)
        return sorted(entry.name for entry in path.iterdir())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise unreadable(path, error) from None


def read_file(root: Path, path: Path, most: int) -> bytes:
    """A whole file of bounded size."""
    with open_file(root, path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            raise bad(path, "too_large", size=size, most=most)
        # What is asked for is reserved at once, whatever is there.
        return file.read(size)


def decode_json(path: Path, data: bytes, line: int | None = None) -> Json:
    """A JSON value as it was written."""
    return decode_typed(path, data, _ANYTHING, line)


def decode_typed(path: Path, data: bytes, decoder: msgspec.json.Decoder[Read], line: int | None = None) -> Read:
    """A JSON value of a given shape, which may hold more than the shape speaks of."""
    try:
        value = decoder.decode(data)
        # Counted first, which is fast: few lines have so many brackets at all.
        if data.count(b"[") + data.count(b"{") > MAX_DEPTH and _deeper_than(value, MAX_DEPTH):
            raise RecursionError(f"nested more than {MAX_DEPTH} deep")
        return value
    # Nesting beyond all reason ends in a RecursionError.
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        reason = str(error).replace("\n", " ")[:200]
        if line is None:
            raise bad(path, "bad_json", reason=reason) from None
        raise bad(path, "bad_line", line=line, reason=reason) from None


def _deeper_than(value: object, most: int) -> bool:
    """Whether lists and objects lie in each other more often than that: what goes on with them calls itself."""
    level: list[object] = [value]
    for _ in range(most + 1):
        level = [
            inside
            for outer in level
            if isinstance(outer, dict | list)
            for inside in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inside, dict | list)
        ]
        if not level:
            return False
    return True
