"""A manifest for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from trueline.data.manifest.taking import fingerprint
from trueline.formats.manifest.listed import HASHES, UNKNOWN, Manifest, Unread
from trueline.model.message import Message, message
from trueline.model.report import Block, Report, Table, Text
from trueline.model.result import Result

_ROWS: Final = 20
_NAMES: Final = 3


def result(name: str, manifest: Manifest, written: Path | None) -> Result:
    """For programs; the files themselves only where they are written nowhere else."""
    fields: dict[str, object] = {
        "root": manifest.root,
        "count": len(manifest.paths),
        "bytes": manifest.total,
        "hashes": [kind for kind in HASHES if kind in manifest.hashes],
        "fingerprint": fingerprint(manifest),
        "skipped": [unread_json(unread) for unread in manifest.unread],
        "notes": [note.text() for note in manifest.notes],
        "written": str(written) if written is not None else None,
    }
    if written is None:
        fields["files"] = [_file_json(manifest, place) for place in range(len(manifest.paths))]
    return Result("data manifest", _conclusion(name, manifest), fields=fields)


def unread_json(unread: Unread) -> dict[str, object]:
    """What could not be read."""
    return {"path": unread.path, "reason": unread.reason, "message": why(unread).text()}


def _file_json(manifest: Manifest, place: int) -> dict[str, object]:
    size = manifest.sizes[place]
    found: dict[str, object] = {"path": manifest.paths[place], "size": size if size != UNKNOWN else None}
    for kind in manifest.hashes:
        digest = manifest.digest(kind, place)
        found[kind] = digest.hex() if digest is not None else None
    return found


def report(name: str, manifest: Manifest, written: Path | None) -> Report:
    """For people: how many, one fingerprint for all, what could not be read, and the first of the files."""
    title = message("manifest.title", name=name)
    return Report(title, _conclusion(name, manifest), blocks=tuple(_blocks(manifest, written)))


def _conclusion(name: str, manifest: Manifest) -> Message:
    params = {"name": name, "count": len(manifest.paths), "size": size_text(manifest.total)}
    if not manifest.paths:
        return message("manifest.empty", name=name)
    if manifest.unread:
        return message("manifest.taken_in_part", skipped=len(manifest.unread), **params)
    return message("manifest.taken", **params)


def _blocks(manifest: Manifest, written: Path | None) -> Iterator[Block]:
    for note in manifest.notes:
        yield Text(note)
    if manifest.paths and manifest.hashes:
        yield Text(message("manifest.fingerprint", fingerprint=fingerprint(manifest)))
    yield from unread_table(manifest.unread)
    if written is not None or not manifest.paths:
        return
    # One hash is enough to look at.
    kinds = [kind for kind in HASHES if kind in manifest.hashes][:1]
    shown = range(min(_ROWS, len(manifest.paths)))
    yield Table(
        message("manifest.table"),
        [message("manifest.column_path"), message("manifest.column_size"), *(_literal(kind) for kind in kinds)],
        [_row(manifest, place, kinds) for place in shown],
    )
    if len(manifest.paths) > _ROWS:
        yield Text(message("manifest.more", count=len(manifest.paths) - _ROWS))


def _literal(kind: str) -> Message:
    return message(f"manifest.column_{kind}")


def _row(manifest: Manifest, place: int, kinds: Sequence[str]) -> list[object]:
    size = manifest.sizes[place]
    digests = [manifest.digest(kind, place) for kind in kinds]
    return [
        manifest.paths[place],
        size if size != UNKNOWN else None,
        *(digest.hex() if digest is not None else None for digest in digests),
    ]


def unread_table(unread: Sequence[Unread]) -> Iterator[Table]:
    """What could not be read, by reason, with the first names of each."""
    reasons: dict[str, list[Unread]] = {}
    for one in unread:
        reasons.setdefault(one.reason, []).append(one)
    if reasons:
        columns = [message(f"manifest.column_{name}") for name in ("reason", "count", "first")]
        rows = [[why(found[0]), len(found), names_of([unread.path for unread in found])] for found in reasons.values()]
        yield Table(message("manifest.skipped"), columns, rows)


def why(unread: Unread) -> Message:
    """The sentence for a reason, whoever wrote it."""
    known = ("vanished", "forbidden", "loop", "dangling", "special", "followed")
    if unread.reason in known:
        return message(f"manifest.unread_{unread.reason}")
    return message("manifest.unread_otherwise", detail=unread.detail or unread.reason)


def names_of(names: Sequence[str]) -> str:
    """The first few, and that there are more."""
    return ", ".join(names[:_NAMES]) + (", …" if len(names) > _NAMES else "")


def size_text(count: int) -> str:
    """Bytes in a unit that fits."""
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.4g} {unit}"
    return f"{count} B"
