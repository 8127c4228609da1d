"""Python's own word on every file that is opened: an audit hook, in this process and in those it starts.

Nothing here imports NumPy, and nothing here may stop a script: what goes wrong turns the list off.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import sysconfig
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from trueline.formats.manifest.opened_log import READ, WRITTEN, record
from trueline.model.descriptor import OwnDescriptor
from trueline.record.guard import guarded
from trueline.record.opened.seen import Seen

VARIABLE: Final = "TRUELINE_OPENED"
_APPEND: Final = os.O_WRONLY | os.O_APPEND
# Programs, not data.
_CODE: Final = (".py", ".pyc", ".pyi", ".so")
_SYSTEM: Final = ("/proc/", "/sys/", "/dev/", "/etc/", "/usr/", "/lib/", "/lib64/", "/bin/", "/sbin/", "/run/")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a list is written, which a process hands to those it starts through the environment."""

    log: str
    seen: str
    run: str
    roots: Sequence[str] = ()
    rank: tuple[int, int] = (0, 1)

    def to_text(self) -> str:
        """For the environment."""
        return json.dumps([self.log, self.seen, self.run, list(self.roots), list(self.rank)])

    @classmethod
    def in_environment(cls) -> Place | None:
        """What the process that has started this one hands on."""
        text = os.environ.get(VARIABLE)
        if text is None:
            return None
        log, seen, run, roots, (rank, world) = json.loads(text)
        return cls(log, seen, run, tuple(roots), (rank, world))


class Hearing:
    """Writes down the files that this process and its forks open from now on."""

    def __init__(self, place: Place, seen: Seen, off: Callable[[Exception], None], program: str | None = None) -> None:
        self.on = True
        self.lock = contextlib.nullcontext()
        self._log = place.log
        self._seen = seen
        self._off = off
        self._roots = tuple(root.rstrip("/") + "/" for root in place.roots)
        self._run = place.run + "/"
        self._program = _absolute(program if program is not None else _program())
        self._skipped = (*_SYSTEM, *_installed())

    def turn_off(self, error: Exception) -> None:
        """The list ends here; the script goes on."""
        self.on = False
        self._off(error)

    @guarded
    def opened(self, path: int | str | bytes, flags: object) -> None:
        """A file is about to be opened."""
        name = _absolute(path)
        if name is None or not self._wanted(name):
            return
        flags = flags if isinstance(flags, int) else 0
        # What may be written to and must be there before is a mapped array, as a rule, which is read.
        writes = flags & os.O_ACCMODE != os.O_RDONLY and (
            flags & os.O_ACCMODE == os.O_WRONLY or flags & (os.O_CREAT | os.O_TRUNC)
        )
        if writes:
            self.note(WRITTEN, name)
        else:
            # Python tells before it opens: what is not there, or is a folder, is asked for and not read.
            self.note(READ, name, lambda: os.path.isfile(name))  # noqa: PTH113

    @guarded
    def renamed(self, path: int | str | bytes) -> None:
        """A file gets this name."""
        name = _absolute(path)
        if name is not None and self._wanted(name):
            self.note(WRITTEN, name)

    def note(self, kind: bytes, name: str, counts: Callable[[], bool] = lambda: True) -> None:
        """Write a name down, once, if it counts."""
        content = kind + os.fsencode(name)
        if self._seen.is_new(content, counts):
            # Opened for each: a script may close what it does not know, and a number that is another file's by then
            # must not be written to.
            log = OwnDescriptor.open(self._log, _APPEND)
            try:
                log.write_all(record(content[:1], content[1:]))
            finally:
                log.close()

    def _wanted(self, name: str) -> bool:
        # The list itself is in the run folder, which may lie among the data.
        if name.endswith(_CODE) or name.startswith(self._run) or name == self._program:
            return False
        return (bool(self._roots) and name.startswith(self._roots)) or not name.startswith(self._skipped)


def _absolute(path: int | str | bytes) -> str | None:
    if isinstance(path, int):
        return None
    name = os.fsdecode(path)
    if "\0" in name:
        return None
    return name if name.startswith("/") else f"{os.getcwd()}/{name}"  # noqa: PTH109


def _program() -> str:
    """What this process was started to run, if it is a file."""
    return next((argument for argument in sys.orig_argv[1:] if not argument.startswith("-")), "")


def _installed() -> set[str]:
    """Folders of Python itself, its packages, and this one."""
    paths = sysconfig.get_paths()
    folders = {paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib", "include", "scripts")}
    folders |= {f"{prefix}/{name}" for prefix in (sys.prefix, sys.base_prefix) for name in ("lib", "share", "etc")}
    folders.add(str(Path(__file__).parent.parent.parent))
    return {folder.rstrip("/") + "/" for folder in folders}


_current: list[Hearing] = []
_installed_hook: list[bool] = []


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if not _current:
        return
    if event == "open":
        _current[0].opened(args[0], args[2])
    elif event == "os.rename":
        _current[0].renamed(args[1])
    elif event == "sqlite3.connect" and args[0] != ":memory:":
        _current[0].opened(args[0], os.O_RDONLY)


def listen(hearing: Hearing) -> Callable[[], None]:
    """Hear of every opened file from now on; returns what ends it (a hook itself stays until the process ends)."""
    _current[:] = [hearing]
    if not _installed_hook:
        _installed_hook.append(True)
        sys.addaudithook(_hook)
    return _current.clear


def attach() -> None:
    """Called in a Python process that another one of the run has started, before the user's code."""
    with contextlib.suppress(OSError, ValueError, TypeError):
        place = Place.in_environment()
        if place is not None:
            listen(Hearing(place, Seen.open(place.seen), lambda _: None))
