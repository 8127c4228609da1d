"""One execution: a case laid out, read under the guard, and judged."""

from __future__ import annotations

import gc
import io
import os
import re
import resource
import signal
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from fuzz.case import Files, Target, size_of, wipe, write_case
from fuzz.guard import Broken, the_guard

# As trueline.model.budget has them: what a file may cost.
MEMORY_PER_BYTE: Final = 32
SECONDS_BASE: Final = 2.0
SECONDS_PER_BYTE: Final = 8e-6
_TICK: Final = 0.2
_CONTROLS: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_PAGE: Final = resource.getpagesize()


class TooSlow(BaseException):
    """A case took more than its share of the processor."""


class Refused(Exception):
    """What is refused in another way than by a Trouble: by the one who asked a guest, say."""


class CrashedCheck(Exception):
    """An item of the checklist ended in an error of its own, which its finding names."""


@dataclass(frozen=True, slots=True)
class Judged:
    """How an execution ended: ``accepted``, ``refused``, or a finding with its kind and where it came from."""

    ending: str
    signature: str = ""
    detail: str = ""
    seconds: float = 0.0
    memory: int = 0

    @property
    def is_finding(self) -> bool:
        return self.ending not in ("accepted", "refused")


class Judge:
    """Reads cases of one target in this process, one after the other."""

    def __init__(self, target: Target, folder: Path) -> None:
        self.target = target
        self.folder = folder / "case"
        self._tmp = folder / "tmp"
        for one in (self.folder, self._tmp):
            one.mkdir(parents=True, exist_ok=True)
        tempfile.tempdir = str(self._tmp)
        os.chdir(self.folder)
        self._guard = the_guard()
        self._guard.allowed = (str(self.folder), str(self._tmp))
        self._limit = 0.0
        signal.signal(signal.SIGPROF, self._tick)
        self._base = self._peak = 0

    def limit_memory(self) -> None:
        """From now on no more than the target's share may be mapped."""
        import gc as collector

        collector.collect()
        mapped = int(Path("/proc/self/statm").read_text().split()[0]) * _PAGE
        resource.setrlimit(resource.RLIMIT_AS, (mapped + self.target.memory, resource.RLIM_INFINITY))
        self._rest()

    def _rest(self) -> None:
        """Forget the peak so far."""
        with open("/proc/self/clear_refs", "w") as file:  # noqa: PTH123
            file.write("5")
        self._base = int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE
        self._peak = _height()

    def _tick(self, _number: int, _frame: Any) -> None:
        if self._guard.on and time.process_time() > self._limit:
            # Once: what comes after it is cleaning up.
            self._limit = float("inf")
            raise TooSlow

    def execute(self, files: Files, *, whole: bool, guarded: bool = True) -> Judged:
        """Lay out, read, judge."""
        write_case(self.folder, files)
        size = size_of(files)
        allowed = SECONDS_BASE + SECONDS_PER_BYTE * size
        out, err = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = told = io.StringIO(), io.StringIO()
        began = time.process_time()
        self._limit = began + allowed
        signal.setitimer(signal.ITIMER_PROF, _TICK, _TICK)
        self._guard.seen = None
        self._guard.on = guarded
        try:
            ending, signature, detail = self._read(whole)
        finally:
            self._guard.on = False
            signal.setitimer(signal.ITIMER_PROF, 0)
            sys.stdout, sys.stderr = out, err
        seconds = time.process_time() - began
        memory = self._grown()
        if self._guard.seen is not None:
            ending, signature, detail = "broken", f"broken {self._guard.seen[:120]}", self._guard.seen
        elif ending in ("accepted", "refused"):
            texts = [one.getvalue() for one in told] + [detail]
            odd = next(((one, found) for one in texts if (found := _CONTROLS.search(one)) is not None), None)
            if odd is not None:
                at = odd[1].start()
                ending, signature, detail = "control", "control characters", repr(odd[0][max(0, at - 200) : at + 50])
            elif seconds > allowed:
                ending, signature, detail = "slow", f"slow {self.target.name}", f"{seconds:.1f} s for {size} bytes"
            elif memory > self.target.held + MEMORY_PER_BYTE * size:
                ending, signature = "memory", f"memory {self.target.name}"
                detail = f"{memory >> 20} MiB for {size} bytes"
        wipe(self.folder, files)
        _empty(self._tmp)
        return Judged(ending, signature, detail, seconds, memory)

    def _read(self, whole: bool) -> tuple[str, str, str]:
        import click

        from trueline.model.trouble import Trouble

        try:
            self.target.read(self.folder, whole)
        except Trouble as trouble:
            from trueline.model.visible import visible

            # As the command line shows it.
            return "refused", "", visible(" ".join(str(trouble).split()))
        except (click.ClickException, Refused):
            return "refused", "", ""
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 (whatever it is, it is what is looked for)
            self._guard.on = False
            return _described(error)
        return "accepted", "", ""

    def _grown(self) -> int:
        """How much more than before the case has held at its height."""
        peak = _height()
        if peak <= self._peak:
            return 0
        grown = peak - self._base
        if grown > 16 << 20:
            gc.collect()
        self._rest()
        return grown


def _height() -> int:
    """The most memory that this program has held; not getrusage's, which begins with what its parent held."""
    with open("/proc/self/status", "rb") as file:  # noqa: PTH123
        return next(int(line.split()[1]) for line in file if line.startswith(b"VmHWM:")) * 1024


def _empty(folder: Path) -> None:
    import shutil

    with os.scandir(folder) as left:
        for one in left:
            if one.is_dir(follow_symlinks=False):
                shutil.rmtree(one.path, ignore_errors=True)
            else:
                os.unlink(one.path)  # noqa: PTH108


def _described(error: BaseException) -> tuple[str, str, str]:
    """The ending, where it came from in short, and the traceback's end."""
    kinds = {TooSlow: "slow", Broken: "broken", MemoryError: "memory"}
    ending = next((word for kind, word in kinds.items() if isinstance(error, kind)), "error")
    frames = traceback.extract_tb(error.__traceback__)
    own = [one for one in frames if "/trueline/" in one.filename] or frames
    place = f"{own[-1].filename.rpartition('/trueline/')[2]}:{own[-1].name}" if own else "?"
    shown = "".join(traceback.format_exception(error)[-1:]).strip()[:300]
    trail = " < ".join(f"{one.filename.rpartition('/')[2]}:{one.lineno} {one.name}" for one in reversed(frames[-6:]))
    if isinstance(error, CrashedCheck):
        return ending, f"error check {str(error)[:90]}", str(error)[:600]
    return ending, f"{ending} {type(error).__name__} {place}", f"{shown} at {trail}"
