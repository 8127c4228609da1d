"""What a folded block holds, for those who only say how much it is."""

from __future__ import annotations

from trueline.model.report import Folded, Strip, Table


def row_count(block: Folded) -> int:
    """The rows of its tables and the layers of its strips."""
    return sum(
        len(one.rows) if isinstance(one, Table) else len(one.names) if isinstance(one, Strip) else 0
        for one in block.blocks
    )
