"""A user's entry point in a process of its own, isolated from this one."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import ClassVar, Final, Self, TypeVar

from trueline.adapters.guest.entry import Entry
from trueline.adapters.guest.patience import patience
from trueline.adapters.guest.process import Died, Process
from trueline.adapters.guest.trouble import SideTrouble
from trueline.adapters.guest.wire import Content, Garbled
from trueline.adapters.nouns import Value
from trueline.kernel.array import Array
from trueline.model.message import Message, message
from trueline.model.trouble import BadFile, Trouble

Answer = TypeVar("Answer")
# What the interpreter prints of itself when it crashes.
_LAST_WORDS: Final = ("Extension modules:", "Current thread", "Thread 0x", "File ", "<no Python frame>")


class Guest:
    """The process of one entry point, served by a host module; every failure is one Trouble that names it."""

    # The module that answers in the process.
    HOST: ClassVar[str]

    def __init__(
        self, entry: Entry, process: Process, python: str, timeout: float | None, name: str | None = None
    ) -> None:
        self.entry = entry
        self.name = name or str(entry)
        self._process = process
        self._python = python
        self._patience = patience()
        self._timeout = self._patience.seconds if timeout is None else timeout
        process.glance = self._glance
        self._building = True
        self._first: Content = {}
        self._broken: Trouble | None = None
        self._open = True

    @classmethod
    def start(
        cls,
        entry: Entry,
        *,
        python: str | os.PathLike[str] = sys.executable,
        folder: Path | None = None,
        timeout: float | None = None,
        args: Sequence[Value] = (),
        kwargs: Mapping[str, Value] = MappingProxyType({}),
        name: str | None = None,
    ) -> Self:
        """Begin to build it; two build at the same time, and what goes wrong shows at the first question.

        ``folder`` (by default this one) is the process's own, and the first that it imports from. A ``timeout`` holds
        for each question (by default what ``patience`` says). ``args`` and ``kwargs`` (JSON values) are the factory's;
        ``name`` is what it is called in troubles.
        """
        home = (folder or Path.cwd()).absolute()
        try:
            process = Process(os.fspath(python), home, cls.HOST)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise SideTrouble(
                "side.no_python", side=name or str(entry), python=os.fspath(python), reason=reason
            ) from None
        guest = cls(entry, process, os.fspath(python), timeout, name)
        with ExitStack() as undoing:
            undoing.callback(guest.close)
            guest._build(home, args, kwargs)
            undoing.pop_all()
        return guest

    def again(self, entry: Entry, *, folder: Path | None = None, kwargs: Mapping[str, Value]) -> None:
        """Build another entry point in the same process, which has already imported its framework."""
        self.ready()
        self.entry, self.name, self._building = entry, str(entry), True
        self._build((folder or Path.cwd()).absolute(), (), kwargs)

    def _build(self, home: Path, args: Sequence[Value], kwargs: Mapping[str, Value]) -> None:
        entry = self.entry
        asked: Content = {"side": self.name, "folder": str(home), "module": entry.module, "name": entry.name}
        asked |= {"args": list(args), "kwargs": dict(kwargs)}
        try:
            self._send({"do": "build", "is_file": entry.is_file, **asked})
        except Trouble as trouble:
            self._broken = trouble

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.close()

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def output(self) -> str:
        """The tail of what the user's code has printed."""
        return self._process.output

    def build_reply(self) -> Content:
        """What the process replied when the build finished."""
        self.ready()
        return self._first

    def ready(self) -> Self:
        """Wait until the build has finished."""
        if self._broken is not None:
            raise self._broken
        if not self._open:
            raise ValueError(f"{self.entry} is closed")
        if self._building:
            try:
                self._first = self._receive()[0]
                self._building = False
            except Trouble as trouble:
                self._broken = trouble
                raise
        return self

    def close(self) -> None:
        """Terminate the process."""
        if self._open:
            self._open = False
            self._process.end()

    def ask(self, content: Content, arrays: Sequence[Array] = ()) -> tuple[Content, list[Array]]:
        """One request to the process; ``do`` names the action, as listed by its host."""
        self.ready()
        self._send(content, arrays)
        return self._receive()

    def _send(self, content: Content, arrays: Sequence[Array] = ()) -> None:
        self._talk(lambda: self._process.send(content, arrays, self._timeout))

    def _receive(self) -> tuple[Content, list[Array]]:
        content, arrays = self._talk(self._process.receive)
        if "trouble" in content:
            raise self._trouble(content["trouble"])
        if "old_python" in content:
            self._broken = SideTrouble(
                "side.old_python", side=self.name, python=self._python, version=content["old_python"]
            )
            raise self._broken
        if "internal" in content:
            raise RuntimeError(f"in the process of {self.entry}:\n{content['internal']}")
        return content, arrays

    def _glance(self, asked: float) -> float:
        """Called at intervals while waiting for a reply; returns the time of the last sign of life."""
        since = max(asked, self.sign_of_life())
        self._patience.waited(self.name, time.monotonic() - since, self._timeout)
        return since

    def sign_of_life(self) -> float:
        """When progress was last seen within a request; 0 where only replies count."""
        return 0.0

    def _talk(self, exchange: Callable[[], Answer]) -> Answer:
        """An exchange that was interrupted leaves the process unusable: it is terminated."""
        with ExitStack() as undoing:
            undoing.callback(self.close)
            try:
                answer = exchange()
                undoing.pop_all()
                return answer
            except Died as died:
                broken = self._died(died.code)
            except TimeoutError:
                broken = SideTrouble("side.timeout", side=self.name, seconds=self._timeout)
            except Garbled as error:
                broken = self.garbled(error)
            finally:
                self._patience.done()
            broken.output = self._process.output
            self._broken = broken
            raise broken

    def _trouble(self, content: Content) -> Trouble:
        params = content["params"]
        if content["id"] == "trouble.bad_file":
            return BadFile(params["path"], params["reason"])
        trouble = SideTrouble(content["id"], **params)
        trouble.output = self._process.output
        return trouble

    def garbled(self, error: Exception) -> SideTrouble:
        """The error for a malformed reply."""
        return SideTrouble("side.garbled", side=self.name, reason=str(error)[:200])

    def _died(self, code: int) -> SideTrouble:
        side, said = self.name, self._last_said()
        if code >= 0:
            return SideTrouble("side.died_code", side=side, code=code, said=said)
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = str(-code)
        if -code == signal.SIGKILL:
            return SideTrouble("side.died_killed", side=side, said=said)
        return SideTrouble("side.died_signal", side=side, signal=name, said=said)

    def _last_said(self) -> Message:
        lines = [line.strip() for line in self._process.output.splitlines()]
        last = next((line for line in reversed(lines) if line and not line.startswith(_LAST_WORDS)), None)
        return message("side.said", line=last[:300]) if last is not None else message("side.said_nothing")
