"""A case: the files of one folder, how they are laid out on disk, and what a format's target is."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from random import Random
from typing import TypeAlias


class Odd(Enum):
    """What may lie in the place of a file."""

    FOLDER = "folder"
    FIFO = "fifo"
    DEVICE = "device"
    DANGLING = "dangling"
    CIRCLE = "circle"


Content: TypeAlias = bytes | Odd
Files: TypeAlias = dict[str, Content]
# The bytes of one file, chance, and the bytes of other files to take parts from.
Mutator: TypeAlias = Callable[[bytes, Random, Sequence[bytes]], bytes]
# Mutators with their weights.
Mutators: TypeAlias = Mapping[Mutator, float]


@dataclass(frozen=True)
class Target:
    """What is done with a file of one format.

    ``seeds`` are good cases, made without a framework; ``real`` names those that ``real_seeds.py`` makes with the
    library that owns the format. ``read`` goes through what the verbs do with the case in a folder; with ``whole``
    through the verbs themselves. ``mutators`` gives those for a file by its name. ``memory`` is what may be mapped
    beside what the process has already, for libraries that reserve much and use little.
    """

    name: str
    seeds: Callable[[Path], None]
    read: Callable[[Path, bool], None]
    mutators: Callable[[str], Mutators]
    real: Sequence[str] = ()
    memory: int = 1 << 30
    # What a case of no size may hold, with room for what the allocator keeps.
    held: int = 96 << 20
    # Files that are part of a case and not damaged.
    fixed: Sequence[str] = ()
    # One case in so many goes through the whole verbs.
    whole_every: int = 50
    needs: Sequence[str] = field(default=())


def write_case(folder: Path, files: Files) -> None:
    """Lay the files out in an empty folder."""
    made = {folder}
    for name, content in files.items():
        path = folder / name
        if path.parent not in made:
            path.parent.mkdir(parents=True, exist_ok=True)
            made.add(path.parent)
        if isinstance(content, bytes):
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            os.write(descriptor, content)
            os.close(descriptor)
        else:
            _write_odd(path, content)


def _write_odd(path: Path, kind: Odd) -> None:
    if kind is Odd.FOLDER:
        path.mkdir()
    elif kind is Odd.FIFO:
        os.mkfifo(path)
    else:
        aims = {Odd.DEVICE: "/dev/zero", Odd.DANGLING: "nowhere", Odd.CIRCLE: path.name}
        path.symlink_to(aims[kind])


def wipe(folder: Path, files: Files) -> None:
    """Make the folder empty again; quick where nothing but plain files were laid out."""
    try:
        for name in files:
            os.unlink(f"{folder}/{name}")  # noqa: PTH108 (hundreds of thousands of times)
    except OSError:
        pass
    with os.scandir(folder) as left:
        for one in left:
            if one.is_dir(follow_symlinks=False):
                shutil.rmtree(one.path, ignore_errors=True)
            else:
                os.unlink(one.path)  # noqa: PTH108


def read_case(folder: Path) -> Files:
    """The files of a folder as a case."""
    found: Files = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            aim = os.readlink(path)  # noqa: PTH115
            found[name] = Odd.DEVICE if aim == "/dev/zero" else Odd.DANGLING if aim == "nowhere" else Odd.CIRCLE
        elif path.is_fifo():
            found[name] = Odd.FIFO
        elif path.is_file():
            found[name] = path.read_bytes()
        elif path.is_dir() and not any(path.iterdir()):
            found[name] = Odd.FOLDER
    return found


def size_of(files: Files) -> int:
    """How many bytes all files have."""
    return sum(len(one) for one in files.values() if isinstance(one, bytes))
