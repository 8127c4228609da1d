"""What is in a dataset, and what of it looks wrong."""

from __future__ import annotations

from collections.abc import Callable

from trueline.data.described import Described
from trueline.data.describing.wanted import Wanted
from trueline.data.source import Source

__all__ = ["Wanted", "describe"]


def describe(source: Source, wanted: Wanted, tell: Callable[[int], None] | None = None) -> Described:
    """A dataset, field by field; a table in SQL, anything else chunk by chunk, and ``tell`` is told how far it is."""
    from trueline.data.sources.tables import TableSource

    if isinstance(source, TableSource):
        from trueline.data.describing.by_sql import describe_table

        return describe_table(source, wanted)
    from trueline.data.describing.by_chunks import describe_by_chunks

    return describe_by_chunks(source, wanted, tell)
