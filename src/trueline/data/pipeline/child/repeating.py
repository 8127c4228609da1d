"""The same samples once more: whether something about them is random."""

from __future__ import annotations

from typing import Final

from trueline.adapters.guest.wire import Array, Content
from trueline.data.pipeline.child.host import Answer, Host
from trueline.data.pipeline.child.walking import mark

_SAMPLES: Final = 6


def answer_repeat(host: Host, _: Content, __: list[Array]) -> Answer:
    """``random``: the indexes of samples that are other ones each time."""
    host.journal.doing("repeating")
    chosen = host.kept.get("good", ())[:_SAMPLES]
    differing: set[int] = set()
    for _attempt in range(2):
        for row in host.opened.rows(host.meter, chosen):
            if row.error is None and mark(host, row.value) != host.kept["marks"].get(row.index):
                differing.add(row.index)
    return {"random": sorted(differing), "looked": len(chosen)}, []
