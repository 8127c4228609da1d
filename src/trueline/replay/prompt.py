"""A debugger's prompt in the user's code."""

from __future__ import annotations

import pdb
import sys
from types import FrameType, TracebackType

from trueline.adapters.user_code import line_of_users_frame
from trueline.model.message import message
from trueline.record import launch
from trueline.record.launch import ScriptEnded
from trueline.record.stderr_line import write_line


class Prompt(pdb.Pdb):
    """Python's debugger; leaving it ends the replay."""

    def get_stack(self, f: FrameType | None, t: TracebackType | None) -> tuple[list[tuple[FrameType, int]], int]:
        """The stack from the script on."""
        stack, place = super().get_stack(f, t)
        own = [at for at, (frame, _) in enumerate(stack) if frame.f_code.co_filename == launch.__file__]
        first = own[-1] + 1 if own else 0
        return stack[first:], max(0, place - first)

    def do_quit(self, arg: str) -> bool | None:  # noqa: ARG002
        """End the replay."""
        raise ScriptEnded

    do_q = do_exit = do_EOF = do_quit  # noqa: N815 - the names that the debugger looks for


def stop_soon(package: str, step: int) -> None:
    """Stop at the next line of the user's code that is running; ``package`` is the framework's folder."""
    write_line(f"trueline: {message('replay.stopped', step=step).text()}")
    sys.stderr.flush()
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and line_of_users_frame(frame, package) is None:
        frame = frame.f_back
    Prompt(nosigint=True).set_trace(frame)
