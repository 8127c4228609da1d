"""Two workers, really started: whether they draw the same random numbers, or give every sample twice."""

from __future__ import annotations

import traceback
from typing import Any, Final

from trueline.adapters.guest.wire import Array, Content
from trueline.data.pipeline.child.failing import failure
from trueline.data.pipeline.child.host import Answer, Host
from trueline.data.pipeline.child.walking import mark

_SAMPLES: Final = 6
_WORKERS: Final = 2


def answer_workers(host: Host, content: Content, _: list[Array]) -> Answer:
    """``same``: two workers make the same of the same samples; ``again``: and so they do in a second epoch."""
    host.journal.doing("workers")
    chosen = host.kept.get("good", ())[:_SAMPLES]
    told: dict[str, Any] = {}
    try:
        if content["random"] and chosen:
            epochs = host.opened.by_workers(chosen, _WORKERS)
            marks = [[[mark(host, one) for one in worker] for worker in workers] for workers in epochs]
            told["same"] = bool(marks) and all(worker == marks[0][0] for worker in marks[0])
            told["again"] = bool(marks) and marks[0] == marks[1]
            told["samples"] = list(chosen)
        host.journal.alive()
        told["counted"] = host.opened.counted(content["most"])
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - workers may fail in any way
        traceback.print_exception(error)
        told["failure"] = failure(error, "workers", None)
    return told, []
