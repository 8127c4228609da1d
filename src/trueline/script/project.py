"""The files of a project, and which of them a name of a module means."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from trueline.model.budget import Budget
from trueline.model.message import message
from trueline.model.trouble import BadFile
from trueline.script.source import SourceFile, read_source

_LEFT_OUT: Final = frozenset(
    ("__pycache__", "node_modules", "site-packages", "dist-packages", "build", "dist", "venv", "env")
)
# Scripts of a folder that are read.
MAX_FILES: Final = 2000
# Bytes that the trees of a project take together, however large its files are.
MAX_MEMORY: Final = 2 << 30


class Project:
    """Source files that belong together: the ones asked for, and those that they import."""

    def __init__(self, roots: Sequence[Path], entries: Sequence[Path], left_out: int = 0) -> None:
        self._roots = [resolved(root) for root in roots]
        self._budget = Budget("", 0)
        self._budget.memory = MAX_MEMORY
        # Scripts that were not even opened, for there are too many.
        self.left_out = left_out
        self._base = Path.cwd()
        # What all parts of the project know of its files, and those that this one has opened.
        self._known: dict[Path, SourceFile] = {}
        self._opened: dict[Path, SourceFile] = {}
        self._found: dict[tuple[str, str], Path | None] = {}
        self.entries = [self.source(path) for path in entries]

    @property
    def files(self) -> Sequence[SourceFile]:
        """All files that were read so far."""
        return list(self._opened.values())

    def source(self, path: Path) -> SourceFile:
        """A file, read once."""
        path = resolved(path)
        if path not in self._known:
            self._known[path] = read_source(path, self._shown(path), self._budget)
        return self._opened.setdefault(path, self._known[path])

    def part(self, entries: Sequence[SourceFile]) -> Project:
        """The same project, begun from some of its files only."""
        project = copy.copy(self)
        project._opened = {resolved(file.path): file for file in entries}
        project.entries = list(entries)
        return project

    def _shown(self, path: Path) -> str:
        try:
            return str(path.relative_to(self._base))
        except ValueError:
            return str(path)

    def find(self, name: str, beside: Path) -> Path | None:
        """The file of a module by its full name, as seen from a file: beside it, or from a root of the project."""
        key = (name, str(beside.parent))
        if key not in self._found:
            self._found[key] = next(self._places(name, beside), None)
        return self._found[key]

    def _places(self, name: str, beside: Path) -> Iterator[Path]:
        parts = name.split(".")
        for root in dict.fromkeys((beside.parent, *self._roots, *beside.parents[1:3])):
            for place in (root.joinpath(*parts).with_suffix(".py"), root.joinpath(*parts, "__init__.py")):
                if is_file(place):
                    yield place
                    return

    def find_folder(self, name: str, beside: Path) -> Path | None:
        """The folder of a package without an __init__.py."""
        for root in dict.fromkeys((beside.parent, *self._roots)):
            place = root.joinpath(*name.split("."))
            if _is_folder(place):
                return place
        return None

    def find_relative(self, name: str, level: int, beside: Path) -> Path | None:
        """The file of ``from ..name import``."""
        folder = beside.parent
        for _ in range(level - 1):
            folder = folder.parent
        parts = name.split(".") if name else []
        for place in (
            folder.joinpath(*parts).with_suffix(".py") if parts else None,
            folder.joinpath(*parts, "__init__.py"),
        ):
            if place is not None and is_file(place):
                return place
        return folder if not parts and _is_folder(folder) else None


def resolved(path: Path) -> Path:
    """A path without links; as it is where they lead in a circle."""
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        return path.absolute()


def is_file(path: Path) -> bool:
    """Whether a file is there; a name that cannot be one's, as it is too long, is none's."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def open_project(paths: Sequence[Path]) -> Project:
    """A project from scripts and folders of scripts."""
    roots: list[Path] = []
    entries: list[Path] = []
    for path in paths:
        try:
            if path.is_dir():
                roots.append(path)
                entries.extend(scripts_in(path))
            elif path.exists():
                roots.append(path.parent)
                entries.append(path)
            else:
                raise BadFile(path, message("script.not_there").text())
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise BadFile(path, message("script.unreadable", reason=reason).text()) from None
    kept = entries[:MAX_FILES]
    return Project(roots, kept, len(entries) - len(kept))


def scripts_in(folder: Path, endings: tuple[str, ...] = (".py",)) -> list[Path]:
    """All scripts in a folder, and what could not be looked into: that is told when it is read."""
    paths: list[Path] = []

    def unreadable(error: OSError) -> None:
        paths.append(Path(error.filename))

    for place, folders, names in os.walk(folder, onerror=unreadable):
        folders[:] = sorted(folder for folder in folders if folder not in _LEFT_OUT and not folder.startswith("."))
        here = sorted(name for name in names if name.endswith(endings) and not name.startswith("."))
        paths.extend(Path(place) / name for name in here)
    return paths
