"""Writers in processes of their own, stopped at chosen moments."""

from __future__ import annotations

import os
import signal
import struct
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from formats.run_folder.made_run import INFO, SMALL, describe, finish, schedule

from trueline.formats.run_folder.writer import RankWriter

CALLS = ("open", "write", "replace", "unlink", "mkdir")


def in_child(work: Callable[[int], None]) -> tuple[int, int]:
    """Run work in a forked process that may report over a pipe; its process id and the pipe's reading end."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(reading)
            work(writing)
            code = 0
        finally:
            os._exit(code)
    os.close(writing)
    return child, reading


def reported(reading: int) -> int:
    """The last number that a child wrote, 0 if none."""
    with os.fdopen(reading, "rb") as pipe:
        text = pipe.read()
    return struct.unpack("<q", text[-8:])[0] if text else 0


def await_file(path: Path, child: int) -> None:
    """Wait until a child has made a file; fail when it ends without."""
    while not path.exists():
        ended = os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        assert ended is None or path.exists(), "the writing process ended early"
        time.sleep(0.001)


def write_and_report(folder: Path, length: int, report: Callable[[int], Any]) -> None:
    """Write a run with frequent rewrites of run.json, reporting after every finished step."""
    writer = RankWriter(folder, limits=SMALL)
    describe(writer)
    for done, (phase, step) in enumerate(schedule(length), 1):
        finish(writer, phase, step)
        report(done)
        if done % 10 == 0:
            writer.write_info(INFO)
    writer.close()


def reporter(writing: int) -> Callable[[int], Any]:
    """Reports through the write that is not counted."""
    write = os.write
    return lambda done: write(writing, struct.pack("<q", done))


def stop_at(moment: int | None, halfway: bool) -> list[int]:
    """Make the given file system call of this process its last: before it, or with half of its bytes written."""
    count = [0]

    def counted(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def act(*args: Any, **options: Any) -> Any:
            count[0] += 1
            if count[0] == moment:
                if name == "write" and halfway:
                    call(args[0], memoryview(args[1])[: len(args[1]) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
            return call(*args, **options)

        return act

    for name in CALLS:
        setattr(os, name, counted(name, getattr(os, name)))
    return count


def calls_of_a_whole_run(folder: Path, length: int) -> int:
    """How many file system calls a run that is not stopped makes."""

    def work(writing: int) -> None:
        report = reporter(writing)
        count = stop_at(None, halfway=False)
        write_and_report(folder, length, lambda _: None)
        report(count[0])

    child, reading = in_child(work)
    calls = reported(reading)
    assert os.waitpid(child, 0)[1] == 0
    return calls


def killed_at(folder: Path, length: int, moment: int, *, halfway: bool) -> int:
    """Write a run in a process that is killed at one file system call; how many steps it had reported."""

    def work(writing: int) -> None:
        report = reporter(writing)
        stop_at(moment, halfway)
        write_and_report(folder, length, report)

    child, reading = in_child(work)
    done = reported(reading)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
    return done
