"""From files on disk to a manifest."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Sequence

from trueline.data.manifest.hashing import Progress, hash_files
from trueline.data.manifest.listing import Listing
from trueline.formats.manifest.listed import HASHES, Digests, Manifest


def take_manifest(listing: Listing, kinds: Sequence[str], progress: Progress | None = None) -> Manifest:
    """The files of a listing with these hashes; what cannot be read is left out and named."""
    if not kinds:
        return Manifest(listing.root, listing.names, listing.sizes, {}, listing.unread)
    hashed = hash_files(listing.root, listing.names, listing.sizes, kinds, progress)
    if not hashed.unread:
        return Manifest(listing.root, listing.names, hashed.sizes, hashed.hashes, listing.unread)
    unread = sorted([*listing.unread, *hashed.unread.values()], key=lambda file: file.path)
    kept = [place for place in range(len(listing.names)) if place not in hashed.unread]
    return Manifest(
        listing.root,
        [listing.names[place] for place in kept],
        array("q", (hashed.sizes[place] for place in kept)),
        {kind: chosen(held, kept) for kind, held in hashed.hashes.items()},
        unread,
    )


def chosen(held: Digests, places: Sequence[int]) -> Digests:
    """The hashes of some of the files."""
    found = Digests.room_for(len(places))
    for at, place in enumerate(places):
        digest = held[place]
        if digest is not None:
            found[at] = digest
    return found


def fingerprint(manifest: Manifest) -> str | None:
    """One MD5 for all names and contents: that of the lines ``HASH  NAME`` in the order of names."""
    kind = next((one for one in HASHES if one in manifest.hashes), None)
    if kind is None:
        return None
    whole = hashlib.md5(usedforsecurity=False)
    held = manifest.hashes[kind]
    for place, name in enumerate(manifest.paths):
        digest = held[place]
        line = f"{digest.hex() if digest is not None else ''}  {name}\n"
        whole.update(line.encode("utf-8", "surrogateescape"))
    return whole.hexdigest()
