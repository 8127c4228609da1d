"""What ``trueline data describe`` has found, as the answers of an item."""

from __future__ import annotations

from trueline.data.described import Described
from trueline.data.describing.findings import findings_of
from trueline.model.finding import Finding


def answers(data: Described, code: str) -> list[Finding]:
    """Its findings of one code; none where it had nothing to say."""
    return [finding for finding in findings_of(data) if finding.code == code]
