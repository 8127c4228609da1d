"""``trueline run --manifest``: the list of what a script opens, and its hashes when the script has ended."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from trueline.cli.script_verb import say
from trueline.model.message import Message, message
from trueline.model.trouble import BadUsage, Missing, Trouble

if TYPE_CHECKING:
    from trueline.formats.manifest.listed import Manifest
    from trueline.record.opened.lists import OpenedFiles
    from trueline.record.wanted import Wanted


def checked_roots(roots: Sequence[str]) -> tuple[str, ...]:
    """The folders as they are found from anywhere; a BadUsage for one that is not there."""
    for root in roots:
        if not Path(root).exists():
            raise BadUsage("manifest.no_root", root=root)
    return tuple(os.path.normpath(Path(root).absolute()) for root in roots)


def begin_list(wanted: Wanted, script: str, *, launcher: bool) -> OpenedFiles | None:
    """Hear of what is opened from now on; below a launcher the ranks hear for themselves."""
    if not wanted.manifest:
        return None
    from trueline.record.opened.lists import begin

    return begin(wanted.folder, wanted.data_roots, say, program=script, hears=not launcher)


def finish_list(
    opened: OpenedFiles | None, wanted: Wanted, shown: Path, *, launcher: bool, quiet: bool
) -> dict[str, object]:
    """Make the list, take the hashes where this is the only process, and say what there is."""
    if opened is None:
        return {}
    opened.finish(all_ranks=launcher)
    from trueline.data.manifest.of_run import lists_of
    from trueline.record.ranks import rank_in_environment

    if rank_in_environment()[1] > 1:
        # Each of several ranks has its own list; whoever joins them takes the hashes.
        return {}
    lists = lists_of(wanted.folder)
    listed = next(iter(lists.values()), None)
    if listed is None or not listed.paths:
        said = message("manifest.listed_none")
        if not quiet:
            say(said)
        return {"manifest": {"files": 0, "bytes": 0, "hashes": [], "file": None}}
    written, found = _hash(wanted.folder, listed)
    if not quiet:
        for one in (*_told(found, shown, written), *found.notes):
            say(one)
    return {
        "manifest": {
            "files": len(found.paths),
            "bytes": found.total,
            "hashes": list(found.hashes),
            "file": str(written) if written is not None else None,
        }
    }


def _hash(run: Path, listed: Manifest) -> tuple[Path | None, Manifest]:
    """The hashed list and where it is; the list as it was where the user interrupts or files are gone."""
    from trueline.cli.progress import bytes_progress
    from trueline.data.manifest.hashing_run import hash_run
    from trueline.formats.manifest.json_form import write_manifest
    from trueline.formats.manifest.listed import FAST, MD5

    try:
        with bytes_progress(message("manifest.hashing")) as progress:
            try:
                found, place = hash_run(run, [MD5, FAST], progress)
            except Missing:
                found, place = hash_run(run, [MD5], progress)
        write_manifest(place, found)
    except (KeyboardInterrupt, Trouble):
        return None, listed
    return place, found


def _told(found: Manifest, shown: Path, written: Path | None) -> list[Message]:
    from trueline.data.manifest.report import size_text

    params = {"count": len(found.paths), "size": size_text(found.total)}
    if written is None:
        return [message("manifest.listed_only", run=shlex.quote(str(shown)), **params)]
    return [message("manifest.listed", file=str(shown / written.name), **params)]
