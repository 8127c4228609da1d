"""A list of files, column by column: of the millions that a dataset may have, an object for each is too much memory."""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from trueline.model.message import Message

MD5: Final = "md5"
FAST: Final = "xxh3_128"
HASHES: Final = (MD5, FAST)
DIGEST: Final = 16
UNKNOWN: Final = -1
NO_DIGEST: Final = bytes(DIGEST)
_ESCAPED = re.compile(rb"\\(\\|x[0-9a-f]{2})")


@dataclass(slots=True)
class Digests:
    """A hash of each file, sixteen bytes after sixteen bytes; all zeros where a file has none."""

    content: bytearray

    @classmethod
    def room_for(cls, count: int) -> Digests:
        """None of them known yet."""
        return cls(bytearray(count * DIGEST))

    def __getitem__(self, place: int) -> bytes | None:
        found = bytes(self.content[place * DIGEST : (place + 1) * DIGEST])
        return found if found != NO_DIGEST else None

    def __setitem__(self, place: int, digest: bytes) -> None:
        self.content[place * DIGEST : (place + 1) * DIGEST] = digest


@dataclass(frozen=True, slots=True)
class Unread:
    """A file or folder that could not be read; ``reason`` is a message id of the section ``manifest``, without it."""

    path: str
    reason: str
    detail: str = ""


@dataclass(slots=True)
class Manifest:
    """Files by name, sorted; sizes are UNKNOWN and hashes missing where a list does not say.

    ``root`` is what names are relative to. Of what a run opened, ``times`` has when each file was last changed (ns),
    ``host`` the machine, and ``named`` the names of those that were not seen to be opened but named to a reader.
    """

    root: str
    paths: Sequence[str]
    sizes: array[int]
    hashes: dict[str, Digests] = field(default_factory=dict)
    unread: Sequence[Unread] = ()
    host: str = ""
    times: array[int] | None = None
    named: frozenset[str] = frozenset()
    notes: Sequence[Message] = ()

    @property
    def total(self) -> int:
        """The bytes of all files whose size is known."""
        return sum(size for size in self.sizes if size != UNKNOWN)

    def digest(self, kind: str, place: int) -> bytes | None:
        """A file's hash."""
        held = self.hashes.get(kind)
        return held[place] if held is not None else None


def escaped(name: str) -> str:
    """A name as text that UTF-8 can hold; as in md5sum's lists, a backslash in front says that there are escapes."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        pass
    else:
        if not name.startswith("\\"):
            return name
    raw = name.encode("utf-8", "surrogateescape").replace(b"\\", b"\\\\")
    return "\\" + raw.decode("utf-8", "backslashreplace")


def unescaped(text: str) -> str:
    """The name again."""
    if not text.startswith("\\"):
        return text
    raw = _ESCAPED.sub(
        lambda found: b"\\" if found[1] == b"\\" else bytes.fromhex(found[1][1:].decode()), text[1:].encode("utf-8")
    )
    return raw.decode("utf-8", "surrogateescape")
