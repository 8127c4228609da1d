"""A table described by SQL: one scan for the counts of all columns, more only for those with something to tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from trueline.data.described import Classes, Described, Drift, Told
from trueline.data.describing import labels
from trueline.data.describing.samples import TableSample
from trueline.data.describing.sql_asking import ask
from trueline.data.describing.sql_duplicates import find_duplicates
from trueline.data.describing.sql_fields import tell
from trueline.data.describing.sql_labels import table_classes
from trueline.data.describing.wanted import Wanted
from trueline.data.sources.relation import Form
from trueline.data.sources.tables import TableSource
from trueline.model.trouble import BadFile

_WIDE, _FEW = 100, 10_000_000


def describe_table(source: TableSource, wanted: Wanted) -> Described:
    """The whole table; files that turn out to be damaged are left out, and the others described."""
    relation = source.relation
    cells = relation.length * len(relation.columns)
    if len(relation.columns) > _WIDE and cells <= _FEW and relation.columns[0].form is not Form.TYPED:
        from trueline.data.describing.by_chunks import describe_by_chunks

        # Questions about hundreds of columns take longer to plan than so few cells take to be looked at.
        return describe_by_chunks(source, wanted)
    damage: tuple[type[Exception], ...] = (BadFile, *source.duck.errors)
    while True:
        try:
            return _describe(source, wanted)
        except damage:
            if not source.drop_damaged():
                raise


def _describe(source: TableSource, wanted: Wanted) -> Described:
    label = wanted.label or source.label or labels.guess_label(source.fields)
    guessed = wanted.label is None and source.label is None
    sample = TableSample(source, wanted)
    terms = [sample.terms(column) for column in source.relation.columns]
    asked = [term for term in terms if term.kind != "sequence"]
    described = {
        one.column.name: tell(source, one, answer, sample, is_label=one.column.name == label)
        for one, answer in zip(asked, ask(source, asked, sample), strict=True)
    }
    described |= _by_chunks(source, [term.column.name for term in terms if term.kind == "sequence"], wanted, label)
    fields = [_with_types(described[column.name], column.types) for column in source.relation.columns]
    classes: Classes | None = None
    why: str | None = "describe.no_label"
    if label is not None:
        its = next(term for term in terms if term.column.name == label)
        classes, why = table_classes(source, its, sample, wanted, guessed=guessed)
    duplicates = find_duplicates(source, terms, fields, sample, label, wanted)
    samples = source.relation.length
    return Described(source.name, source.kind, samples, fields, classes, why, duplicates, source.skipped)


def _by_chunks(source: TableSource, names: Sequence[str], wanted: Wanted, label: str | None) -> dict[str, Told]:
    """Columns of lists, which are gathered as those of any source."""
    if not names:
        return {}
    from trueline.data.describing.gathering import FieldGatherer

    gatherers = {name: FieldGatherer(name, wanted, is_label=name == label) for name in names}
    for chunk in source.chunks(names):
        for name, column in chunk.columns.items():
            gatherers[name].add(chunk.start, column)
    return {name: gatherer.told() for name, gatherer in gatherers.items()}


def _with_types(field: Told, types: Mapping[str, tuple[int, int]]) -> Told:
    """What files of one folder do not agree on is drift, too."""
    if not types:
        return field
    usual = max(types, key=lambda kind: types[kind][0])
    whole = sum(rows for rows, _ in types.values())
    drift = [
        Drift(usual, other, rows, [first], types[usual][0] / whole)
        for other, (rows, first) in types.items()
        if other != usual
    ]
    return replace(field, drift=[*field.drift, *drift])
