"""The same samples once more: whether something about them is random, and whether they are there at all."""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from trueline.adapters.guest.wire import Content
from trueline.adapters.pipeline import Row
from trueline.data.pipeline.answers import Repeat
from trueline.data.pipeline.child.failing import failure
from trueline.data.pipeline.child.host import Answer, Host
from trueline.data.pipeline.child.walking import mark
from trueline.kernel.array import Array

# Read three times each; randomness shows in the first few.
_REPEATED_SAMPLES: Final = 6


def answer_repeat(host: Host, _: Content, __: list[Array]) -> Answer:
    """``random``: the samples that are other ones each time; ``operator``: the first that makes them so.

    ``failure`` is what was raised instead of a sample that was there before.
    """
    host.journal.doing("repeating")
    chosen = host.kept.good[:_REPEATED_SAMPLES]
    differing: set[int] = set()
    blamed: Counter[int] = Counter()
    before: dict[int, list[tuple[int, int]]] = {}
    answer = Repeat(looked=len(chosen))
    for _attempt in range(2):
        for row, states in _rows(host, chosen):
            if row.error is not None:
                traceback.print_exception(row.error)
                answer.setdefault("failure", failure(row.error, "repeating", row.index))
                break
            if mark(host, row.value) != host.kept.marks.get(row.index):
                differing.add(row.index)
            if row.index in before:
                blamed.update(here[0] for here, there in zip(before[row.index], states, strict=False) if here != there)
            before[row.index] = states
    answer["random"] = sorted(differing)
    order = [operator["place"] for operator in host.meter.told()]
    answer["operator"] = next((place for place in order if blamed[place]), None)
    return {**answer}, []


def _rows(host: Host, chosen: Sequence[int]) -> Iterator[tuple[Row, list[tuple[int, int]]]]:
    """Each sample with what every operator made of it, as numbers."""
    host.meter.states = []
    try:
        with host.meter.listening():
            for row in host.opened.rows(host.meter, chosen):
                states = [(state.place, mark(host, list(state.after))) for state in host.meter.states]
                host.meter.states.clear()
                yield row, states
    finally:
        host.meter.states = None
