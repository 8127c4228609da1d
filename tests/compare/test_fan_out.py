"""Work that is spread gives the same answers in the same order, wherever it is done, and ends when it is told to."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

from trueline.compare.fan_out import measure_all
from trueline.compare.measure import Task
from trueline.formats.npy import read_npy
from trueline.kernel import stopping
from trueline.model.trouble import BadFile


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> list[Task]:
    folder = tmp_path_factory.mktemp("tasks")
    random = np.random.default_rng(0)
    found = []
    for place in range(40):
        values = random.standard_normal(200_000 if place % 3 else 10).astype(np.float32)
        np.save(folder / f"b{place}.npy", values)
        np.save(folder / f"a{place}.npy", values + np.float32(place))
        found.append(Task(read_npy(folder / f"a{place}.npy"), read_npy(folder / f"b{place}.npy")))
    return found


def test_every_executor_gives_the_same_answers_in_order(tasks: list[Task]) -> None:
    plain = [task.run() for task in tasks]
    assert [one.max_abs for one in plain] == pytest.approx(list(range(40)), abs=1e-5)
    assert list(measure_all(tasks)) == plain
    with ThreadPoolExecutor(3) as threads:
        assert list(measure_all(tasks, threads)) == plain
    with ProcessPoolExecutor(2, get_context("spawn")) as processes:
        assert list(measure_all(tasks, processes)) == plain


def test_progress_hears_of_every_byte(tasks: list[Task]) -> None:
    done: list[int] = []
    list(measure_all(tasks, progress=done.append))
    assert sum(done) == sum(task.nbytes for task in tasks) and len(done) > 1


def test_a_file_that_breaks_meanwhile_is_said(tasks: list[Task], tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.zeros(300_000, np.float32))
    broken = read_npy(tmp_path / "x.npy")
    (tmp_path / "x.npy").write_bytes(b"\x93NUMPY")
    with pytest.raises(BadFile, match="cut short"):
        list(measure_all([*tasks, Task(broken, broken), *tasks]))


def test_who_stops_asking_stops_the_work(tmp_path: Path) -> None:
    path = tmp_path / "big.npy"
    np.lib.format.open_memmap(path, "w+", np.float32, (600_000_000,)).flush()
    big = read_npy(path)
    asked = threading.Timer(0.2, stopping.ask)
    asked.start()
    began = time.thread_time()
    try:
        with pytest.raises(InterruptedError):
            for _ in range(50):
                Task(big, big, threads=1).run()
    finally:
        stopping.forget()
    # Two passes over all of it would take more; where it stops is one piece away.
    assert time.thread_time() - began < 5
