"""A process that executes a range of cases and tells its parent of each finding; its death is one too."""

from __future__ import annotations

import json
import mmap
import os
import re
import select
import shutil
import signal
import struct
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

from fuzz.case import Files, Target, size_of, write_case
from fuzz.judging import Judge
from fuzz.mutating import case_of
from fuzz.seeds import seeds_of
from fuzz.shrinking import shrunk

_STATE: Final = struct.Struct("<4qd")
# What is not ended by a signal inside, as a loop in compiled code is, is ended from outside.
_HARD_SECONDS: Final = 20.0
_HARD_WALL: Final = 120.0
_GLANCE: Final = 0.5


@dataclass(slots=True)
class Tally:
    """What became of the executions of one format."""

    format: str
    executions: int = 0
    accepted: int = 0
    refused: int = 0
    findings: dict[str, dict[str, Any]] = field(default_factory=dict)
    found: int = 0
    peak_memory: int = 0
    slowest: float = 0.0
    seconds: float = 0.0

    def add(self, signature: str, told: dict[str, Any]) -> None:
        """A finding; of those with one signature the first is kept."""
        self.found += 1
        kept = self.findings.setdefault(signature, {**told, "times": 0})
        kept["times"] += 1


def scratch() -> Path:
    """A place in memory where there is one."""
    top = Path("/dev/shm")
    return Path(tempfile.mkdtemp(prefix="trueline-fuzz-", dir=top if os.access(top, os.W_OK) else None))


def execute(
    target: Target,
    seed: int,
    first: int,
    count: int,
    keep: Path,
    progress: Callable[[Tally], None] | None = None,
    *,
    real: bool = True,
    until: float | None = None,
) -> Tally:
    """Run so many cases from the first on, in processes that are started again where they die."""
    tally = Tally(target.name)
    at, end = first, first + count
    while at < end and (until is None or time.monotonic() < until):
        at = _one_process(target, seed, at, end, keep, tally, progress, real=real, until=until)
    return tally


def _one_process(
    target: Target,
    seed: int,
    first: int,
    end: int,
    keep: Path,
    tally: Tally,
    progress: Callable[[Tally], None] | None,
    *,
    real: bool,
    until: float | None,
) -> int:
    """Where to go on: after the last case, or after the one that the process died of."""
    state = mmap.mmap(-1, _STATE.size)
    folder = scratch()
    incoming, outgoing = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if not pid:
        os.close(incoming)
        code = 1
        try:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            _work(target, seed, first, end, folder, keep, state, outgoing, real=real)
            code = 0
        except BaseException:  # noqa: BLE001 (this process is told of by its end)
            import traceback

            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(outgoing)
    try:
        return _watch(pid, incoming, state, target, seed, first, end, keep, tally, progress, until)
    finally:
        os.close(incoming)
        shutil.rmtree(folder, ignore_errors=True)


def _watch(
    pid: int,
    incoming: int,
    state: mmap.mmap,
    target: Target,
    seed: int,
    first: int,
    end: int,
    keep: Path,
    tally: Tally,
    progress: Callable[[Tally], None] | None,
    until: float | None,
) -> int:
    base = (tally.executions, tally.accepted, tally.refused)
    began, cpu_before = time.monotonic(), tally.seconds
    current, since_wall, since_cpu = -1, began, 0.0
    waiting = b""
    ended = killed = False
    while not ended:
        if select.select([incoming], [], [], _GLANCE)[0]:
            block = os.read(incoming, 1 << 16)
            ended = not block
            waiting += block
            *lines, waiting = waiting.split(b"\n")
            for one in lines:
                told = json.loads(one)
                if "signature" in told:
                    tally.add(told["signature"], told)
                tally.peak_memory = max(tally.peak_memory, told.get("memory", 0))
                tally.slowest = max(tally.slowest, told.get("slowest", 0.0))
        number, executions, accepted, refused, _ = _STATE.unpack(state[:])
        tally.executions, tally.accepted, tally.refused = base[0] + executions, base[1] + accepted, base[2] + refused
        now, cpu = time.monotonic(), _processor(pid)
        tally.seconds = cpu_before + cpu
        if number != current:
            current, since_wall, since_cpu = number, now, cpu
        elif number > 0 and (cpu - since_cpu > _HARD_SECONDS or now - since_wall > _HARD_WALL) and not killed:
            killed = True
            os.kill(pid, signal.SIGKILL)
        if until is not None and now > until and not killed and not ended:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            return end
        if progress is not None:
            progress(tally)
    _, status = os.waitpid(pid, 0)
    number, executions, accepted, refused, _ = _STATE.unpack(state[:])
    tally.executions, tally.accepted, tally.refused = base[0] + executions, base[1] + accepted, base[2] + refused
    if os.WIFEXITED(status) and not os.WEXITSTATUS(status):
        return end
    if number <= 0:
        raise SystemExit(f"fuzz: the worker of {target.name} died before its first case (status {status})")
    how = "hangs" if killed else f"died of signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else "ended itself"
    case = number - 1
    place = keep / target.name / f"{'hang' if killed else 'death'}-{case}"
    seeds = seeds_of(target)
    _save(place, case_of(target, seeds, seed, case))
    tally.executions += 1
    signature = f"{how} {target.name}"
    told = {"signature": signature, "ending": how, "detail": "", "case": case, "place": str(place), "seed": seed}
    tally.add(signature, told)
    return case + 1


def _processor(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _save(place: Path, files: Files) -> None:
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    write_case(place, files)


def _work(
    target: Target,
    seed: int,
    first: int,
    end: int,
    folder: Path,
    keep: Path,
    state: mmap.mmap,
    outgoing: int,
    *,
    real: bool,
) -> None:
    seeds = seeds_of(target, real=real)
    judge = Judge(target, folder)
    warm_up(judge, seeds)
    judge.limit_memory()
    counts = {"accepted": 0, "refused": 0}
    known: set[str] = set()
    peak, slowest = 0, 0.0
    for number in range(first, end):
        state[:] = _STATE.pack(number + 1, number - first, counts["accepted"], counts["refused"], slowest)
        files = case_of(target, seeds, seed, number)
        whole = number % target.whole_every == 0
        judged = judge.execute(files, whole=whole)
        if judged.ending in counts:
            counts[judged.ending] += 1
        told: dict[str, Any] = {}
        if judged.seconds > slowest or judged.memory > peak:
            slowest, peak = max(slowest, judged.seconds), max(peak, judged.memory)
            told |= {"slowest": slowest, "memory": peak}
        if judged.is_finding:
            place = keep / target.name / _file_name(judged.signature)
            told |= {"signature": judged.signature, "ending": judged.ending, "detail": judged.detail, "case": number}
            told |= {"place": str(place), "seed": seed, "bytes": size_of(files)}
            if judged.signature not in known:
                known.add(judged.signature)
                _save(place, files)
                if judged.ending in ("error", "broken", "control"):
                    _save(place, shrunk(files, partial(_ends_so, judge, whole, judged.signature)))
        if told:
            os.write(outgoing, json.dumps(told).encode() + b"\n")
    state[:] = _STATE.pack(end, end - first, counts["accepted"], counts["refused"], slowest)


def _ends_so(judge: Judge, whole: bool, signature: str, files: Files) -> bool:
    return judge.execute(files, whole=whole).signature == signature


def warm_up(judge: Judge, seeds: list[Files]) -> None:
    """Good files are accepted, and what is loaded only when it is needed is loaded."""
    for files in (*seeds, dict.fromkeys(seeds[0], b"{")):
        for whole in (False, True):
            judge.execute(files, whole=whole, guarded=False)
    refused = []
    for files in seeds:
        for whole in (False, True):
            judged = judge.execute(files, whole=whole)
            if judged.is_finding:
                raise SystemExit(f"fuzz: a seed of {judge.target.name} is no good: {judged.signature} {judged.detail}")
            if judged.ending == "refused" and not whole:
                refused.append(judged.detail)
    if 2 * len(refused) > len(seeds):
        raise SystemExit(f"fuzz: most seeds of {judge.target.name} are refused: {refused[0]}")


def replay(target: Target, files: Files) -> None:
    """One case in this process, whole and not, for a person to look at."""
    folder = scratch()
    try:
        judge = Judge(target, folder)
        for whole in (False, True):
            judge.execute(seeds_of(target, real=False)[0], whole=whole, guarded=False)
        judge.limit_memory()
        for whole in (False, True):
            judged = judge.execute(files, whole=whole)
            print(f"{'whole verbs' if whole else 'readers'}: {judged.ending} {judged.signature}\n{judged.detail}")
            print(f"{judged.seconds:.3f} s, {judged.memory >> 20} MiB, {size_of(files)} bytes")
    finally:
        os.chdir("/")
        shutil.rmtree(folder, ignore_errors=True)


def _file_name(signature: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", signature)[:100]
