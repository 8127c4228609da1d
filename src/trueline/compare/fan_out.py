"""Work spread over shards: threads by default, since the kernel runs beside Python; any Executor will do."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from trueline.compare.measure import Task
from trueline.kernel import native_available, stopping
from trueline.model.distance import Distance

# Less than this is done before a pool has started.
_WORTH_A_POOL: Final = 16 << 20
_WORTH_A_THREAD: Final = 128 << 10
_SHARD_BYTES: Final = 32 << 20
_SHARD_TASKS: Final = 256
# How many shards wait at most: what they give back is not to pile up.
_AHEAD: Final = 4


def measure_all(
    tasks: Sequence[Task], executor: Executor | None = None, progress: Callable[[int], None] | None = None
) -> Iterator[Distance]:
    """The distances in the order of the tasks; ``progress`` hears of the bytes that are done."""
    shards = _shards(tasks)
    workers = _cores()
    total = sum(task.nbytes for task in tasks)
    # Many small tensors are Python's work, which threads do not share out.
    small = total < max(_WORTH_A_POOL, _WORTH_A_THREAD * len(tasks))
    if executor is None and (len(shards) == 1 or workers == 1 or (small and native_available())):
        for shard in shards:
            yield from _measure_shard(shard)
            _tell(progress, shard)
        return
    if len(shards) >= workers:
        # Shards share the cores: the kernel is not to split each of them again.
        shards = [[replace(task, threads=1) for task in shard] for shard in shards]
    with _pool(executor, workers) as pool:
        waiting: deque[tuple[Future[list[Distance]], Sequence[Task]]] = deque()
        for shard in shards:
            waiting.append((pool.submit(_measure_shard, shard), shard))
            if len(waiting) >= _AHEAD * workers:
                yield from _first(waiting, progress)
        while waiting:
            yield from _first(waiting, progress)


def _first(
    waiting: deque[tuple[Future[list[Distance]], Sequence[Task]]], progress: Callable[[int], None] | None
) -> list[Distance]:
    future, shard = waiting.popleft()
    found = future.result()
    _tell(progress, shard)
    return found


def _tell(progress: Callable[[int], None] | None, shard: Sequence[Task]) -> None:
    if progress is not None:
        progress(sum(task.nbytes for task in shard))


def _measure_shard(tasks: Sequence[Task]) -> list[Distance]:
    return [task.run() for task in tasks]


@contextmanager
def _pool(executor: Executor | None, workers: int) -> Iterator[Executor]:
    if executor is not None:
        yield executor
        return
    # Without the native code the work is Python's, which threads do not share out.
    own: Executor = ThreadPoolExecutor(workers) if native_available() else _processes(workers)
    finished = False
    try:
        yield own
        finished = True
    finally:
        if not finished:
            # Nobody waits for the rest.
            stopping.ask()
        own.shutdown(wait=True, cancel_futures=True)
        if not finished:
            stopping.forget()


def _processes(workers: int) -> Executor:
    # Much to import for what is hardly ever needed.
    from concurrent.futures import ProcessPoolExecutor

    return ProcessPoolExecutor(workers)


def _shards(tasks: Sequence[Task]) -> list[list[Task]]:
    shards: list[list[Task]] = []
    room = 0
    for task in tasks:
        if not shards or room < task.nbytes or len(shards[-1]) >= _SHARD_TASKS:
            shards.append([])
            room = _SHARD_BYTES
        shards[-1].append(task)
        room -= task.nbytes
    return shards


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
