"""The pipeline as it stands: its own batches, its own workers."""

from __future__ import annotations

import pickle
import traceback
from typing import Final

from trueline.adapters.guest.faults import words
from trueline.adapters.guest.wire import Content
from trueline.adapters.steps import line_of
from trueline.data.pipeline.child.failing import failure
from trueline.data.pipeline.child.host import Answer, Host
from trueline.data.pipeline.child.written import attribute_line, held
from trueline.kernel.array import Array

# Each is run in threads or processes of its own, which takes long.
_MAX_TRIED_SAMPLES: Final = 8
_PICKLE: Final = ("pickle", "Pickl")


def answer_run(host: Host, content: Content, _: list[Array]) -> Answer:
    """How many batches came, and what was raised instead of the next."""
    host.journal.doing("running")
    host.opened.restore()
    count = 0
    try:
        for _batch in host.opened.run(content["batches"]):
            count += 1
            host.meter.sample(count)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - the user's code may raise anything
        traceback.print_exception(error)
        if any(word in words(error) for word in _PICKLE):
            return {"count": count, "failure": failure(error, "running", None), "pickled": _pickled(host)}, []
        return {"count": count, "failure": failure(error, "running", _sample(host))}, []
    return {"count": count}, []


def _sample(host: Host) -> int | None:
    """The first sample that fails by itself in the same way: not in this thread of this process."""
    for index in host.kept.good[:_MAX_TRIED_SAMPLES] if host.opened.indexed else ():
        host.meter.sample(index)
        try:
            host.opened.alone(index)
        except KeyboardInterrupt:
            raise
        except BaseException:  # noqa: BLE001 - what it is was told already
            return int(index)
    return None


def _pickled(host: Host) -> dict[str, object]:
    """What cannot be handed to another process."""
    for owner, name, value in held(host.opened.objects()):
        try:
            pickle.dumps(value)
        except Exception:  # noqa: BLE001 - objects refuse in many ways
            line = (line_of(value) if hasattr(value, "__code__") else None) or attribute_line(owner, name)
            return {"name": f"{type(owner).__name__}.{name}", "line": line.line_json() if line is not None else None}
    return {"name": None, "line": None}
