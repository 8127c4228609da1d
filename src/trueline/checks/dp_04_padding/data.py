"""What a described dataset shows of it."""

from __future__ import annotations

from collections.abc import Iterator

from trueline.checks.engine.check import check, na
from trueline.checks.evidence.described import answers
from trueline.data.described import Described
from trueline.model.finding import Finding


@check("dp.04", "padding is wrong", decides=False)
def from_data(data: Described) -> Iterator[Finding]:
    """As ``trueline data describe`` judges it."""
    findings = answers(data, "dp.04")
    yield from findings or [na("dp_04.no_padding")]
