"""A run is told as what it is: finished, failed, killed, with a rank that died, or recorded in part."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path
from typing import Any

import pytest

from trueline.formats.run_folder.reader import open_run
from trueline.formats.run_folder.writer import RankWriter
from trueline.model.process_birth import birth_of
from trueline.model.run import RunInfo
from trueline.report.run.state import Ending, State, state_of

_GONE = 2**22 + 1
_FULL = {"message_id": "record.off_disk_full", "params": {"folder": "run"}}


def process(*, pid: int = _GONE, ended: bool = False, code: int | None = None, off: Any = None) -> dict[str, Any]:
    return {
        "pid": pid,
        "host": platform.node(),
        "ended": "2026-01-01T00:01:00+00:00" if ended else None,
        "exit_code": code,
        "off": off,
    }


def state(
    folder: Path, *processes: dict[str, Any], ended: str | None = None, code: int | None = None, steps: int = 1
) -> State:
    for rank, one in enumerate(processes):
        writer = RankWriter(folder, rank)
        if not rank:
            writer.write_info(RunInfo(id="run", started="2026-01-01T00:00:00+00:00", ended=ended, exit_code=code))
        writer.write_process(one)
        writer.finish_step(0, "train", [{"event": "end", "t": 0.0}] if steps else [])
        writer.close()
    return state_of(open_run(folder))


_ENDED = "2026-01-01T00:01:00+00:00"


@pytest.mark.parametrize(
    ("processes", "ended", "code", "ending", "word"),
    [
        ([process(ended=True)], _ENDED, 0, Ending.FINISHED, "finished"),
        ([process(ended=True, code=3)], _ENDED, 3, Ending.FAILED, "failed (3)"),
        ([process()], None, None, Ending.KILLED, "killed"),
        ([process(pid=os.getpid())], None, None, Ending.RUNNING, "running"),
        ([process(ended=True), process()], _ENDED, None, Ending.DIED, "rank 1 died"),
        ([process(ended=True), process()], _ENDED, 1, Ending.DIED, "rank 1 died"),
        ([process(), process(pid=os.getpid()), process()], None, None, Ending.DIED, "rank 0, 2 died"),
        ([process(ended=True), process(ended=True)], _ENDED, None, Ending.FINISHED, "finished"),
        ([process(ended=True), process(ended=True, code=1)], _ENDED, None, Ending.FAILED, "failed (1)"),
        # On a full disk run.json could not be written any more.
        ([process(ended=True, off=_FULL)], None, None, Ending.FINISHED, "finished, recorded in part (disk full)"),
        (
            [process(ended=True, code=7, off=_FULL)],
            None,
            None,
            Ending.FAILED,
            "failed (7), recorded in part (disk full)",
        ),
        ([process(off=_FULL)], None, None, Ending.KILLED, "killed, recorded in part (disk full)"),
    ],
)
def test_each_ending_has_its_own_words(
    tmp_path: Path, processes: list[dict[str, Any]], ended: str | None, code: int | None, ending: Ending, word: str
) -> None:
    found = state(tmp_path / "run", *processes, ended=ended, code=code)
    assert (found.ending, found.word.text("en")) == (ending, word)
    assert found.to_json()["state"] == ending.value


def test_a_recording_that_never_began_is_told_as_that(tmp_path: Path) -> None:
    found = state(tmp_path / "run", process(ended=True, off=_FULL), ended=_ENDED, code=0, steps=0)
    assert (found.ending, found.word.text("en")) == (Ending.FINISHED, "finished, nothing recorded (disk full)")


def test_a_process_that_has_the_number_of_another_one_is_not_alive(tmp_path: Path) -> None:
    born = birth_of(os.getpid())
    assert born is not None
    alive = state(tmp_path / "alive", {**process(pid=os.getpid()), "born": born})
    gone = state(tmp_path / "gone", {**process(pid=os.getpid()), "born": born + 1})
    assert (alive.ending, gone.ending) == (Ending.RUNNING, Ending.KILLED)


def test_a_zombie_is_not_alive(tmp_path: Path) -> None:
    child = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    born = birth_of(child.pid)
    assert born is not None and child.stdin is not None
    child.stdin.close()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert state(tmp_path / "run", {**process(pid=child.pid), "born": born}).ending is Ending.KILLED
    child.wait()


def test_a_page_that_was_not_written_whole_says_nothing(tmp_path: Path) -> None:
    state(tmp_path / "run", process(ended=True), ended=_ENDED)
    (tmp_path / "run/rank-00000/process.json").write_bytes(b'{"pid": 1, "host')
    assert state_of(open_run(tmp_path / "run")).ending is Ending.FINISHED
