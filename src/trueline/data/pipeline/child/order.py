"""In which order samples come, epoch after epoch."""

from __future__ import annotations

import re
import traceback
from itertools import islice
from typing import Final

from trueline.adapters.guest.faults import words
from trueline.adapters.guest.wire import Content
from trueline.data.pipeline.answers import LineJson
from trueline.data.pipeline.child.failing import failure
from trueline.data.pipeline.child.host import Answer, Host
from trueline.data.pipeline.child.walking import mark
from trueline.data.pipeline.child.written import attribute_line, body_line, held, seeding_line, speaks_of_chance
from trueline.kernel.array import Array
from trueline.model.location import Location

# A sampler of the user's own may never end.
_MAX_INDEXES: Final = 200_000
# How MindSpore's engine says that an index is none of the dataset's.
_SAMPLE_ID: Final = re.compile(r"Sample ID \((\d+)\) is out of bound")


def answer_order(host: Host, content: Content, _: list[Array]) -> Answer:
    """Of the indexes that a sampler gives: whether epochs are the same, in order, complete, within the dataset."""
    host.journal.doing("order")
    epochs: list[list[int]] = []
    try:
        for epoch in range(content["epochs"]):
            found = host.opened.order(epoch)
            if found is None:
                return {"known": False}, []
            epochs.append(found)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - a sampler of the user's may raise anything
        traceback.print_exception(error)
        asked = _SAMPLE_ID.search(words(error))
        answer = {"known": False, "failure": failure(error, "order", None), **_decided(host)}
        return {**answer, "outside": [int(asked[1])] if asked else []}, []
    first = epochs[0]
    declared = content["declared"]
    outside = [index for index in first if declared is not None and not 0 <= index < declared]
    found_in_order: dict[str, object] = {
        "known": True,
        "count": [len(epoch_indexes) for epoch_indexes in epochs],
        "sorted": first == sorted(first),
        "same": len(epochs) > 1 and all(epoch_indexes == first for epoch_indexes in epochs),
        "distinct": len(set(first)),
        "outside": outside[:8],
        "first": first[:8],
        **_decided(host),
    }
    if found_in_order["same"] and not found_in_order["sorted"]:
        found_in_order["told"] = host.opened.order_after_set_epoch(1) not in (None, first)
    if outside and (line := _handing_out(host, outside[0])) is not None:
        found_in_order["outside_line"] = line.line_json()
    return found_in_order, []


def _decided(host: Host) -> dict[str, object]:
    """Where the order is decided: the user's line that seeds a generator for it, else what set it up."""
    function, built = host.opened.deciding()
    line = (seeding_line(function) if function is not None else None) or built
    return {"line": line.line_json() if line is not None else None, "stirs": speaks_of_chance(function)}


def _handing_out(host: Host, index: int) -> Location | None:
    """The line of the user's own sampler that gives an index."""
    function, _ = host.opened.deciding()
    owner = next(
        (holder for holder in host.opened.objects() if getattr(type(holder), "__iter__", None) is function), None
    )
    if function is None or owner is None:
        return None
    iterator = iter(owner)
    for one in islice(iterator, _MAX_INDEXES):
        several = one if isinstance(one, list | tuple) else [one]
        frame = getattr(iterator, "gi_frame", None)
        if index in several and frame is not None:
            return Location(frame.f_code.co_filename, frame.f_lineno)
    return None


def answer_epochs(host: Host, content: Content, _: list[Array]) -> Answer:
    """Of a stream: how many samples each epoch has, whether they are the same in the same order, what was raised."""
    host.journal.doing("epochs")
    epochs = [list(host.kept.marks.values())]
    for _again in range(content["epochs"] - 1):
        found: list[int] = []
        for row in host.opened.rows(host.meter, content["wanted"]):
            if row.error is not None:
                traceback.print_exception(row.error)
                return {"counts": _counts(epochs), "failure": failure(row.error, "epochs", row.index)}, []
            found.append(mark(host, row.value))
        epochs.append(found)
    first = epochs[0]
    answer = {
        "counts": _counts(epochs),
        "same": all(epoch == first for epoch in epochs) and len(set(first)) > 1,
        "same_samples": all(sorted(epoch) == sorted(first) for epoch in epochs),
        **_decided(host),
        "used_up": _json(_used_up(host)),
        "begins": _json(body_line(host.opened.deciding()[0])),
    }
    return answer, []


def _used_up(host: Host) -> Location | None:
    """Where an iterator was made that can be gone through only once, else what hands it out."""
    for owner, name, value in held(host.opened.objects()):
        if hasattr(value, "__next__") and (line := attribute_line(owner, name)) is not None:
            return line
    function, built = host.opened.deciding()
    return (body_line(function) if function is not None else None) or built


def _json(line: Location | None) -> LineJson:
    return line.line_json() if line is not None else None


def _counts(epochs: list[list[int]]) -> list[int]:
    return [len(epoch) for epoch in epochs]
