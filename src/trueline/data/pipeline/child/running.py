"""The pipeline as it stands: its own batches, its own workers."""

from __future__ import annotations

import traceback

from trueline.adapters.guest.wire import Array, Content
from trueline.data.pipeline.child.failing import failure
from trueline.data.pipeline.child.host import Answer, Host


def answer_run(host: Host, content: Content, _: list[Array]) -> Answer:
    """How many batches came, and what was raised instead of the next."""
    host.journal.doing("running")
    count = 0
    try:
        for _ in host.opened.run(content["batches"]):
            count += 1
            host.meter.sample(count)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - the user's code may raise anything
        traceback.print_exception(error)
        return {"count": count, "failure": failure(error, "running", None)}, []
    return {"count": count}, []
