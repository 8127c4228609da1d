"""Reports of MindSpore's dataset processes about the random streams they draw from."""

from __future__ import annotations

from collections.abc import Callable

from trueline.adapters.mindspore.internals import WORKER, WORKER_LOOP
from trueline.adapters.mindspore.session import Session
from trueline.adapters.nouns import Foreign, Function, Loader, Value
from trueline.adapters.patching import Patches
from trueline.adapters.worker_streams import WorkerPipe, harmless


def watch(session: Session, patches: Patches) -> Callable[[], None]:
    """Make processes report their random streams; returns a function that forwards the reports received so far."""
    pipe = WorkerPipe({}, {})

    def make_worker(original: Function) -> Function:
        def init(*args: object, **kwargs: object) -> None:
            if session.switch.on and not pipe.is_open:
                pipe.open()
                patches.on_remove(pipe.close)
            original(*args, **kwargs)

        return init

    def make_loop(original: Function) -> Function:
        def loop(
            dataset: Loader, asked: object, answers: object, ended: object, forked: object, worker: int, *rest: object
        ) -> Value:
            if pipe.is_open and forked:
                # All processes of one iteration have one flag for its end.
                dataset = _ReportingSource(dataset, pipe, str(id(ended)), int(worker))
            return original(dataset, asked, answers, ended, forked, worker, *rest)

        return loop

    def pass_on() -> None:
        for line in pipe.read():
            session.observer.aside("workers", **line)

    patches.wrap(*WORKER, make_worker)
    patches.wrap(*WORKER_LOOP, make_loop)
    return pass_on


class _ReportingSource:
    """In a worker process: a dataset source that reports its generators before and after the first sample."""

    def __init__(self, source: Foreign, pipe: WorkerPipe, began: str, worker: int) -> None:
        self._source, self._pipe, self._began, self._worker = source, pipe, began, worker
        self._silent = False

    def __getitem__(self, index: Value) -> Value:
        if self._silent:
            return self._source[index]
        # MindSpore seeds each process before it asks for the first sample.
        self._silent = True
        before: dict[str, str] = {}
        with harmless():
            before = self._pipe.streams(self._source)
        sample = self._source[index]
        self._pipe.report(self._began, self._worker, before, self._source)
        return sample
