"""What is in a dataset, and what of it looks wrong."""

from __future__ import annotations

from trueline.data.described import Described
from trueline.data.describing.wanted import Wanted
from trueline.data.source import Source

__all__ = ["Wanted", "describe"]


def describe(source: Source, wanted: Wanted) -> Described:
    """A dataset, field by field; a table in SQL, anything else chunk by chunk."""
    from trueline.data.describing.by_chunks import describe_by_chunks
    from trueline.data.describing.by_sql import describe_table
    from trueline.data.sources.tables import TableSource

    return describe_table(source, wanted) if isinstance(source, TableSource) else describe_by_chunks(source, wanted)
