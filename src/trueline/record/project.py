"""The user's project around a run: its source files, its git state, and paths as a report elsewhere can show them."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from trueline.model.json_value import JsonObject
from trueline.model.location import Location

_MAX_SOURCE_BYTES: Final = 4 << 20
_GIT_SECONDS = 5


@dataclass(frozen=True)
class _Folder:
    """Where Python files lie, with all links followed."""

    path: Path
    inside: bool
    installed: bool


def shown_line(line: Location | None, root: Path) -> Location | None:
    """Relative to the project where it is inside."""
    if line is None:
        return None
    path = Path(line.file)
    inside = path.is_absolute() and path.is_relative_to(root)
    return Location(path.relative_to(root).as_posix() if inside else path.as_posix(), line.line)


class Project:
    """The folder that a script belongs to."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        paths = sysconfig.get_paths()
        self._installed = {Path(paths[name]).resolve() for name in ("stdlib", "purelib", "platlib")}
        # A framework has thousands of files in a few hundred folders: the way to each is gone once.
        self._folders: dict[str, _Folder] = {}

    def name(self, file: str) -> str:
        """A file as it is called in a run: relative to the project where it is inside."""
        path = Path(file)
        return path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else path.as_posix()

    def line(self, found: Location | None) -> Location | None:
        """The same line with its file's name in the run."""
        return Location(self.name(str(Path(found.file).resolve())), found.line) if found is not None else None

    def sources(self) -> Iterator[tuple[str, Path]]:
        """The project's imported Python files by name, the main script among them."""
        for module in list(sys.modules.values()):
            file = getattr(module, "__file__", None)
            if not isinstance(file, str) or not file.endswith(".py"):
                continue
            parent, name = os.path.split(os.path.realpath(file) if os.path.islink(file) else file)  # noqa: PTH114
            folder = self._folder(parent)
            wanted = folder.inside or getattr(module, "__name__", "") == "__main__"
            if wanted and not folder.installed and _readable(folder.path / name):
                yield self.name(str(folder.path / name)), folder.path / name

    def _folder(self, given: str) -> _Folder:
        if given not in self._folders:
            path = Path(given).resolve()
            installed = any(path.is_relative_to(folder) for folder in self._installed)
            self._folders[given] = _Folder(path, path.is_relative_to(self.root), installed)
        return self._folders[given]


def _readable(path: Path) -> bool:
    try:
        return path.stat().st_size <= _MAX_SOURCE_BYTES
    except OSError:
        return False


def git_state(folder: Path) -> JsonObject | None:
    """Commit, branch and changed files, or None outside a repository."""

    def git(*args: str) -> str | None:
        try:
            done = subprocess.run(
                ["git", "-C", str(folder), *args], capture_output=True, text=True, timeout=_GIT_SECONDS, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        return done.stdout.rstrip("\n") if done.returncode == 0 else None

    commit = git("rev-parse", "HEAD")
    if commit is None:
        return None
    changed = git("status", "--porcelain", "--untracked-files=no") or ""
    return {
        "commit": commit,
        "branch": git("rev-parse", "--abbrev-ref", "HEAD"),
        "changed": [line[3:] for line in changed.splitlines()][:100],
    }
