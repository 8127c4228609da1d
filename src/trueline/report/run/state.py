"""Whether a run has ended, is still being written, or was killed; and how long it took."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Final

from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.model.events import EndEvent
from trueline.model.json_value import JsonObject
from trueline.model.message import Message, message
from trueline.model.process_birth import birth_of
from trueline.model.run import ProcessInfo

# A run whose files have not changed for so long, and for so many of its slowest steps, is no longer written.
MAX_QUIET_SECONDS: Final = 60.0
MAX_QUIET_STEPS: Final = 10.0


class Ending(StrEnum):
    """How a run stands."""

    FINISHED = "finished"
    FAILED = "failed"
    DIED = "died"
    RUNNING = "running"
    KILLED = "killed"


@dataclass(frozen=True, slots=True)
class State:
    """How a run stands, the exit code it left, and its seconds so far.

    ``died`` are the ranks that were killed while others were not, ``off`` is why the recording ended before the run,
    ``empty`` whether that was before its first step had ended.
    """

    ending: Ending
    exit_code: int | None
    seconds: float | None
    died: tuple[int, ...] = ()
    off: Message | None = None
    empty: bool = False

    @property
    def word(self) -> Message:
        """The state in a few words, with the exit code of a failure and why not all was recorded."""
        ending = {
            Ending.FINISHED: message("runs.finished"),
            Ending.FAILED: message("runs.failed", code=self.exit_code),
            Ending.DIED: message("runs.died", ranks=", ".join(map(str, self.died))),
            Ending.RUNNING: message("runs.running"),
            Ending.KILLED: message("runs.killed"),
        }[self.ending]
        if self.off is None:
            return ending
        kind = "runs.nothing" if self.empty else "runs.in_part"
        return message(kind, state=ending, reason=_reason(self.off))

    def to_json(self) -> JsonObject:
        """What every answer about a run says of it."""
        return {
            "state": self.ending.value,
            "died": list(self.died),
            "off": self.off.text() if self.off is not None else None,
        }


def _reason(off: Message) -> Message:
    reasons = {
        "record.off_disk_full": message("runs.reason_disk_full"),
        "record.off_unwritable": message("runs.reason_unwritable", reason=off.params.get("reason", "?")),
        "record.off_descriptor_lost": message("runs.reason_descriptor_lost"),
    }
    return reasons.get(off.id, message("runs.reason_error"))


def state_of(run: Run, *, now: float | None = None) -> State:
    """How a run stands at a time.

    A process that has not written its end is alive while it is there, where it ran on this machine; else as long as
    the run's files keep changing.
    """
    return replace(_state_of(run, now), off=_off(run), empty=_is_empty(run))


def _state_of(run: Run, now: float | None) -> State:
    seconds = _seconds(run)
    processes = {rank: process for rank in run.ranks if (process := run.rank(rank).process) is not None}
    if not processes:
        return _of_folder(run, seconds, now)
    unended = {rank: process for rank, process in processes.items() if not process.ended}
    # Where it cannot be asked, a process whose run has ended without it is gone.
    over = run.info.ended is not None or not _keeps_changing(run, now)
    died = tuple(rank for rank, process in unended.items() if not _is_alive(process, otherwise=not over))
    codes = [run.info.exit_code, *(process.exit_code for process in processes.values())]
    failed = next((code for code in codes if code), None)
    if died and len(died) < len(processes):
        return State(Ending.DIED, failed, seconds, died)
    if died and failed is None:
        return State(Ending.KILLED, None, seconds)
    if failed is not None:
        return State(Ending.FAILED, failed, seconds)
    if unended:
        return State(Ending.RUNNING, None, seconds)
    return State(Ending.FINISHED, run.info.exit_code, seconds)


def _of_folder(run: Run, seconds: float | None, now: float | None) -> State:
    """Of a run whose ranks say nothing of their processes."""
    if run.info.ended is not None:
        failed = run.info.exit_code not in (None, 0)
        return State(Ending.FAILED if failed else Ending.FINISHED, run.info.exit_code, seconds)
    known = _process_is_alive(ProcessInfo.from_json(run.info.recorded.get("process")))
    alive = known if known is not None else _keeps_changing(run, now)
    return State(Ending.RUNNING if alive else Ending.KILLED, None, seconds)


def _is_empty(run: Run) -> bool:
    return all(next(folder.events(), None) is None for folder in rank_folders(run))


def _off(run: Run) -> Message | None:
    processes = [folder.process for folder in rank_folders(run)]
    reasons = [run.info.off, *(process.off for process in processes if process is not None)]
    return next((reason for reason in reasons if reason is not None), None)


def _keeps_changing(run: Run, now: float | None) -> bool:
    slowest = max((max(folder.curve("seconds").values, default=0.0) for folder in rank_folders(run)), default=0.0)
    quiet = (time.time() if now is None else now) - max(_changed(run), default=0.0)
    return quiet <= max(MAX_QUIET_SECONDS, MAX_QUIET_STEPS * slowest)


def _is_alive(process: ProcessInfo, *, otherwise: bool) -> bool:
    known = _process_is_alive(process)
    return known if known is not None else otherwise


def _process_is_alive(process: ProcessInfo) -> bool | None:
    pid = process.pid if process.host == platform.node() else None
    if pid is None or pid <= 0:
        return None
    try:
        os.kill(pid, 0)
    except PermissionError:
        # Another user's: one that is there, of which no more may be asked.
        return birth_of(pid) in (process.born, None)
    except (ProcessLookupError, OverflowError):
        return False
    return process.born is None or birth_of(pid) == process.born


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
        return max((at for folder in rank_folders(run) for at in _ends(folder)), default=None)


def _ends(folder: RankFolder) -> Iterator[float]:
    for event in folder.events(EndEvent):
        if event.t is not None:
            yield event.t
