"""The files that a recorded run has opened: each rank's own list, or the hashed one of all ranks of a machine."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from trueline.formats.manifest.json_form import read_manifest
from trueline.formats.manifest.listed import Manifest, Unread
from trueline.formats.manifest.opened_log import gather, rank_of_log
from trueline.formats.manifest.places import LOG_PATTERN, RANK_LIST, RANK_PATTERN, RUN_MANIFEST, run_manifest
from trueline.model.message import Message
from trueline.model.trouble import BadUsage

_OF_HOST = re.compile(r"manifest-.+\.json")


def is_run(path: Path) -> bool:
    """Whether a folder is a recorded run, or the beginning of one."""
    return (path / "run.json").is_file() or any(any(path.glob(pattern)) for pattern in (RANK_PATTERN, LOG_PATTERN))


def opened_by(run: Path) -> list[Manifest]:
    """The list of each machine, hashed where that was done; a BadUsage where none was recorded."""
    lists = lists_of(run)
    if not lists:
        hashed = [read_manifest(path, run) for path in _hashed_files(run)]
        if not hashed:
            raise BadUsage("manifest.not_recorded", run=str(run))
        return hashed
    several = len(lists) > 1
    found = []
    for host, listed in sorted(lists.items()):
        kept = run_manifest(run, host if several else None)
        found.append(read_manifest(kept, run) if kept.is_file() else listed)
    return found


def _hashed_files(run: Path) -> Iterator[Path]:
    for path in sorted(run.glob("manifest*.json")):
        if path.name == RUN_MANIFEST or _OF_HOST.fullmatch(path.name):
            yield path


def lists_of(run: Path) -> dict[str, Manifest]:
    """What the ranks of each machine have opened, by machine, without hashes."""
    by_host: dict[str, list[Manifest]] = {}
    for path in sorted(run.glob(f"{RANK_PATTERN}/{RANK_LIST}")):
        found = read_manifest(path, run)
        by_host.setdefault(found.host, []).append(found)
    # Logs that nobody has made a list of: the run was killed, or is still going on.
    logs: dict[int, list[Path]] = {}
    for log in sorted(run.glob(LOG_PATTERN)):
        logs.setdefault(rank_of_log(log), []).append(log)
    for group in logs.values():
        gathered = gather(group)
        if gathered is not None:
            by_host.setdefault(gathered.host, []).append(gathered)
    return {host: join(lists) for host, lists in by_host.items()}


def join(lists: Sequence[Manifest]) -> Manifest:
    """The lists of ranks of one machine as one."""
    if len(lists) == 1:
        return lists[0]
    bases = {manifest.root for manifest in lists}
    base = lists[0].root if len(bases) == 1 else "/"
    rows: dict[str, tuple[int, int]] = {}
    seen: set[str] = set()
    unread: dict[str, Unread] = {}
    notes: list[Message] = []
    for manifest in lists:
        prefix = "" if len(bases) == 1 else manifest.root.lstrip("/") + "/"
        for place, path in enumerate(manifest.paths):
            name = path if path.startswith("/") else prefix + path
            rows.setdefault(name, (manifest.sizes[place], manifest.times[place] if manifest.times is not None else 0))
            if path not in manifest.named:
                seen.add(name)
        unread.update((prefix + each.path, replace(each, path=prefix + each.path)) for each in manifest.unread)
        notes.extend(note for note in manifest.notes if note not in notes)
    names = sorted(rows)
    return Manifest(
        base,
        names,
        array("q", (rows[name][0] for name in names)),
        {},
        [unread[name] for name in sorted(unread) if name not in rows],
        lists[0].host,
        array("q", (rows[name][1] for name in names)),
        frozenset(rows.keys() - seen),
        notes,
    )
