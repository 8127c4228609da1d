"""Processes that a script starts: whether one of them had a framework loaded, and so may have trained unseen.

They are looked at from outside and are not changed: their environment and their arguments are the script's. Whether a
fork of the script trains is heard from its own hooks; a fork counts here only once it has become another program.
"""

from __future__ import annotations

import _thread
import contextlib
import functools
import mmap
import os
import re
import shlex
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from trueline.model.message import Message, message
from trueline.model.processes import is_helper, loads_data
from trueline.record.arrival import on_import
from trueline.record.guard import guarded

_STARTING: Final = frozenset(("subprocess.Popen", "os.system", "os.posix_spawn", "os.fork", "os.forkpty"))
# What Python itself loads of a framework: its other libraries are also in helpers that cannot train.
_LOADED: Final = re.compile(rb"/libtorch_python\.|/mindspore/(_c_expression)\.")
# The part of /proc/PID/stat behind the name, counted from the process's state.
_PARENT, _GROUP, _SESSION, _BEGAN = 1, 2, 3, 19
# Where code, stack, arguments and environment lie: the same in a fork, another in a program that was started.
_LAYOUT: Final = (23, 25, 45, 47)
# Seconds between two looks: so many after a start, later more, and many times the work of a look; never more than a
# process that trains takes to begin and end.
_LOOK_SECONDS: Final = 0.1
_LATER_LOOK_SECONDS: Final = 0.5
_SLOWING: Final = 0.02
_IDLE_SHARE: Final = 50
# A process that was just started may not have come to its imports yet: so long the end waits for it.
_YOUNG_SECONDS: Final = 3.0
# So long after the last start orphans are looked for.
_ORPHAN_SECONDS: Final = 10.0
_INIT: Final = 1
_MAX_COMMAND_CHARACTERS: Final = 300
_SHARED_BYTES: Final = 4096


class Process(NamedTuple):
    """What the system tells of one."""

    pid: int
    parent: int
    group: int
    session: int
    began: int
    layout: tuple[str, ...]


class StartedProcesses:
    """Those below this process from ``begin`` to ``end``; what forks of it have found counts as well."""

    def __init__(self) -> None:
        self._found = mmap.mmap(-1, _SHARED_BYTES)
        self._known: set[int] = set()
        self._own: dict[int, float] = {}
        self._serving: set[int] = set()
        self._here = 0
        self._me: Process | None = None
        # In the system's ticks since its start.
        self._since = 0
        self._first_start = 0
        self._last_start = 0.0
        self._looking = _thread.allocate_lock()
        self._ends = _thread.allocate_lock()
        self.lock = threading.RLock()
        self.on = True
        self._trouble: Message | None = None
        self._alive = False
        self._inside = threading.local()
        self._put_back: Callable[[], None] = lambda: None
        self._stop_waiting: Callable[[], None] = lambda: None

    def begin(self) -> None:
        """Hear of every start from now on."""
        self._since = _ticks() - 1
        self._settle_in()
        _listening.append(self)
        _listen()
        self._stop_waiting = on_import(("multiprocessing",), self._arrived)

    def _arrived(self, _: str) -> None:
        """Of what multiprocessing starts anew Python does not tell; and workers of a loader are known by their task."""
        from multiprocessing.process import BaseProcess

        original = BaseProcess.start

        @functools.wraps(original)
        def start(process: BaseProcess) -> None:
            serves = loads_data(process)
            with self.aside() if serves else contextlib.nullcontext():
                original(process)
            if self not in _listening or os.getpid() != self._here:
                return
            if serves and process.pid is not None:
                self._serving.add(process.pid)
            else:
                self.started()

        def put_back() -> None:
            if BaseProcess.start is start:
                BaseProcess.start = original  # type: ignore[method-assign]

        BaseProcess.start = start  # type: ignore[method-assign, assignment]
        self._put_back = put_back

    def _settle_in(self) -> None:
        self._here, self._me, self._alive = os.getpid(), _read(os.getpid()), False
        self._known, self._own, self._serving = set(), {}, set()
        self._looking, self._ends, self.lock = _thread.allocate_lock(), _thread.allocate_lock(), threading.RLock()
        self._ends.acquire()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """What this thread starts in the block is not to be looked at for its own sake."""
        self._inside.on = True
        try:
            yield
        finally:
            self._inside.on = False

    def started(self, command: str = "python") -> None:
        """A process is about to be started: look at it from now on, beside the script."""
        if getattr(self._inside, "on", False):
            return
        if os.getpid() != self._here:
            self._settle_in()
        if not self._last_start:
            self._first_start = _ticks() - 1
        self._last_start = time.monotonic()
        if self._me is None and "python" in command:
            # A system that shows no process to another.
            self._find("torch / mindspore", command)
        if self._found[0] or not self._looking.acquire(blocking=False):
            return
        try:
            # Not one of threading's: a script that counts its threads counts those of its own.
            _thread.start_new_thread(self._keep_looking, (self._looking, self._ends))
        except RuntimeError as error:
            self.turn_off(error)

    def turn_off(self, error: Exception) -> None:
        """Look no more, which is said."""
        self.on = False
        self._trouble = message(
            "record.started_unknown", kind=type(error).__name__, reason=str(error)[:_MAX_COMMAND_CHARACTERS]
        )

    def _keep_looking(self, looking: _thread.LockType, ends: _thread.LockType) -> None:
        pause = _LOOK_SECONDS
        try:
            while not ends.acquire(timeout=pause):
                began = time.thread_time()
                self._look()
                now, took = time.monotonic(), time.thread_time() - began
                later = max((now - self._last_start) * _SLOWING, took * _IDLE_SHARE)
                pause = min(max(_LOOK_SECONDS, later), _LATER_LOOK_SECONDS)
                if self._found[0] or not self.on or (not self._alive and now - self._last_start > _ORPHAN_SECONDS):
                    return
            ends.release()
        finally:
            looking.release()

    def end(self) -> Message | None:
        """Hear no more; what is said of the first that may have trained, None where none has."""
        if self not in _listening:
            return self._said()
        _listening.remove(self)
        self._stop_waiting()
        self._put_back()
        if os.getpid() != self._here:
            return None
        if not self._found[0] and self._last_start:
            until = time.monotonic() + _YOUNG_SECONDS
            self._look()
            while not self._found[0] and self._some_are_young() and time.monotonic() < until:
                self._ends.acquire(timeout=_LOOK_SECONDS)
                self._look()
        with contextlib.suppress(RuntimeError):
            self._ends.release()
        return self._said()

    def _said(self) -> Message | None:
        if not self._found[0]:
            return self._trouble
        size = int.from_bytes(self._found[1:3], "little")
        framework, _, command = self._found[3 : 3 + size].decode("utf-8", "replace").partition("\0")
        return message("record.started", framework=framework, command=command)

    def _some_are_young(self) -> bool:
        now = time.monotonic()
        return any(now - seen < _YOUNG_SECONDS and _is_python(pid) for pid, seen in self._own.items())

    @guarded
    def _look(self) -> None:
        """Look at each that is there."""
        pids = {int(name) for name in _names() if name.isdigit()}
        self._known &= pids
        self._own = {pid: seen for pid, seen in self._own.items() if pid in pids}
        self._meet(sorted(pids - self._known))
        for pid in list(self._own):
            if pid not in self._serving:
                self._look_at(pid)
        self._alive = bool(self._own)

    def _meet(self, pids: list[int]) -> None:
        found = {process.pid: process for pid in pids if pid != self._here and (process := _read(pid)) is not None}
        self._known |= set(found) | {self._here}
        grown = True
        while grown:
            below = [process for process in found.values() if process.pid not in self._own and self._is_own(process)]
            self._own |= dict.fromkeys((process.pid for process in below), time.monotonic())
            grown = bool(below)

    def _is_own(self, process: Process) -> bool:
        """One below this process, or an orphan of what was: in its group, and adopted by what takes in orphans."""
        if process.began < self._since:
            return False
        if process.parent == self._here or process.parent in self._own:
            return True
        me = self._me
        if me is None or (process.group, process.session) != (me.group, me.session):
            return False
        return process.began >= self._first_start and adopts_orphans(_read(process.parent), me)

    def _look_at(self, pid: int) -> None:
        process = _read(pid)
        if process is None or (self._me is not None and process.layout == self._me.layout):
            return
        framework = _loaded_in(pid)
        if framework is None:
            return
        command = _command(pid)
        if is_helper(command, _command(process.parent)):
            self._serving.add(pid)
        elif command and not self._found[0]:
            self._find(framework, command)

    def _find(self, framework: str, command: str) -> None:
        shown = command if len(command) <= _MAX_COMMAND_CHARACTERS else command[: _MAX_COMMAND_CHARACTERS - 1] + "…"
        text = f"{framework}\0{shown}".encode("utf-8", "replace")[: _SHARED_BYTES - 3]
        self._found[3 : 3 + len(text)] = text
        self._found[1:3] = len(text).to_bytes(2, "little")
        self._found[0] = 1


def adopts_orphans(parent: Process | None, me: Process) -> bool:
    """Whether a process in this one's group that has this parent is an orphan: whoever started it has ended.

    The system's first process adopts, in a container too, where it can stand in the script's own session; of others
    only one outside of that session can have a child in it that it did not start. A subreaper in the session is not
    told apart from a shell that starts two trainings side by side.
    """
    if parent is None or parent.pid == _INIT:
        return True
    return parent.session != me.session and parent.pid != me.parent


def _ticks() -> int:
    """Now, as the system counts a process's begin."""
    return int(time.clock_gettime(time.CLOCK_BOOTTIME) * os.sysconf("SC_CLK_TCK"))


def _names() -> list[str]:
    try:
        return os.listdir("/proc")  # noqa: PTH208 - names alone, and many of them
    except OSError:
        return []


def _read(pid: int) -> Process | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()
    if len(fields) <= max(_LAYOUT) or fields[0] == "Z":
        return None
    parent, group, session, began = (int(fields[place]) for place in (_PARENT, _GROUP, _SESSION, _BEGAN))
    return Process(pid, parent, group, session, began, tuple(fields[place] for place in _LAYOUT))


def _command(pid: int) -> str:
    try:
        text = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return ""
    return shlex.join(os.fsdecode(text.removesuffix(b"\0")).split("\0")) if text else ""


def _loaded_in(pid: int) -> str | None:
    try:
        found = _LOADED.search(Path(f"/proc/{pid}/maps").read_bytes())
    except OSError:
        return None
    return None if found is None else "mindspore" if found[1] else "torch"


def _is_python(pid: int) -> bool:
    command = _command(pid)
    return "python" in command.partition(" ")[0] and not is_helper(command, "")


_listening: list[StartedProcesses] = []
_hooked: list[bool] = []


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if _listening and event in _STARTING:
        for listener in list(_listening):
            listener.started(" ".join(map(str, args)))


def _listen() -> None:
    """Python tells of every start by whatever way; a hook stays until the process ends."""
    if not _hooked:
        _hooked.append(True)
        sys.addaudithook(_hook)
