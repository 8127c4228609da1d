"""A manifest as JSON, one file a line; docs/manifest.md describes it."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator
from json.encoder import encode_basestring as quoted
from pathlib import Path
from typing import TYPE_CHECKING, Final

from trueline.formats.manifest.listed import (
    DIGEST,
    FAST,
    HASHES,
    MD5,
    NO_DIGEST,
    UNKNOWN,
    Digests,
    Manifest,
    Unread,
    escaped,
    unescaped,
)
from trueline.formats.printable import printable
from trueline.formats.run_folder.appending import replace_by_pieces
from trueline.model.message import Message, message
from trueline.model.trouble import BadFile

if TYPE_CHECKING:
    from trueline.formats.manifest.json_shape import Page

SCHEMA: Final = "trueline/manifest/1"
# So many lines are written at a time.
_PIECE: Final = 4096
_MAX_BYTES: Final = 4 << 30
_HEX: Final = 2 * DIGEST
_NO_HEX: Final = NO_DIGEST.hex()


def write_manifest(path: Path, manifest: Manifest) -> None:
    """The whole file at once, and never more of its text in memory than a piece."""
    try:
        replace_by_pieces(path, _pieces(manifest))
    except OSError as error:
        raise BadFile(path, error.strerror or str(error)) from None


def _pieces(manifest: Manifest) -> Iterator[bytes]:
    head = {
        "schema": SCHEMA,
        "root": escaped(manifest.root),
        "host": manifest.host,
        "hashes": [kind for kind in HASHES if kind in manifest.hashes],
        "totals": {"files": len(manifest.paths), "bytes": manifest.total, "skipped": len(manifest.unread)},
        "notes": [{"message_id": note.id, "params": dict(note.params)} for note in manifest.notes],
        "skipped": [
            {"path": escaped(unread.path), "reason": unread.reason, "detail": unread.detail}
            for unread in manifest.unread
        ],
    }
    lines = [f"{quoted(name)}: {json.dumps(value)}" for name, value in head.items()]
    yield ("{" + ",\n".join(lines) + ',\n"files": [').encode()
    for begin in range(0, len(manifest.paths), _PIECE):
        yield ((",\n" if begin else "\n") + ",\n".join(_lines(manifest, begin, begin + _PIECE))).encode()
    yield b"\n]}\n"


def _lines(manifest: Manifest, begin: int, end: int) -> Iterator[str]:
    """A line for each of these files; all of their digests become text at once."""
    hashes = [
        (f',"{kind}":"', held.content[begin * DIGEST : end * DIGEST].hex()) for kind, held in manifest.hashes.items()
    ]
    named, times = manifest.named, manifest.times
    for at, path in enumerate(manifest.paths[begin:end]):
        line = f'{{"path":{quoted(escaped(path))}'
        size = manifest.sizes[begin + at]
        if size != UNKNOWN:
            line += f',"size":{size}'
        for field, text in hashes:
            digest = text[at * _HEX : at * _HEX + _HEX]
            if digest != _NO_HEX:
                line += f'{field}{digest}"'
        if times is not None:
            line += f',"mtime_ns":{times[begin + at]}'
        if path in named:
            line += ',"named":true'
        yield line + "}"


def read_manifest(path: Path, root: Path | None = None) -> Manifest:
    """A manifest, whoever wrote it; with ``root`` one that must lie in that folder."""
    # Decoding brings msgspec, which writing does not need.
    from trueline.formats.manifest.json_shape import decoder
    from trueline.formats.run_folder.guard import decode_typed, read_file

    place = path if root is not None else path.resolve()
    page = decode_typed(path, read_file(root or place.parent, place, _MAX_BYTES), decoder())
    if page.schema != SCHEMA:
        raise BadFile(path, message("manifest.other_schema", found=page.schema[:80], known=SCHEMA).text())
    return _manifest(path, page)


def _manifest(path: Path, page: Page) -> Manifest:
    for file in page.files:
        file.path = unescaped(file.path)
        if "\0" in file.path:
            raise BadFile(path, message("manifest.bad_name", name=printable(file.path)).text())
    if "\0" in page.root:
        raise BadFile(path, message("manifest.bad_name", name=printable(page.root)).text())
    page.files.sort(key=lambda file: file.path)
    names: list[str] = []
    sizes, times = array("q"), array("q")
    digests = {MD5: bytearray(), FAST: bytearray()}
    named: list[str] = []
    for file in page.files:
        # The first of a name counts.
        if names and file.path == names[-1]:
            continue
        names.append(file.path)
        sizes.append(UNKNOWN if file.size is None else file.size)
        times.append(file.mtime_ns)
        digests[MD5] += _digest(path, file.path, file.md5)
        digests[FAST] += _digest(path, file.path, file.xxh3_128)
        if file.named:
            named.append(file.path)
    return Manifest(
        unescaped(page.root),
        names,
        sizes,
        {kind: Digests(content) for kind, content in digests.items() if any(content)},
        [Unread(unescaped(skipped.path), skipped.reason, skipped.detail) for skipped in page.skipped],
        page.host,
        times if any(times) else None,
        frozenset(named),
        [Message(note.message_id, note.params) for note in page.notes],
    )


def _digest(path: Path, name: str, text: str | None) -> bytes:
    if text is None:
        return NO_DIGEST
    try:
        found = bytes.fromhex(text)
    except ValueError:
        found = b""
    if len(found) != DIGEST:
        raise BadFile(path, message("manifest.bad_digest", name=name, found=text[:80]).text())
    return found
