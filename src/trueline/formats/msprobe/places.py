"""Where the dumps lie in an msprobe folder: ``step0/rank0/dump.json``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from trueline.formats.files import open_file, unreadable
from trueline.model.trouble import BadFile

DUMP: Final = "dump.json"
_STEP: Final = re.compile(r"step(\d{1,15})")
# A process that belongs to no group is named by its number in the system instead of a rank.
_RANK: Final = re.compile(r"(rank|proc)(\d{0,15})")
_HEAD: Final = 4096


def looks_like_msprobe(folder: Path) -> bool:
    """Whether a folder is a dump of msprobe, or one step or rank of it; reads the beginning of one file."""
    try:
        found = next(iter(_places(folder)), None)
        if found is None:
            return False
        with open_file(found[2] / DUMP) as file:
            head = file.read(_HEAD)
    except (OSError, BadFile):
        return False
    return b'"data"' in head and b'"level"' in head


def dumps_of(folder: Path) -> dict[tuple[int, int], Path]:
    """The folder of each step and rank."""
    try:
        places = list(_places(folder))
    except OSError as error:
        raise unreadable(folder, error) from None
    return {(step, rank): place for step, rank, place in places}


def _places(folder: Path) -> Iterator[tuple[int, int, Path]]:
    if (folder / DUMP).is_file():
        # A link or a dot as the folder's name says nothing of its step and rank.
        resolved = folder.resolve()
        found = _STEP.fullmatch(resolved.parent.name)
        yield int(found[1]) if found else 0, _rank(resolved.name), folder
        return
    own = _STEP.fullmatch(folder.resolve().name)
    yield from _ranks(int(own[1]) if own else 0, folder)
    steps = [(int(found[1]), path) for path in folder.iterdir() if (found := _STEP.fullmatch(path.name))]
    for step, path in sorted(steps):
        if path.is_dir():
            yield from _ranks(step, path)


def _rank(name: str) -> int:
    found = _RANK.fullmatch(name)
    return int(found[2]) if found and found[1] == "rank" and found[2] else 0


def _ranks(step: int, folder: Path) -> Iterator[tuple[int, int, Path]]:
    found = [(path.name, path) for path in folder.iterdir() if _RANK.fullmatch(path.name) and (path / DUMP).is_file()]
    ranks = [(_rank(name), place) for name, place in found if not name.startswith("proc")]
    processes = sorted((int(name.removeprefix("proc") or 0), place) for name, place in found if name.startswith("proc"))
    # The first process is rank 0: their numbers differ from run to run.
    ranks += [(number, place) for number, (_, place) in enumerate(processes, len(ranks))]
    for rank, place in sorted(ranks):
        yield step, rank, place
