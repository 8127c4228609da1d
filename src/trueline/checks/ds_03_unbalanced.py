"""Classes of the dataset are unbalanced.

What it looks at
----------------
How many samples each class has: in a dataset all of them, in a recorded run those of the training batches. The
largest class against the smallest; from 10 times on it is a problem, unless the run handles it: weights in the loss,
a focal loss, or a sampler that draws classes by weight.

Why it hurts
------------
A network that always names the largest class is right most of the time: the loss falls, the accuracy looks good, and
small classes are never learned.

What to do
----------
Draw small classes more often, or large ones less often (WeightedRandomSampler), give the loss class weights, or use a
loss with a margin; judge by a metric that counts classes alike. About 5,000 samples a class are a good amount.

When it is wrong
----------------
A loss of your own is not seen as one in a run: the finding is then only a suspicion. Where rare classes do not matter,
or the loss is made for it, leave it as it is.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import Any

from trueline.checks.engine.check import check, found, na, none, suspect
from trueline.checks.evidence.criteria import Criterion, judged_otherwise, judging
from trueline.checks.evidence.described import answers
from trueline.checks.evidence.feeding import Stream, training
from trueline.checks.evidence.labels import label_name, labels_of
from trueline.data.described import Described
from trueline.formats.run_folder.reader import Run
from trueline.model.finding import Finding


@check("ds.03", "classes are unbalanced")
def from_data(data: Described) -> Iterator[Finding]:
    """As ``trueline data describe`` judges it."""
    yield from answers(data, "ds.03")


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
    yield na("ds_03.no_classes")


def _judged(run: Run, stream: Stream, name: str, counts: Counter[float], whole: bool, max_ratio: float) -> Finding:
    (most, many), (least, few) = counts.most_common()[0], counts.most_common()[-1]
    ratio = many / few
    # What was seen is a part of the set: by chance it may be this much more even or uneven.
    sure = ratio if whole else (many - 3 * math.sqrt(many)) / (few + 3 * math.sqrt(few) + 3)
    params: dict[str, Any] = {
        "field": name,
        "most": f"{most:g}",
        "many": many,
        "least": f"{least:g}",
        "few": few,
        "ratio": f"{ratio:.3g}",
    }
    seen: dict[str, Any] = {
        "measured": ratio,
        "limit": max_ratio,
        "evidence": [{"classes": len(counts), "counts": dict(counts)}],
    }
    if sure < max_ratio:
        return none("ds_03.balanced", **seen, **params)
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
    sampler = stream.facts.get("sampler")
    usual = (None, "SequentialSampler", "RandomSampler", "DistributedSampler", "SubsetRandomSampler", "BatchSampler")
    return None if sampler in usual else str(sampler)


def _counts(stream: Stream, name: str) -> tuple[Counter[float], bool]:
    """How many samples of each class one pass has, and whether it is a whole one; of several the longest."""
    iterations = stream.iterations()
    longest = max(iterations, key=len)
    values = [one.value for one in labels_of(longest, name) if one.value >= 0]
    samples = stream.facts.get("samples")
    whole = len(iterations) > 1 or (isinstance(samples, int) and len(values) >= 0.95 * samples)
    return Counter(values), whole
