"""One operator that takes most of the time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trueline.data.pipeline.evidence import Evidence
from trueline.data.pipeline.judging.fault import fault
from trueline.model.finding import Conclusion, Finding
from trueline.model.message import message

_SHARE: Final = 0.6
# Less than so many seconds for a sample are not worth a word.
_SLOW: Final = 0.01
_CALLS: Final = 3


def speed(evidence: Evidence) -> Iterator[Finding]:
    """A note: whether that hurts depends on how long the network takes."""
    timed = [one for one in evidence.operators if one.calls >= _CALLS and one.kind != "group"]
    total = sum(one.seconds for one in timed)
    if len(timed) < 2 or not total:
        return
    slow = max(timed, key=lambda one: one.seconds)
    share = slow.seconds / total
    if share < _SHARE or slow.per_call < _SLOW:
        return
    waits = slow.waited > slow.seconds / 2
    numbers = {"operator": slow.name, "share": share, "seconds": slow.per_call}
    text = message("data_debug.slow_waits", **numbers) if waits else message("data_debug.slow", **numbers)
    yield fault("slow", text, operator=slow, conclusion=Conclusion.SUSPECT, measured=slow.per_call, limit=_SLOW)
