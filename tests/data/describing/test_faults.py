"""Planted faults are found where they are, in every kind of table and chunk by chunk; a clean table is silent."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from data.describing.memory_source import MemorySource
from data.describing.planted import PLANTED, Case, clean, unbalanced
from data.sources.table_writing import ENDINGS, write_table

from trueline.data.described import Described
from trueline.data.describing import Wanted, describe
from trueline.data.describing.by_chunks import describe_by_chunks
from trueline.data.describing.findings import findings_of
from trueline.data.sources.tables import open_table
from trueline.model.finding import Conclusion, Finding


def loud(found: Described) -> list[Finding]:
    return [one for one in findings_of(found) if one.conclusion in (Conclusion.FOUND, Conclusion.SUSPECT)]


def holds(found: Described, case: Case) -> None:
    """The one fault, told once, with its place; and nothing else."""
    _, _, code, conclusion, field, kind, count, first = case
    told = loud(found)
    assert [(one.code, one.conclusion.value) for one in told] == [(code, conclusion)], [
        one.message.text("en") for one in told
    ]
    extra = told[0].extra
    assert (extra["field"], extra["kind"], extra["count"], extra["first"]) == (field, kind, count, first)
    assert told[0].where.sample == first[0]
    assert told[0].advice is not None


@pytest.mark.parametrize("ending", ("csv", "jsonl", "parquet"))
@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_fault_of_a_table(tmp_path: Path, name: str, ending: str) -> None:
    plant, wanted, *_ = PLANTED[name]
    table = plant(clean())
    holds(describe(open_table(write_table(tmp_path / f"t.{ending}", table)), wanted), PLANTED[name])


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_fault_of_any_other_source(name: str) -> None:
    plant, wanted, *_ = PLANTED[name]
    holds(describe(MemorySource(plant(clean())), wanted), PLANTED[name])


@pytest.mark.parametrize("ending", ENDINGS)
def test_nulls(tmp_path: Path, ending: str) -> None:
    table = clean()
    table["age"][5] = table["age"][17] = None
    (one,) = loud(describe(open_table(write_table(tmp_path / f"t.{ending}", table)), Wanted()))
    kind = "empty" if ending in ("csv", "tsv") else "null"
    assert (one.code, one.extra["kind"], one.extra["first"], one.where.sample) == ("ds.01", kind, [5, 17], 5)


@pytest.mark.parametrize("ending", ENDINGS)
def test_unbalanced_classes(tmp_path: Path, ending: str) -> None:
    found = describe(open_table(write_table(tmp_path / f"t.{ending}", unbalanced(clean()))), Wanted())
    (one,) = loud(found)
    assert (one.code, one.conclusion, one.measured, one.limit) == ("ds.03", Conclusion.FOUND, 19.0, 10.0)
    assert found.classes is not None and list(found.classes.counts) == [(0, 114), (3, 6)]
    assert found.classes.guessed


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("wanted", [Wanted(), Wanted(label="label", classes=4)])
def test_a_clean_table_is_silent_and_says_what_was_looked_at(tmp_path: Path, ending: str, wanted: Wanted) -> None:
    found = describe(open_table(write_table(tmp_path / f"t.{ending}", clean())), wanted)
    findings = findings_of(found)
    conclusions = {one.code: one.conclusion for one in findings}
    assert conclusions == {"ds.01": Conclusion.NONE, "ds.02": Conclusion.OPEN, "ds.03": Conclusion.NONE}
    assert all(one.evidence for one in findings)


ODD: dict[str, list[object]] = {
    "two signs": [-1, 1] * 60,
    "three signs": [-1, 0, 1] * 40,
    "around 0": [float(one % 11) - 5 for one in range(120)],
    "on from -1": list(range(-1, 119)),
    "through 999": list(range(940, 1060)),
    "up to 99": [one % 100 for one in range(120)],
    "tiny": [1e-300 * one for one in range(120)],
    "large": [1.7e9 + one for one in range(120)],
    "sentences": ["none of it", "na na na"] * 60,
    "names": ["north", "south", "east", "west"] * 30,
    "days": ["2024-01-01", "2024-01-02"] * 60,
    "truth": [True, False] * 60,
    "constant": [7] * 120,
}


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet", None])
def test_values_that_only_look_odd_are_not_told(tmp_path: Path, ending: str | None) -> None:
    table = {**clean(), **ODD}
    source = open_table(write_table(tmp_path / f"t.{ending}", table)) if ending else MemorySource(table)
    assert [one.message.text("en") for one in loud(describe(source, Wanted()))] == []


def test_both_ways_tell_the_same_of_a_table(tmp_path: Path) -> None:
    table = clean()
    for plant, *_ in (PLANTED[name] for name in ("nan", "inf", "empty", "minus 999", "question mark", "conflict")):
        table = plant(table)
    table["age"][40] = "unknown age"
    for ending in ("csv", "jsonl"):
        source = open_table(write_table(tmp_path / f"t.{ending}", table))
        one, other = describe(source, Wanted()), describe_by_chunks(source, Wanted())
        assert (one.samples, one.classes) == (other.samples, other.classes)
        assert one.duplicates is not None and other.duplicates is not None
        assert (one.duplicates.first, one.duplicates.conflicting) == (
            other.duplicates.first,
            other.duplicates.conflicting,
        )
        for a, b in zip(one.fields, other.fields, strict=True):
            assert (a.name, a.kind, a.missing, a.drift) == (b.name, b.kind, b.missing, b.drift)
            assert (a.low, a.high) == (b.low, b.high)
            if a.mean is not None and b.mean is not None and a.std is not None and b.std is not None:
                assert np.allclose([a.mean, a.std], [b.mean, b.std], rtol=1e-9)
                assert np.allclose(list(a.quantiles.values()), list(b.quantiles.values()))
