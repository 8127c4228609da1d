"""The shape of a manifest's JSON, checked while it is read."""

from __future__ import annotations

from functools import cache
from typing import Annotated

import msgspec

_Count = Annotated[int, msgspec.Meta(ge=0, le=(1 << 63) - 1)]
_Time = Annotated[int, msgspec.Meta(ge=-(1 << 63), le=(1 << 63) - 1)]
_Name = Annotated[str, msgspec.Meta(min_length=1)]


class File(msgspec.Struct, gc=False):
    """One file."""

    path: _Name
    size: _Count | None = None
    md5: str | None = None
    xxh3_128: str | None = None
    mtime_ns: _Time = 0
    named: bool = False


class Skipped(msgspec.Struct):
    """What could not be read."""

    path: _Name
    reason: str
    detail: str = ""


class Note(msgspec.Struct):
    """What is to be known of the list."""

    message_id: str
    params: dict[str, str | int | float | bool | list[str | int | float] | None] = {}


class Page(msgspec.Struct):
    """The whole file."""

    schema: str
    files: list[File]
    root: str = ""
    host: str = ""
    skipped: list[Skipped] = []
    # Each is held against all others where lists are joined.
    notes: Annotated[list[Note], msgspec.Meta(max_length=1000)] = []


@cache
def decoder() -> msgspec.json.Decoder[Page]:
    """What reads it."""
    return msgspec.json.Decoder(Page)
