"""A killed writer leaves a folder that opens up to its last finished step, whole, with nothing twice."""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path

import pytest
from formats.run_folder.child_process import (
    await_file,
    calls_of_a_whole_run,
    in_child,
    killed_at,
    reported,
    reporter,
    write_and_report,
)
from formats.run_folder.made_run import check_prefix, schedule

from trueline.formats.run_folder.reader import open_run

LENGTH = 60
# The calls by which the folder is there: five descriptors had and given back, and it is made.
MADE = 13


@pytest.mark.parametrize("seed", range(5))
def test_killed_at_an_exact_system_call(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    calls = calls_of_a_whole_run(tmp_path / "whole", LENGTH)
    assert calls > 200
    # Two at the very beginning and the very end, the others anywhere.
    first, last = chance.randint(MADE, MADE + 17), calls - chance.randint(0, 4)
    moments = [first, last, *(chance.randint(MADE, calls) for _ in range(6))]
    for number, moment in enumerate(moments):
        folder = tmp_path / str(number)
        done = killed_at(folder, LENGTH, moment, halfway=number % 2 == 0)
        # The step at work may be finished already when the kill comes after its last line.
        assert check_prefix(folder) in (done, done + 1)


@pytest.mark.parametrize("seed", range(2))
def test_killed_at_any_time(tmp_path: Path, seed: int) -> None:
    chance = random.Random(100 + seed)
    unfinished = 0
    for number in range(5):
        folder = tmp_path / str(number)

        def work(writing: int, folder: Path = folder) -> None:
            write_and_report(folder, 5000, reporter(writing))

        child, reading = in_child(work)
        await_file(folder / "rank-00000", child)
        time.sleep(chance.uniform(0, 0.2))
        os.kill(child, signal.SIGKILL)
        unfinished += os.WIFSIGNALED(os.waitpid(child, 0)[1])
        done = reported(reading)
        assert done < len(schedule(5000))
        assert check_prefix(folder) in (done, done + 1)
    assert unfinished == 5


def test_a_run_is_read_while_another_process_writes_it(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    child, reading = in_child(lambda writing: write_and_report(folder, 150, lambda _: None))
    await_file(folder / "run.json", child)
    seen = [0]
    while os.waitpid(child, os.WNOHANG)[0] == 0:
        rank = open_run(folder).rank()
        lengths = {key: len(rank.history(key)) for key in rank.keys}
        seen.append(max(lengths.values(), default=0))
    os.close(reading)
    assert seen == sorted(seen)
    assert check_prefix(folder) == len(schedule(150))
