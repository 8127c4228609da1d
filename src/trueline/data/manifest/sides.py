"""What a user names as one side of a comparison: a manifest, a list as text, a folder, a recorded run, or one file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from trueline.data.manifest.hashing import Progress
from trueline.data.manifest.listing import Listing, list_paths
from trueline.data.manifest.of_run import is_run, opened_by
from trueline.data.manifest.taking import take_manifest
from trueline.formats.files import open_file, unreadable
from trueline.formats.manifest.json_form import read_manifest
from trueline.formats.manifest.listed import FAST, HASHES, MD5, Manifest
from trueline.formats.manifest.text_form import looks_like_list, read_list
from trueline.model.message import message
from trueline.model.trouble import BadFile

_BLANK = b" \t\r\n"


@dataclass(frozen=True, slots=True)
class Side:
    """A list of files and what the user calls it; one that is ``on_disk`` can still be given its hashes.

    ``opened`` says that it is what a run has opened, where others have what is there.
    """

    name: str
    manifest: Manifest
    on_disk: bool
    opened: bool = False


def open_sides(texts: Sequence[str]) -> list[Side]:
    """All sides, of a run on several machines one for each of them; single files are one file under one name."""
    plain = [_is_plain(Path(text)) for text in texts]
    if all(plain):
        return [_one_file(text, Path(texts[0]).name) for text in texts]
    if any(plain):
        raise BadFile(texts[plain.index(True)], message("manifest.not_a_list").text())
    lists = [Path(text) for text in texts if Path(text).is_file()]
    opened = [side for text in texts for side in _open_side(text, lists)]
    if not opened[0].manifest.paths:
        raise BadFile(texts[0], message("manifest.empty_reference").text())
    return opened


def _is_plain(path: Path) -> bool:
    """Whether this is a file, and no list of files."""
    return path.is_file() and not _is_manifest(path) and not looks_like_list(path)


def _is_manifest(path: Path) -> bool:
    with open_file(path) as file:
        head = file.read(64).lstrip(_BLANK)
    return head.startswith(b"{") and path.suffix.lower() in ("", ".json", ".manifest")


def _one_file(text: str, name: str) -> Side:
    found = take_manifest(list_paths([Path(text)]), [FAST])
    # What its copies are called does not count.
    return Side(text, replace(found, paths=[name]), False)


def _open_side(text: str, lists: Sequence[Path]) -> list[Side]:
    path = Path(text)
    try:
        path.stat()
    except (OSError, ValueError) as error:
        raise unreadable(path, error if isinstance(error, OSError) else OSError(str(error))) from None
    if path.is_dir():
        if is_run(path):
            found = opened_by(path)
            several = len(found) > 1
            return [
                Side(f"{text} ({manifest.host})" if several else text, manifest, not manifest.hashes, opened=True)
                for manifest in found
            ]
        listing = list_paths([path])
        for one in lists:
            listing = listing.without(one)
        return [Side(text, _bare(listing), True)]
    return [Side(text, read_manifest(path) if _is_manifest(path) else read_list(path), False)]


def _bare(listing: Listing) -> Manifest:
    return Manifest(listing.root, listing.names, listing.sizes, {}, listing.unread)


def hash_sides(sides: Sequence[Side], progress: Progress | None = None) -> list[Side]:
    """Gives the sides that lie on disk the hashes that the others have, and no more."""
    kinds = _wanted([side.manifest for side in sides if not side.on_disk])
    return [replace(side, manifest=_hashed(side.manifest, kinds, progress)) if side.on_disk else side for side in sides]


def _wanted(given: Sequence[Manifest]) -> list[str]:
    if all(FAST in manifest.hashes for manifest in given):
        return [FAST]
    if all(MD5 in manifest.hashes for manifest in given):
        return [MD5]
    return [kind for kind in HASHES if any(kind in manifest.hashes for manifest in given)]


def _hashed(manifest: Manifest, kinds: Sequence[str], progress: Progress | None) -> Manifest:
    listing = Listing(manifest.root, list(manifest.paths), manifest.sizes, list(manifest.unread))
    found = take_manifest(listing, kinds, progress)
    return replace(found, host=manifest.host, named=manifest.named, notes=[*manifest.notes, *found.notes], times=None)
