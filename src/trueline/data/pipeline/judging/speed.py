"""One operator that takes most of the time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trueline.data.pipeline.evidence import Evidence
from trueline.data.pipeline.judging.fault import fault
from trueline.model.finding import Conclusion, Finding
from trueline.model.message import message

_SHARE: Final = 0.7
# Less than so many seconds for a sample are not worth a word.
_SLOW: Final = 0.005
# Waiting, during which nothing is done, and what takes all but nothing of the rest, are worth one sooner.
_SLOW_ALONE: Final = 0.002
_ALONE: Final = 0.9
_WAITING: Final = 0.8
_CALLS: Final = 3


def speed(evidence: Evidence) -> Iterator[Finding]:
    """A note: whether that hurts depends on how long the network takes."""
    timed = [operator for operator in evidence.operators if operator.calls >= _CALLS and operator.kind != "group"]
    total = sum(operator.typical * operator.calls for operator in timed)
    if not timed or not total:
        return
    slow = max(timed, key=lambda operator: operator.typical * operator.calls)
    share = slow.typical * slow.calls / total
    waits = slow.waited > _WAITING * slow.typical
    limit = _SLOW_ALONE if waits or share >= _ALONE else _SLOW
    if share < _SHARE or slow.typical < limit:
        return
    numbers = {"operator": slow.name, "share": f"{share:.0%}", "time": f"{1000 * slow.typical:.3g} ms"}
    text = message("data_debug.slow_waits", **numbers) if waits else message("data_debug.slow", **numbers)
    yield fault(
        "slow",
        text,
        operator=slow,
        samples=[slow.slowest[0]] if slow.slowest is not None else [],
        conclusion=Conclusion.SUSPECT,
        measured=slow.typical,
        limit=limit,
    )
