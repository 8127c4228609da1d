"""A disk that takes no more raises OSError out of the writer, and what was written before stays readable."""

from __future__ import annotations

import os
import resource
import signal
from pathlib import Path

import pytest
from formats.run_folder.child_process import in_child, reported, reporter
from formats.run_folder.made_run import SMALL, check_prefix, describe, finish, schedule, write_run

from trueline.formats.run_folder.layout import Limits
from trueline.formats.run_folder.writer import RankWriter


@pytest.mark.parametrize("most", [1500, 4000, 9000, 20_000, 33_333])
@pytest.mark.parametrize("limits", [SMALL, Limits(block_steps=20), Limits()])
def test_files_that_cannot_grow(tmp_path: Path, most: int, limits: Limits) -> None:
    def work(writing: int) -> None:
        report = reporter(writing)
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        writer = RankWriter(tmp_path, limits=limits)
        describe(writer)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        for done, (phase, step) in enumerate(schedule(400), 1):
            try:
                finish(writer, phase, step)
            except OSError:
                break
            report(done)
        else:
            os._exit(3)
        try:
            finish(writer, "train", 400)
        except OSError:
            writer.close()
            os._exit(0)
        os._exit(4)

    child, reading = in_child(work)
    done = reported(reading)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert check_prefix(tmp_path) in (done, done + 1)


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(OSError, match="Not a directory"):
        RankWriter(tmp_path / "file/run")


def test_a_folder_taken_away_during_the_run(tmp_path: Path) -> None:
    writer = RankWriter(tmp_path / "run", limits=SMALL)
    finish(writer, "train", 0)
    (tmp_path / "run").rename(tmp_path / "moved")
    with pytest.raises(FileNotFoundError):
        for step in range(1, 20):
            finish(writer, "train", step)


def test_a_failed_rewrite_leaves_the_old_file(tmp_path: Path) -> None:
    write_run(tmp_path, 3)
    before = (tmp_path / "run.json").read_bytes()

    def work(writing: int) -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        writer = RankWriter(tmp_path, 1)
        resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))
        try:
            describe(writer)
        except OSError:
            os._exit(0)
        os._exit(3)

    child, reading = in_child(work)
    os.close(reading)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert (tmp_path / "run.json").read_bytes() == before
    assert not list(tmp_path.glob(".*"))
