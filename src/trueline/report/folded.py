"""What a folded block holds, for those who only say how much it is."""

from __future__ import annotations

from trueline.model.report import Folded, Strip, Table


def row_count(block: Folded) -> int:
    """The rows of its tables and the layers of its strips."""
    return sum(
        len(table.rows) if isinstance(table, Table) else len(table.names) if isinstance(table, Strip) else 0
        for table in block.blocks
    )
