"""What a run shows of it."""

from __future__ import annotations

from collections.abc import Iterator

from trueline.checks.engine.check import check, found, suspect, undecided
from trueline.checks.evidence.criteria import judged_otherwise, judging
from trueline.checks.evidence.labels import Labelled, contents_of, first_of, is_number, label_name, labels_of
from trueline.checks.evidence.streams import Fed, Stream, training
from trueline.formats.run_folder.reader import Run
from trueline.model.finding import Finding
from trueline.model.sample import SampleField


@check("ds.02", decides=False)
def from_run(run: Run) -> Iterator[Finding]:
    """Labels outside of the classes, of equal samples that differ, and rows that are almost one-hot."""
    looked: dict[str, int] = {}
    reported = False
    for stream in training(run):
        name = label_name(stream)
        problems = [*_one_hot(stream, looked), *_outside_binary(run, stream)]
        if name is not None and not judged_otherwise(run):
            looked[name] = sum(fed.batch.size for fed in stream.batches)
            problems += [*_outside(run, stream, name), *_conflicting(stream, name)]
        for problem in problems:
            reported = True
            yield problem
    if reported:
        return
    if not looked:
        yield undecided("ds_02.no_labels")
    else:
        fields, samples = ", ".join(looked), sum(looked.values())
        # Labels of a possible value may still be those of another class.
        yield undecided("ds_02.fine", evidence=[{"labels": looked}], fields=fields, samples=samples)


def _outside(run: Run, stream: Stream, name: str) -> Iterator[Finding]:
    loss = judging(run, stream, name)
    if loss is None or loss.classes is None:
        return
    classes = loss.classes
    outside = [label for label in labels_of(stream.batches, name) if _out(label.value, classes)]
    ignored = [label for label in outside if label.value == loss.ignored]
    if ignored:
        least = first_of(ignored)
        yield suspect(
            "ds_02.left_out",
            stream.where(step=least.fed.step, sample=least.sample),
            measured=len(ignored),
            limit=0,
            evidence=[{"samples": [label.sample for label in ignored[:20]]}],
            count=len(ignored),
            label=int(loss.ignored),
            loss=loss.kind,
        )
    bad = [label for label in outside if label.value != loss.ignored]
    # Scores that are not those of the labels fit none of them.
    if not bad or len(bad) > 0.5 * sum(fed.batch.size for fed in stream.batches):
        return
    first = first_of(bad)
    yield found(
        "ds_02.outside",
        stream.where(step=first.fed.step, sample=first.sample),
        measured=first.value,
        limit=[0, classes - 1],
        evidence=[{"field": name, "labels": sorted({label.value for label in bad})[:10], "count": len(bad)}],
        field=name,
        label=int(first.value),
        count=len(bad),
        classes=classes,
        last=classes - 1,
        step=first.fed.step,
        loss=loss.kind,
    )


def _outside_binary(run: Run, stream: Stream) -> Iterator[Finding]:
    """Targets of a binary cross-entropy that are neither 0 nor 1 nor between them, among many that are."""
    for field in stream.batches[0].batch.fields if stream.batches else ():
        loss = judging(run, stream, field.name) if is_number(field) else None
        if loss is None or not loss.kind.lower().startswith(("bce", "binary")):
            continue
        labels = list(labels_of(stream.batches, field.name))
        bad = [label for label in labels if not 0 <= label.value <= 1]
        if not bad or len(bad) > 0.5 * len(labels):
            continue
        first = first_of(bad)
        yield found(
            "ds_02.outside_binary",
            stream.where(step=first.fed.step, sample=first.sample),
            measured=first.value,
            limit=[0, 1],
            evidence=[{"field": field.name, "labels": sorted({label.value for label in bad})[:10], "count": len(bad)}],
            field=field.name,
            label=f"{first.value:g}",
            count=len(bad),
            step=first.fed.step,
            loss=loss.kind,
        )


def _out(value: float, classes: int) -> bool:
    return not 0 <= value < classes


def _conflicting(stream: Stream, name: str) -> Iterator[Finding]:
    """Samples of equal content with different labels."""
    known: dict[tuple[int, ...], Labelled] = {}
    conflicts: dict[tuple[int, ...], tuple[Labelled, Labelled]] = {}
    for label, content in contents_of(stream.batches, name):
        before = known.setdefault(content, label)
        if before.value != label.value:
            conflicts.setdefault(content, (before, label))
    if not conflicts:
        return
    later = first_of([later for _, later in conflicts.values()])
    before = next(before for before, after in conflicts.values() if after is later)
    yield found(
        "ds_02.conflicting",
        stream.where(step=later.fed.step, sample=later.sample),
        measured=len(conflicts),
        limit=0,
        evidence=[{"samples": [before.sample, later.sample], "steps": [before.fed.step, later.fed.step]}],
        field=name,
        count=len(conflicts),
        label=f"{later.value:g}",
        before=f"{before.value:g}",
        step=later.fed.step,
        earlier=before.fed.step,
    )


def _one_hot(stream: Stream, looked: dict[str, int]) -> Iterator[Finding]:
    """Rows that do not sum to 1 among many that do."""
    if not stream.batches or stream.loader is None:
        return
    for field in stream.batches[0].batch.fields[1:]:
        rows = [(fed, place, found) for fed in stream.batches for place, found in _rows(fed, field.name)]
        right = sum(_is_one_hot(field, place) for _, place, field in rows)
        if len(field.shape) != 1 or field.shape[0] < 2 or right < 0.8 * len(rows):
            continue
        looked[field.name] = len(rows)
        bad = [(fed, place) for fed, place, field in rows if abs(field.mean[place] * field.shape[0] - 1) > 1e-3]
        if bad:
            fed, place = bad[0]
            sample = fed.batch.indexes[place] if fed.batch.indexes is not None else None
            yield found(
                "ds_02.not_one_hot",
                stream.where(step=fed.step, sample=sample),
                measured=len(bad),
                limit=0,
                evidence=[{"field": field.name, "rows": len(rows), "one_hot": right}],
                field=field.name,
                count=len(bad),
                step=fed.step,
            )


def _rows(fed: Fed, name: str) -> Iterator[tuple[int, SampleField]]:
    for field in fed.batch.fields:
        if field.name == name and field.shape:
            yield from ((place, field) for place in range(fed.batch.size))


def _is_one_hot(field: SampleField, place: int) -> bool:
    return (
        field.minimum[place] == 0
        and field.maximum[place] == 1
        and abs(field.mean[place] * field.shape[0] - 1) < 1e-3
        # Just one of them is not zero: the spread that a single 1 has.
        and abs(field.std[place] ** 2 - (1 / field.shape[0]) * (1 - 1 / field.shape[0])) < 1e-3
    )
