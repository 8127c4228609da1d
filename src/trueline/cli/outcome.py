"""How a command line ends: the exit codes of the contract, each trouble one line on stderr."""

from __future__ import annotations

import errno
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Literal

import click

from trueline.cli.usage_error import usage_error_line
from trueline.locale import render
from trueline.record.stderr_line import write_line

INTERRUPTED = 130
TERMINATED = 128 + signal.SIGTERM
_NO_OUTPUT = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EBADF)


class ScriptExit(int):
    """The exit code of a user's script, whose output is flushed, or not, when Python ends, as without TrueLine."""


class Verdict(int):
    """TrueLine's own exit code after a user's script: it stands whatever the script has done to its streams."""


def script_or_verdict(script: int, verdict: int) -> ScriptExit | Verdict:
    """How a verb that has executed a script ends: with what it has found, and else as the script by itself."""
    return Verdict(verdict) if verdict else ScriptExit(script)


class Outcome:
    """Around a verb's work: turns whatever happens into an exit code and, at most, one line."""

    code: int = 0

    def __init__(self, *, flushes: bool = True) -> None:
        # Where a script leaves its process at once, what it has not flushed is lost, as without TrueLine.
        self._flushes = flushes

    def __enter__(self) -> Outcome:
        # Started with one of them closed.
        if sys.stdout is None:
            sys.stdout = open(os.devnull, "w")  # noqa: PTH123
        if sys.stderr is None:
            sys.stderr = open(os.devnull, "w")  # noqa: PTH123
        return self

    def end(self, returned: object) -> None:
        """The verb came to its end: what it returned is the exit code, and its output must be out by now."""
        self.code = int(returned) if isinstance(returned, int) else 0
        if not self._flushes:
            return
        if isinstance(returned, Verdict):
            let_go_of_streams()
        elif not isinstance(returned, ScriptExit):
            sys.stdout.flush()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Literal[True] | None:
        if error is None or isinstance(error, SystemExit):
            return None
        if isinstance(error, BrokenPipeError):
            forget_stdout()
        elif isinstance(error, KeyboardInterrupt | click.Abort):
            self.code = INTERRUPTED
            _complain(render("cli.interrupted"))
            let_go_of_streams()
        else:
            self.code = _explain(error)
            let_go_of_streams()
        return True


def code_of(work: Callable[[], int]) -> int:
    """The exit code of work that ends the process from within a script."""
    with Outcome(flushes=False) as outcome:
        outcome.end(work())
    return outcome.code


@contextmanager
def ended_cleanly() -> Iterator[None]:
    """Around work that leaves a mess where it is ended in the middle: a request to end unwinds it first."""

    def end(number: int, _: object) -> None:
        raise SystemExit(128 + number)

    try:
        before = signal.signal(signal.SIGTERM, end)
    except ValueError:
        # Not in the main thread, which alone gets signals.
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _explain(error: BaseException) -> int:
    # Loaded where something went wrong only, so that --help stays quick.
    import traceback

    from trueline.model.result import Exit
    from trueline.model.trouble import Trouble

    if isinstance(error, click.ClickException):
        _complain(usage_error_line(error))
        return Exit.BAD_INPUT
    if isinstance(error, Trouble):
        _complain(str(error))
        return Exit.BAD_INPUT
    if isinstance(error, OSError) and error.errno in _NO_OUTPUT:
        forget_stdout()
        _complain(render("cli.output_failed", {"reason": error.strerror}))
        return Exit.BAD_INPUT
    if isinstance(error, FileNotFoundError) and _folder_is_gone():
        _complain(render("cli.folder_gone"))
        return Exit.BAD_INPUT
    if os.environ.get("TRUELINE_DEBUG"):
        traceback.print_exception(error, file=sys.stderr)
    _complain(render("cli.internal_error", {"kind": type(error).__name__, "error": str(error)}))
    return Exit.INTERNAL


def _folder_is_gone() -> bool:
    try:
        os.getcwd()  # noqa: PTH109
    except FileNotFoundError:
        return True
    return False


def forget_stdout() -> None:
    """Nobody reads stdout any more: what is still to come goes nowhere, also what Python flushes at its end."""
    with open(os.devnull, "w") as nowhere:  # noqa: PTH123
        try:
            os.dup2(nowhere.fileno(), sys.stdout.fileno())
        except (OSError, ValueError, AttributeError):
            sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115


def let_go_of_streams() -> None:
    """What Python cannot flush at its end would change the exit code: such a stream is flushed here, or not at all."""
    for name in ("stdout", "stderr"):
        try:
            getattr(sys, name).flush()
        except Exception:  # noqa: BLE001 - whatever the script has put there
            setattr(sys, name, None)


def _complain(text: str) -> None:
    write_line("trueline: " + " ".join(text.split()))
