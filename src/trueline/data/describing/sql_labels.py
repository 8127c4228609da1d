"""The classes of a table's label, counted by SQL."""

from __future__ import annotations

from trueline.data.described import Classes
from trueline.data.describing import labels
from trueline.data.describing.one_hot import LabelGatherer
from trueline.data.describing.samples import TableSample
from trueline.data.describing.terms import Terms
from trueline.data.describing.wanted import Wanted
from trueline.data.source import Cell
from trueline.data.sources.cells import from_json, number_of
from trueline.data.sources.relation import Form
from trueline.data.sources.tables import TableSource

_CONTINUOUS = 50


def table_classes(
    source: TableSource, terms: Terms, sample: TableSample, wanted: Wanted, *, guessed: bool
) -> tuple[Classes | None, str | None]:
    """The classes, or the id of why there are none."""
    name = terms.column.name
    if terms.kind == "sequence":
        gatherer = LabelGatherer(wanted)
        for chunk in source.chunks([name]):
            gatherer.add(chunk.start, chunk.columns[name])
        return gatherer.classes(name, guessed=guessed)
    if wanted.classes is None and sample.fractions(name) and sample.distinct(name) > _CONTINUOUS:
        return None, "describe.label_quantity"
    relation = source.relation
    rows = source.duck.unordered(
        f"SELECT {terms.raw} AS v, count(*) AS times, min({relation.row}) FROM {relation.sql} "
        f"WHERE {terms.raw} IS NOT NULL GROUP BY v ORDER BY times DESC LIMIT {labels.MOST_CLASSES + 1}"
    )
    gatherer = LabelGatherer(wanted)
    for value, times, row in rows:
        gatherer.add_many(_plain(value, terms), int(times), int(source.gaps.samples(row)))
    return gatherer.classes(name, guessed=guessed)


def _plain(value: Cell, terms: Terms) -> Cell:
    if terms.column.form is Form.JSON:
        return from_json(value)
    if terms.kind != "mixed" or not isinstance(value, str):
        return value if isinstance(value, str | int | float | bool) else str(value)
    try:
        return number_of(value)
    except ValueError:
        return value
