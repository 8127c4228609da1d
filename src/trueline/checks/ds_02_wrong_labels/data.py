"""What a described dataset shows of it."""

from __future__ import annotations

from collections.abc import Iterator

from trueline.checks.engine.check import check
from trueline.checks.evidence.described import answers
from trueline.data.described import Described
from trueline.model.finding import Finding


@check("ds.02", "labels are wrong", decides=False)
def from_data(data: Described) -> Iterator[Finding]:
    """As ``trueline data describe`` judges it."""
    yield from answers(data, "ds.02")
