"""Rows of a table that are there more than once, by hashes that DuckDB makes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from trueline.data.described import Duplicates, Told
from trueline.data.describing import fingerprints
from trueline.data.describing.fingerprints import WHOLE, Fingerprints, Repeated
from trueline.data.describing.identities import is_identity
from trueline.data.describing.samples import TableSample
from trueline.data.describing.sampling import by_chance
from trueline.data.describing.terms import Terms
from trueline.data.describing.wanted import Wanted
from trueline.data.sources.tables import TableSource
from trueline.kernel.array import Array

# Of large tables so many rows are looked at, and so many that agree in some columns are looked at in all.
_SAMPLED_ROWS: Final = 500_000
_MOST_ALIKE: Final = 20_000
# What a row takes while those that repeat another are looked for.
_ROW_MEMORY: Final = 128


def find_duplicates(
    source: TableSource,
    terms: Sequence[Terms],
    fields: Sequence[Told],
    sample: TableSample,
    label: str | None,
    wanted: Wanted,
) -> Duplicates | None:
    """All repeated rows of a small table; of a large one those of a part that is chosen by content."""
    apart = [
        term.column.name
        for term in terms
        if term.column.name != label and is_identity(term.column.name, sample.values(term.column.name))
    ]
    contents = [term for term in terms if term.column.name != label and term.column.name not in apart]
    if not contents:
        contents, apart = [term for term in terms if term.column.name != label], []
    if not contents:
        return None
    of_label = next((term.raw for term in terms if term.column.name == label), "0")
    length = source.relation.length
    small = wanted.exact or length <= fingerprints.MAX_FINGERPRINTS
    keys = contents if small else _telling(contents, sample)
    bound = WHOLE if small else WHOLE >> max(0, math.ceil(math.log2(length / _SAMPLED_ROWS)))
    found = _repeated(source, keys, of_label, bound)
    if len(keys) < len(contents) and len(found.samples):
        alike = np.unique(np.concatenate([found.samples, found.earlier]))
        if len(alike) > _MOST_ALIKE:
            found = _repeated(source, contents, of_label, bound)
        else:
            found = _repeated(source, contents, of_label, WHOLE, alike)
    chance = by_chance(
        [field for field in fields if any(field.name == content.column.name for content in contents)], length
    )

    def labels_of(indexes: Sequence[int]) -> list[object]:
        return [row[label] for row in source.take(indexes)] if label is not None else []

    shown = Repeated(source.gaps.samples(found.samples), source.gaps.samples(found.earlier), found.conflicting)
    return fingerprints.told(shown, share=bound / WHOLE, left_out=apart, chance=chance, labels=labels_of)


def _telling(contents: Sequence[Terms], sample: TableSample) -> Sequence[Terms]:
    """A few columns in which hardly any two rows agree; all where there are no such."""
    cheap = sorted(contents, key=lambda content: (content.kind == "text", -sample.distinct(content.column.name)))
    space = 1.0
    chosen: list[Terms] = []
    for terms in cheap:
        if terms.kind == "sequence":
            continue
        chosen.append(terms)
        space *= max(1, sample.distinct(terms.column.name))
        if space * _MOST_ALIKE > float(sample.length) ** 2:
            return chosen
    return contents


def _repeated(
    source: TableSource, keys: Sequence[Terms], label: str, bound: int, rows: Array | None = None
) -> Repeated:
    relation = source.relation
    content = f"hash({', '.join(key.raw for key in keys)})"
    # Rows of which nothing is there are no copies of each other.
    where = f"WHERE ({' OR '.join(f'{key.raw} IS NOT NULL' for key in keys)})"
    if bound < WHOLE:
        where += f" AND {content} < {bound}::UBIGINT"
    if rows is not None:
        where += f" AND {relation.row} IN ({', '.join(map(str, rows.tolist()))})"
    if bound < WHOLE or relation.length > fingerprints.MAX_FINGERPRINTS:
        # Of rows that are all the same none is chosen, or all of them.
        (count,) = source.duck.unordered(f"SELECT count(*) FROM {relation.sql} {where}")[0]
        source.duck.budget.can_hold(_ROW_MEMORY * count)
    found = source.duck.arrays(
        f"SELECT {content} AS content, hash({label}) AS label, {relation.row} AS row FROM {relation.sql} {where}"
    )
    prints = Fingerprints(None)
    prints.add(found["content"].values, found["label"].values, found["row"].values)
    return prints.repeated()
