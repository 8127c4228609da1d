"""Whether a run has ended, is still being written, or was killed; and how long it took."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Final

from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.model.message import Message, message
from trueline.model.numbers import decode
from trueline.model.run import EventName

_QUIET_SECONDS: Final = 60.0
_QUIET_STEPS: Final = 10.0


class Ending(StrEnum):
    """How a run stands."""

    FINISHED = "finished"
    FAILED = "failed"
    RUNNING = "running"
    KILLED = "killed"


@dataclass(frozen=True, slots=True)
class State:
    """How a run stands, the exit code it left, and its seconds so far."""

    ending: Ending
    exit_code: int | None
    seconds: float | None

    @property
    def word(self) -> Message:
        """The state in one word, with the exit code of a failure."""
        return {
            Ending.FINISHED: message("runs.finished"),
            Ending.FAILED: message("runs.failed", code=self.exit_code),
            Ending.RUNNING: message("runs.running"),
            Ending.KILLED: message("runs.killed"),
        }[self.ending]


def state_of(run: Run, *, now: float | None = None) -> State:
    """How a run stands at a time.

    Without an end written it is alive while its process is, where that ran on this machine; else as long as its
    files keep changing.
    """
    seconds = _seconds(run)
    if run.info.ended is not None:
        failed = run.info.exit_code not in (None, 0)
        return State(Ending.FAILED if failed else Ending.FINISHED, run.info.exit_code, seconds)
    known = _process_is_alive(run)
    if known is not None:
        return State(Ending.RUNNING if known else Ending.KILLED, None, seconds)
    slowest = max((max(one.curve("seconds").values, default=0.0) for one in rank_folders(run)), default=0.0)
    quiet = (time.time() if now is None else now) - max(_changed(run), default=0.0)
    alive = quiet <= max(_QUIET_SECONDS, _QUIET_STEPS * slowest)
    return State(Ending.RUNNING if alive else Ending.KILLED, None, seconds)


def _process_is_alive(run: Run) -> bool | None:
    process = run.info.recorded.get("process")
    pid = process.get("pid") if isinstance(process, dict) and process.get("host") == platform.node() else None
    if not isinstance(pid, int) or pid <= 0:
        return None
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (ProcessLookupError, OverflowError):
        return False
    return True


def rank_folders(run: Run) -> list[RankFolder]:
    """All ranks of a run."""
    return [run.rank(number) for number in run.ranks]


def _changed(run: Run) -> Iterator[float]:
    places: list[Path] = [run.path / "run.json"]
    for folder in rank_folders(run):
        places += [folder.path, folder.path / "events.jsonl"]
    for place in places:
        if place.exists():
            yield place.stat().st_mtime


def _seconds(run: Run) -> float | None:
    try:
        began, ended = datetime.fromisoformat(run.info.started), datetime.fromisoformat(run.info.ended or "")
        return max(0.0, (ended - began).total_seconds())
    except (ValueError, TypeError):
        return max((at for one in rank_folders(run) for at in _ends(one)), default=None)


def _ends(folder: RankFolder) -> Iterator[float]:
    for event in folder.events(EventName.END):
        at = event.get("t")
        if isinstance(at, int | float):
            yield decode(at)
