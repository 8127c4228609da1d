"""What a rank leaves for the process that has started its launcher: who it is, its stacks on demand, how it ended.

Nothing here imports NumPy or a framework, and no thread is started: on a signal Python's own fault handler writes the
stacks, also where a C function holds the interpreter.
"""

from __future__ import annotations

import atexit
import contextlib
import faulthandler
import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Final

from trueline.model.ending import RankEnding, Standing
from trueline.model.process_birth import birth_of
from trueline.record.ranks import is_scheduler, rank_in_environment
from trueline.record.stacks import stack_of

FOLDER: Final = "TRUELINE_RANKS"
# After so long ranks that wait for one another are ended, where nothing else is asked for.
HANG_AFTER_SECONDS: Final = 300.0
_TAKEN: Final = "TRUELINE_RANK_PROCESS"
# One that nobody else uses: schedulers and launchers have the named ones.
SIGNAL: Final = getattr(signal, "SIGRTMAX", 0) - 3


def identity_file(folder: Path, rank: int) -> Path:
    """Who a rank is."""
    return folder / f"{rank}.json"


def stacks_file(folder: Path, rank: int) -> Path:
    """Its stacks, each time that they were asked for."""
    return folder / f"{rank}.stacks"


def end_file(folder: Path, rank: int) -> Path:
    """How it has ended."""
    return folder / f"{rank}.end"


def begin() -> None:
    """Called in every Python process below a launcher: the first with a rank reports for it."""
    named = os.environ.get(FOLDER)
    rank, world = rank_in_environment()
    if named is None or world < 2 or is_scheduler() or _TAKEN in os.environ or SIGNAL <= 0:
        return
    os.environ[_TAKEN] = str(os.getpid())
    folder = Path(named)
    with contextlib.suppress(OSError, ValueError):
        # Open for as long as the process lives: the signal may come at any moment.
        stacks = stacks_file(folder, rank).open("w", encoding="utf-8")
        faulthandler.register(SIGNAL, stacks, all_threads=True, chain=False)
        process = os.getpid()
        thread = hex(threading.main_thread().ident or 0)
        told = {"pid": process, "born": birth_of(process), "thread": thread, "world": world}
        _write(identity_file(folder, rank), told)
        atexit.register(_ended, folder, rank, process)


def _ended(folder: Path, rank: int, process: int) -> None:
    if os.getpid() != process:
        return
    error = getattr(sys, "last_value", None)
    stack = stack_of(getattr(sys, "last_traceback", None))
    told = RankEnding(
        rank,
        Standing.ENDED if error is None else Standing.ERROR,
        0,
        stack.call,
        stack.lines,
        None if error is None else _said(error),
    )
    with contextlib.suppress(OSError, ValueError):
        _write(end_file(folder, rank), {"at": time.time(), **told.to_json()})


def _said(error: BaseException) -> str:
    try:
        first = next(iter(str(error).strip().splitlines()), "")
        return f"{type(error).__name__}: {first}"
    except Exception:  # noqa: BLE001 - the class of the error is the user's
        return type(error).__name__


def _write(path: Path, told: object) -> None:
    part = path.with_suffix(".part")
    part.write_text(json.dumps(told), "utf-8")
    part.replace(path)
