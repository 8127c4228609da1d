"""In which order samples come, epoch after epoch."""

from __future__ import annotations

import traceback
from typing import Any

from trueline.adapters.guest.wire import Array, Content
from trueline.data.pipeline.child.failing import failure
from trueline.data.pipeline.child.host import Answer, Host
from trueline.data.pipeline.child.walking import mark


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
        return {"known": False, "failure": failure(error, "order", None)}, []
    first = epochs[0]
    declared = content["declared"]
    outside = [one for one in first if declared is not None and not 0 <= one < declared]
    told: dict[str, Any] = {
        "known": True,
        "count": [len(one) for one in epochs],
        "sorted": first == sorted(first),
        "same": len(epochs) > 1 and all(one == first for one in epochs),
        "distinct": len(set(first)),
        "outside": outside[:8],
        "first": first[:8],
    }
    return told, []


def answer_epochs(host: Host, content: Content, _: list[Array]) -> Answer:
    """Of a stream: how many samples each epoch has, whether they are the same in the same order, what was raised."""
    host.journal.doing("epochs")
    epochs = [list(host.kept["marks"].values())]
    for _again in range(content["epochs"] - 1):
        found: list[int] = []
        for row in host.opened.rows(host.meter, content["wanted"]):
            if row.error is not None:
                traceback.print_exception(row.error)
                return {"counts": _counts(epochs), "failure": failure(row.error, "epochs", row.index)}, []
            found.append(mark(host, row.value))
        epochs.append(found)
    first = epochs[0]
    told = {
        "counts": _counts(epochs),
        "same": all(one == first for one in epochs) and len(set(first)) > 1,
        "same_samples": all(sorted(one) == sorted(first) for one in epochs),
    }
    return told, []


def _counts(epochs: list[list[int]]) -> list[int]:
    return [len(one) for one in epochs]
