"""Opening files that may be anything: every fault becomes one BadFile with the file and the reason."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from trueline.model.message import Message
from trueline.model.regular_file import NotRegular, open_regular
from trueline.model.trouble import BadFile


def fault(path: Path, reason: str, /, **params: object) -> BadFile:
    """The trouble with a file; the reason is a message of the section formats."""
    return BadFile(path, Message(f"formats.{reason}", params).text())


def unreadable(path: Path, error: OSError) -> BadFile:
    """The trouble the system has with a file."""
    return fault(path, "unreadable", reason=error.strerror or type(error).__name__)


def opened(path: Path) -> BinaryIO:
    """A regular file, opened for reading; an OSError or a BadFile otherwise."""
    return os.fdopen(descriptor_of(path), "rb")


def descriptor_of(path: Path) -> int:
    """The same without Python's buffers around it."""
    try:
        return open_regular(path)
    except NotRegular:
        raise fault(path, "not_a_file") from None


@contextmanager
def open_file(path: Path) -> Iterator[BinaryIO]:
    """A regular file, whose troubles are all BadFiles."""
    try:
        with opened(path) as file:
            yield file
    except OSError as error:
        raise unreadable(path, error) from None


def map_file(path: Path) -> memoryview:
    """The whole file's bytes, mapped: read only, none of them copied. An empty file is an empty view."""
    with open_file(path) as file:
        # A mapping of no bytes is refused by the system.
        if not os.fstat(file.fileno()).st_size:
            return memoryview(b"")
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
