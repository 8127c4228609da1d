"""A log's lines, a bounded piece of the file at a time, whatever its encoding and line ends."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from trueline.formats.files import open_file

PIECE: Final = 1 << 20
MAX_LINE: Final = 1 << 14

_COLOURS: Final = re.compile(rb"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)|[@-Z\\^_])")


def lines_of(path: Path, most: int = MAX_LINE) -> Iterator[list[bytes]]:
    """The lines as UTF-8 or whatever 8-bit encoding the file has, without their ends and colours.

    Of a longer line only the first ``most`` bytes are given.
    """
    with open_file(path) as file:
        kept, skipping = b"", False
        for piece in _pieces(file):
            # A progress bar begins its line again with a carriage return.
            data = piece.replace(b"\r", b"\n") if b"\r" in piece else piece
            if skipping:
                _, end, data = data.partition(b"\n")
                if not end:
                    continue
                skipping = False
            lines = (kept + data).split(b"\n")
            kept = lines.pop()
            if len(kept) > most:
                lines.append(kept)
                kept, skipping = b"", True
            yield _clean(lines, most)
        if kept:
            yield _clean([kept], most)


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    first = file.read(PIECE)
    wide = _wide(first)
    if wide is None:
        piece = first.removeprefix(codecs.BOM_UTF8)
        while piece:
            yield piece
            piece = file.read(PIECE)
        return
    decoder = codecs.getincrementaldecoder(wide)("replace")
    piece = first
    while piece:
        yield decoder.decode(piece).lstrip("\ufeff").encode("utf-8", "replace")
        piece = file.read(PIECE)


def _wide(start: bytes) -> str | None:
    """The encoding where it is UTF-16, as Windows shells write it."""
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16-le" if start.startswith(codecs.BOM_UTF16_LE) else "utf-16-be"
    sample = start[:512]
    if len(sample) >= 4 and not sample[1::2].strip(b"\0") and sample[::2].strip(b"\0"):
        return "utf-16-le"
    if len(sample) >= 4 and not sample[::2].strip(b"\0") and sample[1::2].strip(b"\0"):
        return "utf-16-be"
    return None


def _clean(lines: list[bytes], most: int) -> list[bytes]:
    return [
        (_COLOURS.sub(b"", line) if b"\x1b" in line else line)
        for line in (line if len(line) <= most else line[:most] for line in lines)
        if line
    ]


def decoded(line: bytes) -> tuple[str, str]:
    """A line's text and its encoding, "" where some bytes fit none."""
    for encoding in ("utf-8", "gbk"):
        try:
            return line.decode(encoding), encoding
        except UnicodeDecodeError:
            pass
    return line.decode("utf-8", "replace"), ""


def looks_like_log(path: Path) -> bool:
    """Whether a file is text with numbers in it; reads only its beginning."""
    with open_file(path) as file:
        start = file.read(1 << 14)
    wide = _wide(start)
    if wide is not None:
        start = start[: len(start) // 2 * 2].decode(wide, "replace").encode("utf-8", "replace")
    odd = len(start.translate(None, _TEXT_BYTES))
    return odd * 100 <= len(start) and b"\0" not in start and re.search(rb"\d", start) is not None


_TEXT_BYTES: Final = bytes([7, 8, 9, 10, 12, 13, 27, *range(32, 127), *range(128, 256)])
