"""Lists of files as text: what md5sum writes, with or without --tag, a name and its MD5 in columns, or names alone."""

from __future__ import annotations

import os
import re
from array import array
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Final

from trueline.formats.files import open_file
from trueline.formats.manifest.listed import DIGEST, FAST, MD5, UNKNOWN, Digests, Manifest
from trueline.model.message import message
from trueline.model.trouble import BadFile

_MAX_BYTES: Final = 4 << 30
# Many times the longest path of any system.
_MOST_LINE: Final = 1 << 18
_HEX = r"([0-9a-fA-F]{32})"
_SUM = re.compile(rf"(\\?){_HEX} [ *](.+)", re.DOTALL)
_TAG = re.compile(rf"(\\?)(MD5|XXH128|XXH3_128) ?\((.+)\) ?= ?{_HEX}", re.DOTALL)
_HASH_FIRST = re.compile(rf"{_HEX}[\s,;]+(.+)")
_HASH_AT_END = re.compile(rf"{_HEX}\Z")
# SHA-1, SHA-256 and their like.
_LONGER = re.compile(r"\\?(?:[0-9a-fA-F]{40}|[0-9a-fA-F]{56,128}) [ *]\S|SHA\d+ \(")
_ESCAPES: Final = {r"\\": "\\", r"\n": "\n", r"\r": "\r"}

# Names alone are a list only where the file is called like one: rows of a table and lines of a program are no names.
_LISTS: Final = ("", ".txt", ".lst", ".list", ".md5", ".md5sum", ".files")
_HEAD_LINES: Final = 64

_Row = tuple[str, str, bytes | None]


def looks_like_list(path: Path) -> bool:
    """Whether a file is a list of files, and not one of the files that lists speak of."""
    with open_file(path) as file:
        first = [one.decode("utf-8", "surrogateescape").strip() for one in islice(_lines(file), _HEAD_LINES)]
    if any("\0" in one or len(one) >= _MOST_LINE for one in first):
        return False
    hashed = any(_LONGER.match(one) or _row(one)[2] is not None for one in first if one)
    return hashed or path.suffix.lower() in _LISTS


def read_list(path: Path) -> Manifest:
    """A list of files, whoever wrote it."""
    rows = list(_rows(path))
    # A first line without a hash where all others have one are the headings of columns.
    if len(rows) > 1 and rows[0][2] is None and all(row[2] is not None for row in rows[1:]):
        del rows[0]
    rows.sort(key=lambda row: row[0])
    names: list[str] = []
    digests = {MD5: bytearray(), FAST: bytearray()}
    for name, kind, digest in rows:
        if names and name == names[-1]:
            continue
        names.append(name)
        for each, content in digests.items():
            content += digest if each == kind and digest is not None else bytes(DIGEST)
    kept = {kind: Digests(content) for kind, content in digests.items() if any(content)}
    return Manifest("", names, array("q", [UNKNOWN]) * len(names), kept)


def _rows(path: Path) -> Iterator[_Row]:
    with open_file(path) as file:
        if os.fstat(file.fileno()).st_size > _MAX_BYTES:
            raise BadFile(path, message("manifest.not_a_list").text())
        for number, raw in enumerate(_lines(file), 1):
            if b"\0" in raw or len(raw) > _MOST_LINE:
                raise BadFile(path, message("manifest.not_a_list").text())
            line = raw.decode("utf-8-sig" if number == 1 else "utf-8", "surrogateescape").rstrip("\r\n")
            if _LONGER.match(line):
                raise BadFile(path, message("manifest.other_hash", line=number).text())
            if line.strip() and not line.startswith("#"):
                yield _row(line)


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """Line by line; of one that is too long no more than shows it."""
    while line := file.readline(_MOST_LINE + 1):
        yield line


def _row(line: str) -> _Row:
    if found := _SUM.fullmatch(line):
        return _name(found[3], escapes=bool(found[1])), MD5, bytes.fromhex(found[2])
    if found := _TAG.fullmatch(line):
        kind = MD5 if found[2] == "MD5" else FAST
        return _name(found[3], escapes=bool(found[1])), kind, bytes.fromhex(found[4])
    if found := _HASH_FIRST.fullmatch(line):
        return _name(found[2].strip()), MD5, bytes.fromhex(found[1])
    if found := _HASH_AT_END.search(line, max(0, len(line) - 2 * DIGEST)):
        name = _before_separators(line[: -2 * DIGEST])
        if name:
            return _name(name), MD5, bytes.fromhex(found[1])
    return _name(line.strip()), MD5, None


def _before_separators(text: str) -> str:
    """What stands before the blanks, commas and semicolons at the end; empty where there are none, or nothing else."""
    end = len(text)
    while end and (text[end - 1].isspace() or text[end - 1] in ",;"):
        end -= 1
    return text[: max(end, 1)] if end < len(text) and len(text) > 1 else ""


def _name(text: str, *, escapes: bool = False) -> str:
    if escapes:
        text = re.sub(r"\\[\\nr]", lambda found: _ESCAPES[found[0]], text)
    return os.path.normpath(text)
