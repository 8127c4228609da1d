"""Many pairs measured, several at a time, into a table."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from queue import SimpleQueue

from trueline.apitable.pairs import MINDSPORE, TORCH, Documented, Kind, Machine, Measured, Outcome
from trueline.migrate.lab.bench import Bench
from trueline.migrate.lab.drawing import drawn
from trueline.migrate.lab.measuring import measured
from trueline.migrate.lab.trials import Laboratory

Python = str | os.PathLike[str]


def table_of(
    pairs: Sequence[Documented],
    *,
    seed: int = 0,
    cases: int = 100,
    jobs: int = 2,
    torch_python: Python = sys.executable,
    mindspore_python: Python = sys.executable,
    progress: Callable[[int, int, str], None] = lambda *_: None,
) -> tuple[Machine, list[Measured]]:
    """All pairs measured with so many draws each; ``progress`` hears of every pair."""
    with ExitStack() as closing:
        laboratories: SimpleQueue[Laboratory] = SimpleQueue()
        every: list[Laboratory] = []
        for _ in range(max(1, min(jobs, len(pairs)))):
            laboratory = Laboratory(
                Bench(TORCH, torch_python), Bench(MINDSPORE, mindspore_python), Bench(MINDSPORE, mindspore_python)
            )
            closing.callback(laboratory.close)
            laboratory.torch.begin()
            laboratory.mindspore.begin()
            laboratories.put(laboratory)
            every.append(laboratory)
        first = every[0]
        versions = first.torch.version, first.mindspore.version
        packages = sorted({pair.torch.partition(".")[0] for pair in pairs})
        there = {
            **first.torch.exists([*packages, *sorted({pair.torch for pair in pairs})]),
            **first.mindspore.exists(sorted({pair.mindspore for pair in pairs})),
        }
        done = 0

        def measure(pair: Documented) -> Measured:
            nonlocal done
            laboratory = laboratories.get()
            try:
                row = _measured(laboratory, pair, there, seed, cases)
            finally:
                laboratories.put(laboratory)
            done += 1
            progress(done, len(pairs), pair.torch)
            return row

        pool = ThreadPoolExecutor(len(every))
        # After Ctrl-C nothing that waits is begun.
        closing.callback(pool.shutdown, cancel_futures=True)
        rows = list(pool.map(measure, pairs))
        cases_run = sum(laboratory.cases for laboratory in every)
    return Machine(*versions, seed=seed, cases=cases_run), rows


def _measured(laboratory: Laboratory, pair: Documented, there: Mapping[str, bool], seed: int, cases: int) -> Measured:
    package = pair.torch.partition(".")[0]
    if not there[package]:
        return Measured(pair.torch, pair.mindspore, Outcome.UNMEASURED, note=f"{package} is not installed")
    if not (there[pair.torch] and there[pair.mindspore]):
        return Measured(pair.torch, pair.mindspore, Outcome.MISSING)
    if pair.kind in (Kind.DATA, Kind.RANKS):
        return Measured(pair.torch, pair.mindspore, Outcome.UNMEASURED, note="needs files or several processes")
    try:
        return measured(laboratory, pair, drawn(pair, seed, cases))
    except Exception as fault:  # noqa: BLE001 - a fault with one pair must not take the others with it
        return Measured(pair.torch, pair.mindspore, Outcome.UNMEASURED, note=f"{type(fault).__name__}: {fault}"[:200])


def summary(rows: Iterable[Measured]) -> dict[Outcome, int]:
    """How many pairs have which outcome, all outcomes in their order."""
    counts = dict.fromkeys(Outcome, 0)
    for row in rows:
        counts[row.outcome] += 1
    return counts
