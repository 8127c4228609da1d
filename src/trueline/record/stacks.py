"""The stacks of a rank: as faulthandler writes them where it waits, and of the error that it ends with."""

from __future__ import annotations

import re
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final

from trueline.model.ending import Frame
from trueline.model.location import Location

_THREAD: Final = re.compile(r"^(?:Current thread|Thread) (0x[0-9a-f]+)")
_LINE: Final = re.compile(r'^  File "(.*)", line (\d+) in (.*)$')
_FRAMEWORKS: Final = ("torch", "mindspore")
_OURS: Final = str(Path(__file__).parents[1])
_PATHS: Final = sysconfig.get_paths()
_INSTALLED: Final = tuple(str(Path(_PATHS[name])) for name in ("stdlib", "purelib", "platlib"))
_LIBRARIES: Final = ("site-packages", "dist-packages")
_NO_CALL: Final = ("wrapper", "call", "proceed", "__call__", "call_handler")
# Where a rank waits for others, by the parts of the framework's files: MindSpore computes later, and waits anywhere.
_COMMUNICATING: Final = ("torch/distributed/", "torch/autograd/", "torch/nn/parallel/", "/mindspore/")
_LOADING: Final = "mindspore/dataset/"
# At a prompt nobody is waiting for other ranks.
_DEBUGGERS: Final = ("pdb.py", "bdb.py", "code.py")


@dataclass(frozen=True, slots=True)
class Stack:
    """The frames of a thread, the innermost first."""

    frames: Sequence[Frame]

    @property
    def lines(self) -> list[Frame]:
        """The user's: neither a library's nor TrueLine's own."""
        return [frame for frame in self.frames if _is_users(frame.at.file)]

    @property
    def call(self) -> str | None:
        """The function of the framework's that it is in."""
        for frame in self.frames:
            if _is_users(frame.at.file):
                break
            named = not frame.function.startswith("_") and frame.function not in _NO_CALL
            if named and any(f"/{name}/" in frame.at.file for name in _FRAMEWORKS):
                return frame.function
        return None

    @property
    def communicates(self) -> bool:
        """Whether it is in a call that may wait for other ranks."""
        inner = [frame.at.file for frame in self.frames[: self._depth()]]
        loads = any(_LOADING in file for file in inner)
        return not loads and any(part in file for file in inner for part in _COMMUNICATING)

    @property
    def is_debugged(self) -> bool:
        """Whether somebody is at a prompt."""
        return any(frame.at.file.endswith(_DEBUGGERS) for frame in self.frames[:12])

    def _depth(self) -> int:
        """How many frames there are before the user's."""
        return next((place for place, frame in enumerate(self.frames) if _is_users(frame.at.file)), len(self.frames))


def _is_users(file: str) -> bool:
    if file.startswith("<") or (file.startswith(_OURS) and "/examples/" not in file):
        return False
    return not file.startswith(_INSTALLED) and not any(f"/{name}/" in file for name in _LIBRARIES)


def read_stack(text: str, thread: str) -> Stack:
    """The stack of one thread (its number in hexadecimal) in the last dump of a text."""
    frames: list[Frame] = []
    own = False
    for line in text.splitlines():
        head = _THREAD.match(line)
        if head is not None:
            own = int(head[1], 16) == int(thread, 16)
            frames = [] if own else frames
            continue
        found = _LINE.match(line)
        if own and found is not None:
            frames.append(Frame(found[3], Location(found[1], int(found[2]))))
    return Stack(frames)


def stack_of(trace: TracebackType | None) -> Stack:
    """The stack of an error, from its traceback."""
    frames: list[Frame] = []
    while trace is not None:
        code = trace.tb_frame.f_code
        frames.append(Frame(code.co_name, Location(code.co_filename, trace.tb_lineno)))
        trace = trace.tb_next
    return Stack(frames[::-1])
