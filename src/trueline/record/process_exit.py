"""Ways in which a program ends its own process at once: ``os._exit``, and turning it into another program."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, NoReturn

_PASSED_ON: Final = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
# The terminal sends these to both.
_BOTH_GET: Final = (signal.SIGINT, signal.SIGQUIT)
leave_at_once: Final = os._exit


@dataclass(frozen=True, slots=True)
class Leaving:
    """The code that a process is about to end with, or the command line of what takes its place."""

    code: int
    command: Sequence[str] = ()


Tell = Callable[[Leaving], int | None]
_waiting: list[tuple[int, Tell]] = []
_hooked: list[bool] = []


@contextmanager
def before_leaving(tell: Tell) -> Iterator[None]:
    """Meanwhile ``tell`` has the last word where this process is left: the exit code, or None for the program's own.

    With a code of ``tell``'s this process outlives another program, which then runs below it.
    """
    asked = os.getpid(), tell

    def leave(status: int) -> NoReturn:
        if isinstance(status, int) and (found := _taken(asked)) is not None:
            code = found(Leaving(status))
            status = status if code is None else code
        leave_at_once(status)

    before, os._exit = os._exit, leave
    _waiting.append(asked)
    if not _hooked:
        _hooked.append(True)
        sys.addaudithook(_hook)
    try:
        yield
    finally:
        _taken(asked)
        if os._exit is leave:
            os._exit = before


def _taken(asked: tuple[int, Tell]) -> Tell | None:
    """Whom to tell, once and in the process that is left; its forks leave as they like."""
    if asked not in _waiting or asked[0] != os.getpid():
        return None
    _waiting.remove(asked)
    return asked[1]


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if event != "os.exec" or not _waiting or not _can_be_executed(args[0]):
        return
    tell = _taken(_waiting[-1])
    if tell is not None:
        command = [os.fsdecode(argument) if isinstance(argument, bytes) else str(argument) for argument in args[1]]
        code = tell(Leaving(0, command))
        if code is not None:
            _outlive(code)


def _can_be_executed(program: int | str | bytes) -> bool:
    """A program that is looked for along a path is tried in each of its folders."""
    return isinstance(program, int) or (os.path.isfile(program) and os.access(program, os.X_OK))  # noqa: PTH113


def _outlive(code: int) -> None:
    """In a fork go on to be the other program; here wait for it, and end with its code, or with this one."""
    child = os.fork()
    if not child:
        return
    with contextlib.suppress(ValueError):
        for number in _BOTH_GET:
            signal.signal(number, signal.SIG_IGN)
        for number in _PASSED_ON:
            signal.signal(number, lambda sent, _: os.kill(child, sent))
    own = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    leave_at_once((own if own >= 0 else 128 - own) or code)
