"""Ranks that wait for one another for ever, raise an error or die: seen from the process that has started them."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from trueline.formats.run_folder import layout
from trueline.formats.run_folder.appending import replace_file
from trueline.formats.run_folder.json_text import json_page
from trueline.formats.run_folder.reader import open_run
from trueline.model import trouble
from trueline.model.ending import Ending, Failure, RankEnding, Standing
from trueline.model.process_birth import birth_of
from trueline.record.rank_report import SIGNAL, end_file, stacks_file
from trueline.record.stacks import Stack, read_stack

# A rank that stands still outside of any communication may be reading from a slow disk: it has so many times as long.
_PATIENCE: Final = 3
# The share of a second of computing from which on a rank is at work.
_AT_WORK: Final = 0.02
# Ranks come to life at different times, and wait for the last of them.
_START_SECONDS: Final = 120.0
_STACK_SECONDS: Final = 1.0
_END_SECONDS: Final = 8.0
_TICKS: Final = float(os.sysconf("SC_CLK_TCK"))


@dataclass(slots=True)
class _Rank:
    """A rank that has told who it is."""

    number: int
    pid: int
    born: int | None
    thread: str
    descriptor: int | None
    written: int = -1
    computed: float = 0.0
    since: float = field(default_factory=time.monotonic)
    gone: float | None = None

    @property
    def is_alive(self) -> bool:
        return self.gone is None and birth_of(self.pid) == self.born is not None


class Watchdog:
    """Looks at the ranks of a launcher on this machine; ``ending`` is what it has found."""

    def __init__(self, run: Path, hang_after: float) -> None:
        self.ending: Ending | None = None
        self._run = run
        self._hang_after = hang_after
        self._place = tempfile.TemporaryDirectory(prefix="trueline-ranks-", ignore_cleanup_errors=True)
        self.folder = Path(self._place.name)
        self._ranks: dict[int, _Rank] = {}
        self._looked = time.monotonic()
        self._poll = select.poll()

    # ---- while the ranks run

    def wait(self, process: subprocess.Popen[bytes], seconds: float) -> int | None:
        """The launcher's exit code, None where it still runs after so long; notes which rank goes first."""
        self._meet()
        deadline = time.monotonic() + seconds
        with _open(process.pid) as own:
            if own is None:
                return _wait(process, seconds)
            self._poll.register(own, select.POLLIN)
            try:
                while (left := deadline - time.monotonic()) > 0:
                    gone = {descriptor for descriptor, _ in self._poll.poll(left * 1000)}
                    for rank in self._ranks.values():
                        if rank.descriptor in gone:
                            self._let_go(rank)
                    if own in gone:
                        return process.wait()
            finally:
                self._poll.unregister(own)
        return process.poll()

    def look(self) -> bool:
        """Whether no rank has moved for so long that none will; then ``ending`` says where each stands."""
        self._meet()
        now = time.monotonic()
        moved = [self._has_moved(rank, now) for rank in self._ranks.values() if rank.is_alive]
        self._looked = now
        if not self._hang_after or not moved or any(moved):
            return False
        alive = [rank for rank in self._ranks.values() if rank.is_alive]
        still = now - max(rank.since for rank in alive)
        begun = any(rank.written for rank in alive)
        if still < (self._hang_after if begun else max(self._hang_after, _START_SECONDS)):
            return False
        stacks = self._stacks(alive)
        waits = [stack.communicates for stack in stacks.values()]
        debugged = any(stack.is_debugged for stack in stacks.values())
        needed = self._hang_after * (1 if all(waits) else _PATIENCE)
        if debugged or not any(waits) or not self._stay(alive, stacks):
            for rank in alive:
                rank.since = time.monotonic()
            return False
        if still < needed:
            return False
        self.ending = self._hanging(still, stacks)
        return True

    def _meet(self) -> None:
        for file in self.folder.glob("*.json"):
            if not file.stem.isdigit() or int(file.stem) in self._ranks:
                continue
            with contextlib.suppress(OSError, ValueError, KeyError):
                told = json.loads(file.read_text("utf-8"))
                descriptor = os.pidfd_open(told["pid"]) if hasattr(os, "pidfd_open") else None
                if descriptor is not None:
                    self._poll.register(descriptor, select.POLLIN)
                number = int(file.stem)
                self._ranks[number] = _Rank(number, told["pid"], told["born"], told["thread"], descriptor)

    def _let_go(self, rank: _Rank) -> None:
        rank.gone = time.time()
        if rank.descriptor is not None:
            self._poll.unregister(rank.descriptor)
            os.close(rank.descriptor)
            rank.descriptor = None

    def _has_moved(self, rank: _Rank, now: float) -> bool:
        """Whether it has written events; time of the processor alone may be spent in waiting."""
        try:
            written = (self._run / layout.rank_name(rank.number) / layout.EVENTS).stat().st_size
        except OSError:
            written = 0
        moved = written != rank.written
        rank.written = written
        if moved:
            rank.since = now
        return moved

    def _stay(self, alive: Sequence[_Rank], before: dict[int, Stack]) -> bool:
        """Whether all stand where they stood after a while, and those that do not communicate compute nothing."""
        computed = {rank.number: _computed(rank.pid) for rank in alive}
        time.sleep(min(_STACK_SECONDS * 2, self._hang_after / 4))
        after = self._stacks(alive)
        for rank in alive:
            stack = after.get(rank.number)
            if stack is None or stack != before.get(rank.number):
                return False
            spent = _computed(rank.pid) - computed[rank.number]
            if not stack.communicates and spent > _AT_WORK * min(_STACK_SECONDS * 2, self._hang_after / 4):
                return False
        return True

    def _stacks(self, alive: Sequence[_Rank]) -> dict[int, Stack]:
        """What each rank does now."""
        sizes = {rank.number: _size(stacks_file(self.folder, rank.number)) for rank in alive}
        for rank in alive:
            if birth_of(rank.pid) == rank.born:
                with contextlib.suppress(OSError):
                    os.kill(rank.pid, SIGNAL)
        deadline = time.monotonic() + _STACK_SECONDS
        while time.monotonic() < deadline and any(
            _size(stacks_file(self.folder, rank.number)) == sizes[rank.number] for rank in alive
        ):
            time.sleep(0.02)
        # Written line by line.
        time.sleep(0.1)
        found = {}
        for rank in alive:
            with contextlib.suppress(OSError):
                text = (
                    stacks_file(self.folder, rank.number).read_bytes()[sizes[rank.number] :].decode("utf-8", "replace")
                )
                found[rank.number] = read_stack(text, rank.thread)
        return found

    def _hanging(self, still: float, stacks: dict[int, Stack]) -> Ending:
        ranks = []
        for number in sorted(self._ranks):
            stack = stacks.get(number)
            if stack is None:
                ranks.append(self._told(number))
                continue
            standing = Standing.WAITS if stack.communicates else Standing.RESTS
            ranks.append(RankEnding(number, standing, self._step(number), stack.call, self._shown(stack)))
        return Ending(Failure.HANG, _odd_one(ranks), round(still, 1), ranks)

    def end(self, process: subprocess.Popen[bytes]) -> int:
        """End the launcher, and the ranks that it leaves behind."""
        below = {pid: birth_of(pid) for pid in _below(process.pid)}
        with contextlib.suppress(OSError):
            process.send_signal(signal.SIGTERM)
        code = _wait(process, _END_SECONDS)
        for pid, born in below.items():
            if born is not None and birth_of(pid) == born:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
        if code is None:
            code = _wait(process, _END_SECONDS)
        if code is None:
            process.kill()
            code = process.wait()
        return code

    # ---- when they have ended

    def finish(self, code: int) -> None:
        """Find out who was the first to fail, write it down, and clear up."""
        try:
            if self.ending is None and code:
                self.ending = self._failed()
            if self.ending is not None and self._run.is_dir():
                with contextlib.suppress(OSError):
                    replace_file(self._run / layout.ENDING, json_page(self.ending.to_json()))
        finally:
            for rank in self._ranks.values():
                if rank.descriptor is not None:
                    os.close(rank.descriptor)
            self._place.cleanup()

    def _failed(self) -> Ending | None:
        self._meet()
        told = [self._told(number) for number in sorted(self._ranks)]
        times = {each.rank: self._time(each) for each in told if each.standing in (Standing.ERROR, Standing.DIED)}
        if not times:
            return None
        first = min(times, key=lambda rank: times[rank])
        cause = next(each for each in told if each.rank == first)
        kind = Failure.ERROR if cause.standing is Standing.ERROR else Failure.DIED
        return Ending(kind, first, 0.0, told)

    def _time(self, rank: RankEnding) -> float:
        page = _page(end_file(self.folder, rank.rank))
        gone = self._ranks[rank.rank].gone
        if page is not None and isinstance(page.get("at"), float):
            return float(page["at"])
        return gone if gone is not None else time.time()

    def _told(self, number: int) -> RankEnding:
        """What a rank has left about its end."""
        page = _page(end_file(self.folder, number))
        if page is None:
            return RankEnding(number, Standing.DIED, self._step(number))
        with contextlib.suppress(ValueError):
            told = RankEnding.from_json(page)
            return replace(told, step=self._step(number), lines=self._shown(told.lines))
        return RankEnding(number, Standing.ENDED, self._step(number))

    def _step(self, number: int) -> int:
        """The training step that it was in: the one after the last that is finished."""
        try:
            run = open_run(self._run)
            return run.rank(number).finished if number in run.ranks else 0
        except (OSError, trouble.Trouble):
            return 0

    def _shown(self, frames: Stack | Sequence[Any]) -> list[Any]:
        """Lines as the run calls their files."""
        from trueline.record.project import shown_line

        lines = frames.lines if isinstance(frames, Stack) else frames
        root = Path.cwd().resolve()
        return [replace(frame, at=shown_line(frame.at, root) or frame.at) for frame in lines]


def run_watched(
    process: subprocess.Popen[bytes], watchdog: Watchdog, every: float, meanwhile: Callable[[], None] | None
) -> int:
    """Wait for a launcher, looking at its ranks now and then; ends it where they wait for ever."""
    while True:
        try:
            code = watchdog.wait(process, every)
            if code is not None:
                return code
            if watchdog.look():
                return watchdog.end(process)
            if meanwhile is not None:
                meanwhile()
        except KeyboardInterrupt:
            # The terminal has sent it to the launcher as well, which ends its ranks in order.
            continue


def _odd_one(ranks: Sequence[RankEnding]) -> int:
    """The rank that is elsewhere than the others, or behind them; else one that is in a call of the user's own."""
    places = Counter((each.call, str(each.where)) for each in ranks)

    def order(each: RankEnding) -> tuple[bool, int, int, bool, int]:
        wrapped = each.call is None or "backward" in each.call
        alike = places[each.call, str(each.where)]
        return (each.standing is Standing.ENDED, alike, each.step, wrapped, -len(each.lines))

    return min(ranks, key=order).rank


@contextlib.contextmanager
def _open(pid: int) -> Any:
    descriptor = None
    with contextlib.suppress(OSError, AttributeError):
        descriptor = os.pidfd_open(pid)
    try:
        yield descriptor
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _below(pid: int) -> list[int]:
    """The processes that one has started, and those that these have."""
    parents: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            parent = int((folder / "stat").read_bytes().rpartition(b")")[2].split()[1])
            parents.setdefault(parent, []).append(int(folder.name))
    found, waiting = [], [pid]
    while waiting:
        below = parents.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


def _wait(process: subprocess.Popen[bytes], seconds: float) -> int | None:
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return None


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0


def _computed(pid: int) -> float:
    """The seconds of computing that a process has spent."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS
    except (OSError, ValueError, IndexError):
        return 0.0


def _page(file: Path) -> dict[str, Any] | None:
    try:
        page = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return page if isinstance(page, dict) else None
