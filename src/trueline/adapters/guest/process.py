"""The process of a guest: messages in and out, the tail of its output, and its termination."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from trueline.adapters.guest.segments import Channel
from trueline.adapters.guest.tail import Tail
from trueline.adapters.guest.wire import MAX_LINE_BYTES, Content, Garbled, packed, unpacked
from trueline.kernel.array import Array
from trueline.locale import language

_START: Final = Path(__file__).parent / "start.py"
_KEPT_OUTPUT_BYTES: Final = 16384
_BLOCK_BYTES: Final = 1 << 20
# How often it is looked whether the process is still there: a worker that it has forked may hold its pipes open.
_GLANCE_SECONDS: Final = 0.5
# How long a process that has closed its pipes has to end.
_EXIT_SECONDS: Final = 2.0
# Arrays of megabytes come and go by the thousand: memory that is given back each time is cleared each time.
_MEMORY: Final = {
    "MALLOC_MMAP_THRESHOLD_": str(32 << 20),
    "MALLOC_TRIM_THRESHOLD_": str(16 << 30),
    "MALLOC_TOP_PAD_": str(16 << 20),
}
# How long what a process wrote last may still be on its way.
_FLUSH_SECONDS: Final = 0.2
# How long the keeper has to end what the user's code has started.
_KEEPER_SECONDS: Final = 8.0


class Died(Exception):  # noqa: N818
    """The process has ended: its exit code, negative for a signal."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


def _widen(pipe: int) -> None:
    """Enlarge a pipe to hold a whole block: each time one is full or empty, both processes are woken."""
    # Where users have used up what they may have, a pipe stays as it is.
    with contextlib.suppress(OSError):
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _BLOCK_BYTES)


class Process:
    """An interpreter that runs ``start.py`` with a host to answer; an OSError where there is no such interpreter."""

    def __init__(self, python: str, folder: Path, host: str) -> None:
        requests, self._requests = os.pipe()
        self._replies, replies = os.pipe()
        for descriptor in (self._requests, self._replies):
            _widen(descriptor)
        channel = Channel.pair()
        self._channel = channel[0] if channel is not None else None
        self._asked = 0.0
        self._timeout: float | None = None
        # Hears, now and then while it is waited, since when; and says when there was a sign of life.
        self.glance: Callable[[float], float] = lambda asked: asked
        self._waiting = bytearray()
        with contextlib.ExitStack() as theirs, contextlib.ExitStack() as ours:
            for descriptor in (requests, replies):
                theirs.callback(os.close, descriptor)
            for descriptor in (self._requests, self._replies):
                ours.callback(os.close, descriptor)
            aside = []
            if channel is not None:
                ours.callback(channel[0].close)
                theirs.callback(channel[1].close)
                aside = [channel[1].fileno()]
            self._process = subprocess.Popen(
                [python, str(_START), host, *map(str, (requests, replies, *aside))],
                cwd=folder,
                env={**_MEMORY, **os.environ, "TRUELINE_LANG": language()},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                pass_fds=(requests, replies, *aside),
                # Ctrl-C is ours to hear; the process is ended by us, with all that it has started.
                start_new_session=True,
            )
            # There is a process: our ends of the pipes stay open.
            ours.pop_all()
        os.set_blocking(self._requests, False)
        assert self._process.stdout is not None
        self._tail = Tail(self._process.stdout, _KEPT_OUTPUT_BYTES)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def output(self) -> str:
        """The tail of its output."""
        return self._tail.text(_FLUSH_SECONDS)

    def send(self, content: Mapping[str, object], arrays: Sequence[Array], timeout: float | None) -> None:
        """Send one message; Died or TimeoutError where it is not read. The time limit runs until its reply is there."""
        self._asked, self._timeout = time.monotonic(), timeout
        try:
            for piece in packed(content, arrays, self._channel):
                self._write(memoryview(piece))
        except BrokenPipeError:
            raise Died(self._ended()) from None

    def _write(self, view: memoryview) -> None:
        while len(view):
            self._wait(writing=True)
            with contextlib.suppress(BlockingIOError):
                view = view[os.write(self._requests, view[:_BLOCK_BYTES]) :]

    def receive(self) -> tuple[Content, list[Array]]:
        """The reply, its large arrays read-only; Died, Garbled or TimeoutError where there is none."""
        reply = unpacked(self, self._channel, writeable=False)
        if reply is None:
            raise Died(self._ended())
        return reply

    def line(self) -> bytes:
        """The next line; empty at end of file."""
        searched = 0
        while (end := self._waiting.find(b"\n", searched)) < 0:
            searched = len(self._waiting)
            if searched > MAX_LINE_BYTES:
                raise Garbled("line")
            block = self._read()
            if not block:
                return b""
            self._waiting += block
        line = bytes(self._waiting[: end + 1])
        del self._waiting[: end + 1]
        return line

    def fill(self, room: memoryview) -> None:
        """Exactly as many bytes as the buffer holds."""
        ready = min(len(room), len(self._waiting))
        room[:ready] = self._waiting[:ready]
        del self._waiting[:ready]
        room = room[ready:]
        while len(room):
            self._wait()
            count = os.readv(self._replies, [room])
            if not count:
                raise Died(self._ended())
            room = room[count:]

    def end(self) -> None:
        """Terminate it and all processes that it has started."""
        # Its keeper ends all that has left the group; no other process is signalled, so that none can hold that up.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            self._process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_KEEPER_SECONDS)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for descriptor in (self._requests, self._replies):
            with contextlib.suppress(OSError):
                os.close(descriptor)
        if self._channel is not None:
            self._channel.close()

    def _read(self) -> bytes:
        self._wait()
        return os.read(self._replies, _BLOCK_BYTES)

    def _wait(self, *, writing: bool = False) -> None:
        """Wait until the pipe is ready; Died or TimeoutError where it never will be."""
        while True:
            reads, writes = ([], [self._requests]) if writing else ([self._replies], [])
            left = _GLANCE_SECONDS if self._timeout is None else min(_GLANCE_SECONDS, self._timeout)
            if any(select.select(reads, writes, [], left)):
                return
            if self._process.poll() is not None and not any(select.select(reads, [], [], 0)):
                raise Died(self._ended())
            since = self.glance(self._asked)
            if self._timeout is not None and time.monotonic() >= since + self._timeout:
                raise TimeoutError

    def _ended(self) -> int:
        """The exit code of a process that has closed its pipes; Garbled where it keeps running without them."""
        try:
            return self._process.wait(_EXIT_SECONDS)
        except subprocess.TimeoutExpired:
            raise Garbled("it has closed its pipe") from None
