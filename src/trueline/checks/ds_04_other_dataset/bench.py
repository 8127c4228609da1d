"""What shows beside a benchmark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from trueline.checks.engine.check import check, found, none, undecided
from trueline.checks.evidence.feeding import Stream, training
from trueline.checks.evidence.same_samples import Likeness, compared, pairs, size_of
from trueline.data.described import Described
from trueline.data.manifest.diff_report import Differences, result
from trueline.data.manifest.of_run import opened_by
from trueline.data.manifest.sides import Side, hash_sides, open_sides
from trueline.formats.run_folder.reader import Run
from trueline.model.finding import Certainty, Finding
from trueline.model.location import Location
from trueline.model.trouble import BadUsage, Trouble


@check("ds.04", "the dataset differs from the benchmark's")
def from_runs(run: Run, bench_run: Run) -> Iterator[Finding]:
    """Opened files, and the samples of a pass over the training set."""
    told = [*_files(run, bench_run), *_samples(run, bench_run)]
    yield from told or [undecided("ds_04.nothing_to_compare")]


@check("ds.04")
def from_data_pair(data: Described, bench_data: Described) -> Iterator[Finding]:
    """Samples, fields and classes of two described datasets, and their files where they lie here."""
    here, there = _shape(data), _shape(bench_data)
    different = [name for name in here if here[name] != there[name]]
    files = _files_of(data, bench_data)
    yield from files
    for name in different:
        yield found(
            f"ds_04.other_{name}",
            Location(side=data.name),
            measured=here[name],
            limit=there[name],
            evidence=[{"dataset": data.name, "benchmark": bench_data.name}],
            own=_said(here[name]),
            bench=_said(there[name]),
        )
    if not different and not files:
        # As many samples of the same classes may be other samples.
        yield undecided("ds_04.same_shape", evidence=[here], samples=data.samples, fields=len(data.fields))


def _files_of(data: Described, bench_data: Described) -> list[Finding]:
    """The files of both, by their hashes; nothing where they are not files, or the same ones."""
    own, bench = Path(data.name), Path(bench_data.name)
    if not own.exists() or not bench.exists() or own.samefile(bench):
        return []
    try:
        sides = hash_sides(open_sides([str(bench), str(own)]))
    except Trouble:
        return []
    return list(result(Differences(sides)).findings)


def _shape(data: Described) -> dict[str, Any]:
    return {
        "samples": data.samples,
        "fields": sorted(one.name for one in data.fields),
        "classes": sorted([str(label), count] for label, count in data.classes.counts) if data.classes else [],
    }


def _said(value: Any) -> str:
    if not isinstance(value, list):
        return str(value)
    return ", ".join(" ".join(map(str, one)) if isinstance(one, list) else str(one) for one in value[:20]) or "-"


def _files(run: Run, bench_run: Run) -> Iterator[Finding]:
    """What both have opened."""
    try:
        here, there = opened_by(run.path), opened_by(bench_run.path)
    except BadUsage:
        return
    if not there[0].paths:
        return
    sides = [Side(str(bench_run.path), there[0], not there[0].hashes, opened=True)]
    sides += [Side(str(run.path), one, not one.hashes, opened=True) for one in here]
    if all(one.on_disk for one in sides):
        sides = hash_sides(sides)
    yield from result(Differences(sides)).findings


def _samples(run: Run, bench_run: Run) -> Iterator[Finding]:
    """How many samples the sets have, and which of the benchmark's are missing."""
    for own, bench in pairs(training(run), training(bench_run)):
        here, there = size_of(own), size_of(bench)
        if here is not None and there is not None and here != there:
            seen: dict[str, Any] = {"measured": here, "limit": there, "evidence": [{"own": here, "benchmark": there}]}
            yield found("ds_04.other_samples", own.where(), own=str(here), bench=str(there), **seen)
        else:
            yield from _one_by_one(own, bench)


def _one_by_one(own: Stream, bench: Stream) -> Iterator[Finding]:
    told = compared(own, bench)
    evidence = [{"samples": told.samples, "missing": told.missing}]
    if told.likeness is Likeness.SAME:
        yield none("ds_04.same_samples", evidence=evidence, samples=told.samples)
    elif told.likeness in _SAID:
        said, certainty = _SAID[told.likeness]
        yield found(
            said,
            own.where(),
            certainty=certainty,
            measured=told.missing,
            limit=0,
            evidence=evidence,
            count=told.missing,
            samples=told.samples,
        )


_SAID: Final = {
    Likeness.MISSING: ("ds_04.missing", Certainty.CERTAIN),
    Likeness.ROUNDED: ("ds_04.rounded", Certainty.CERTAIN),
    Likeness.OTHER: ("ds_04.other_values", Certainty.LIKELY),
}
