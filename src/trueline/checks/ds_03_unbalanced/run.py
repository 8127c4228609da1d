"""What a run shows of it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

from trueline.apitable.functions import classes_of
from trueline.apitable.traits import Trait
from trueline.checks.engine.check import Params, check, found, na, none, suspect, undecided
from trueline.checks.evidence.criteria import Criterion, judged_otherwise, judging
from trueline.checks.evidence.labels import label_name, labels_of
from trueline.checks.evidence.streams import Stream, is_whole_set, training
from trueline.formats.run_folder.reader import Run
from trueline.model.finding import Finding


@check("ds.03")
def from_run(run: Run, *, max_ratio: float = 10.0) -> Iterator[Finding]:
    """The labels of one pass over the training set."""
    for stream in training(run):
        name = label_name(stream)
        if name is None or judged_otherwise(run):
            continue
        counts, whole = _counts(stream, name)
        if len(counts) < 2:
            continue
        yield _judged(run, stream, name, counts, whole, max_ratio)
        return
    yield (na if judged_otherwise(run) else undecided)("ds_03.no_classes")


def _judged(run: Run, stream: Stream, name: str, counts: Counter[float], whole: bool, max_ratio: float) -> Finding:
    (most, many), (least, few) = counts.most_common()[0], counts.most_common()[-1]
    ratio = many / few
    # What was seen is a part of the set: by chance it may be this much more even or uneven.
    sure = ratio if whole else (many - 3 * math.sqrt(many)) / (few + 3 * math.sqrt(few) + 3)
    params: Params = {
        "field": name,
        "most": f"{most:g}",
        "many": many,
        "least": f"{least:g}",
        "few": few,
        "ratio": f"{ratio:.3g}",
    }
    seen: Params = {
        "measured": ratio,
        "limit": max_ratio,
        "evidence": [{"classes": len(counts), "counts": dict(counts)}],
    }
    if sure < max_ratio:
        most_uneven = ratio if whole else (many + 3 * math.sqrt(many)) / max(few - 3 * math.sqrt(few), 1)
        return (none if most_uneven < max_ratio else undecided)("ds_03.balanced", **seen, **params)
    loss = judging(run, stream, name)
    handled = _handled(loss, stream)
    if handled is not None:
        return none("ds_03.handled", by=handled, **seen, **params)
    if loss is None:
        return suspect("ds_03.unbalanced", stream.where(), **seen, **params)
    return found("ds_03.unbalanced", stream.where(), **seen, **params)


def _handled(loss: Criterion | None, stream: Stream) -> str | None:
    if loss is not None and loss.weighted:
        return loss.kind
    return None if stream.sampler in classes_of(Trait.SAMPLER_EVEN) else stream.sampler


def _counts(stream: Stream, name: str) -> tuple[Counter[float], bool]:
    """How many samples of each class one pass has, and whether it is a whole one; of several the longest."""
    iterations = stream.iterations()
    longest = max(iterations, key=len)
    values = [label.value for label in labels_of(longest, name) if label.value >= 0]
    return Counter(values), is_whole_set(stream)
