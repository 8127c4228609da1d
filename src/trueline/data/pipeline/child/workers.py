"""Two workers, really started: whether they draw the same random numbers, or give every sample twice."""

from __future__ import annotations

import traceback
from typing import Final

from trueline.adapters.guest.wire import Content
from trueline.data.pipeline.answers import LineJson, Workers
from trueline.data.pipeline.child.failing import failure
from trueline.data.pipeline.child.host import Answer, Host
from trueline.data.pipeline.child.walking import mark
from trueline.data.pipeline.child.written import attribute_line, held, is_generator, seeding_line
from trueline.kernel.array import Array

# Equal random numbers show in the first few samples of each worker.
_SAMPLES_PER_WORKER: Final = 6
_WORKERS: Final = 2


def answer_workers(host: Host, content: Content, _: list[Array]) -> Answer:
    """``same``: two workers make the same of the same samples; ``again``: and so they do in a second epoch."""
    host.journal.doing("workers")
    host.opened.restore()
    chosen = host.kept.good[:_SAMPLES_PER_WORKER]
    answer = Workers()
    try:
        if content["random"] and chosen:
            epochs = host.opened.by_workers(chosen, _WORKERS)
            marks = [[[mark(host, sample) for sample in worker] for worker in workers] for workers in epochs]
            answer["same"] = bool(marks) and all(worker == marks[0][0] for worker in marks[0])
            answer["again"] = bool(marks) and marks[0] == marks[1]
            answer["samples"] = list(chosen)
            answer["line"], answer["holder"] = _generator(host)
        host.journal.alive()
        answer["counted"] = host.opened.counted(content["most"])
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - workers may fail in any way
        traceback.print_exception(error)
        answer["failure"] = failure(error, "workers", None)
    return {**answer}, []


def _generator(host: Host) -> tuple[LineJson, str | None]:
    """Whose generator of random numbers is copied, or seeded alike, in every worker."""
    starting = host.opened.starting()
    line = seeding_line(starting, last=True) if starting is not None else None
    if line is not None:
        return line.line_json(), None
    for owner, name, value in held(host.opened.objects()):
        if is_generator(value):
            line = attribute_line(owner, name)
            return line.line_json() if line is not None else None, type(owner).__name__
    return None, None
