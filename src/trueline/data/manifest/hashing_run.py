"""The hashes of the files that a run has opened, taken afterwards: of those that are still as they were."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from trueline.data.manifest.hashing import Progress
from trueline.data.manifest.listing import Listing
from trueline.data.manifest.of_run import lists_of, opened_by
from trueline.data.manifest.taking import take_manifest
from trueline.formats.manifest.listed import Manifest
from trueline.formats.manifest.places import run_manifest
from trueline.model.message import Message, message
from trueline.model.trouble import BadUsage

# A note names so many files, and counts the others.
_MAX_NAMED_FILES: Final = 3


def hash_run(run: Path, kinds: Sequence[str], progress: Progress | None = None) -> tuple[Manifest, Path]:
    """What this machine's ranks have opened, with hashes, and where in the run folder it belongs."""
    lists = lists_of(run)
    if not lists:
        # A hashed list may be all that is left; else there is none.
        return opened_by(run)[0], run_manifest(run, None)
    here = platform.node()
    host = here if here in lists else next(iter(lists))
    return hash_listed(lists[host], kinds, progress), run_manifest(run, host if len(lists) > 1 else None)


def hash_listed(listed: Manifest, kinds: Sequence[str], progress: Progress | None = None) -> Manifest:
    """The same list with hashes; a BadUsage where none of its files is there."""
    listing = Listing(listed.root, list(listed.paths), listed.sizes, list(listed.unread))
    found = take_manifest(listing, kinds, progress)
    if listed.paths and not found.paths:
        raise BadUsage("manifest.not_here", host=listed.host, first=listed.paths[0])
    notes = [*listed.notes, *_changed(listed, found)]
    return replace(found, host=listed.host, named=listed.named & set(found.paths), notes=notes)


def _changed(listed: Manifest, found: Manifest) -> Iterator[Message]:
    """What has become of the files since the list was made."""
    if listed.times is None:
        return
    then = {name: (listed.sizes[place], listed.times[place]) for place, name in enumerate(listed.paths)}
    changed = [
        name
        for place, name in enumerate(found.paths)
        if then[name] != (found.sizes[place], _time(os.path.join(listed.root, name)))  # noqa: PTH118
    ]
    if changed:
        yield message("manifest.note_changed_since", count=len(changed), first=", ".join(changed[:_MAX_NAMED_FILES]))


def _time(path: str) -> int | None:
    try:
        return os.stat(path).st_mtime_ns  # noqa: PTH116
    except OSError:
        return None
