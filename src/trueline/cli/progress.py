"""How far long work has come: one line on stderr, in a terminal only, and only once it takes long."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from trueline.model.message import Message, message
from trueline.model.visible import on_one_line

_PATIENCE = 1.0
_EVERY = 0.2
_TICK = 1.0
_WIDTH = 24


class StepsLine:
    """A bar of the steps that are done, redrawn in place; in a terminal only."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._on = not quiet and sys.stderr.isatty()
        self._shown = 0.0
        self._drawn = False

    def show(self, done: int, count: int, what: Message) -> None:
        """So many of so many, and what is to be seen beside; not more often than the eye follows."""
        now = time.monotonic()
        if not self._on or (now - self._shown < _EVERY and done < count):
            return
        self._shown, self._drawn = now, True
        full = round(_WIDTH * min(done / max(count, 1), 1.0))
        bar = "█" * full + "·" * (_WIDTH - full)
        sys.stderr.write(f"\r\x1b[K{bar} {done}/{count}  {on_one_line(what.text())}")
        sys.stderr.flush()

    def wipe(self) -> None:
        """Take the line away, before something else is written."""
        if self._drawn:
            self._drawn = False
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


class WaitLine:
    """Says what is waited for: redrawn in a terminal, elsewhere one line for each question."""

    def __init__(self) -> None:
        self._shown = False

    def show(self, name: str, waited: float, limit: float) -> None:
        """An answer has been waited for so long, of the seconds that it has."""
        text = on_one_line(message("cli.waiting", name=name, waited=int(waited), limit=limit).text())
        if (line := _ticking.get()) is not None:
            line.instead = text
            line.draw()
            return
        if sys.stderr.isatty():
            sys.stderr.write(f"\r\x1b[K{text}")
        elif not self._shown:
            sys.stderr.write(f"{text}\n")
        self._shown = True
        sys.stderr.flush()

    def wipe(self) -> None:
        """The answer is there, or nobody waits any longer."""
        if (line := _ticking.get()) is not None:
            line.instead = ""
        if self._shown and sys.stderr.isatty():
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
        self._shown = False


@contextmanager
def bytes_progress(what: Message) -> Iterator[Callable[[int], None] | None]:
    """Hands out what is to be told of bytes that are done; the line is wiped at the end."""
    if not sys.stderr.isatty():
        yield None
        return
    began = shown = time.monotonic()
    done, drawn = 0, False

    def tell(more: int) -> None:
        nonlocal done, shown, drawn
        done += more
        now = time.monotonic()
        if now - began > _PATIENCE and now - shown > _EVERY:
            shown, drawn = now, True
            rate = done / (now - began)
            sys.stderr.write(f"\r\x1b[K{on_one_line(what.text())}: {done / 1e9:.2f} GB, {rate / 1e9:.2f} GB/s")
            sys.stderr.flush()

    try:
        yield tell
    finally:
        if drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


class _Ticking:
    """One line that says what is going on and for how long, redrawn every second by a thread of its own."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._what = ""
        # What is waited for, which says more than what is going on.
        self.instead = ""
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._tick, daemon=True)
        self._thread.start()

    def tell(self, what: str) -> None:
        """From now on this is going on."""
        self._what = what
        self.draw()

    def draw(self) -> None:
        """The line as it is to be now."""
        text = self.instead or self._what
        if text:
            sys.stderr.write(f"\r\x1b[K{_elapsed(time.monotonic() - self._began)}  {text}")
            sys.stderr.flush()

    def end(self) -> None:
        """Take the line away; nothing is drawn after this."""
        self._ended.set()
        self._thread.join()
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()

    def _tick(self) -> None:
        while not self._ended.wait(_TICK):
            self.draw()


# The line that is redrawn at present, which a long wait speaks through.
_ticking: ContextVar[_Ticking | None] = ContextVar("ticking", default=None)


def _elapsed(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


@contextmanager
def doing(said: Callable[[str], Message]) -> Iterator[Callable[[str], None]]:
    """Hands out what is to be told of what is going on, which ``said`` puts into words; wiped at the end."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    line = _Ticking()
    token = _ticking.set(line)
    try:
        yield lambda what: line.tell(on_one_line(said(what).text()))
    finally:
        _ticking.reset(token)
        line.end()
