"""What shows beside a benchmark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trueline.checks.engine.check import check, found, none, undecided
from trueline.checks.evidence.labels import Labelled, contents_of, first_of, label_name
from trueline.checks.evidence.same_samples import pairs
from trueline.checks.evidence.streams import Stream, training
from trueline.formats.run_folder.reader import Run
from trueline.model.finding import Finding


@check("ds.02")
def from_runs(run: Run, bench_run: Run) -> Iterator[Finding]:
    """Samples that the benchmark was fed as well, with another label."""
    looked = 0
    reported = False
    for own, bench in pairs(training(run), training(bench_run)):
        name = label_name(own)
        if name is None or name != label_name(bench):
            continue
        here, there = _by_content(own, name), _by_content(bench, name)
        common = [content for content in here if content in there]
        looked += len(common)
        changed = [content for content in common if here[content].value != there[content].value]
        if not changed or _is_shifted(here, there):
            continue
        first = first_of([here[content] for content in changed])
        expected = next(there[content] for content in changed if here[content] is first)
        reported = True
        yield found(
            "ds_02.not_the_benchmark_s",
            own.where(step=first.fed.step, sample=first.sample),
            measured=len(changed),
            limit=0,
            evidence=[{"samples": [here[content].sample for content in changed[:20]], "compared": len(common)}],
            field=name,
            count=len(changed),
            samples=len(common),
            label=f"{first.value:g}",
            bench=f"{expected.value:g}",
        )
    if reported:
        return
    if looked:
        yield none("ds_02.as_bench", evidence=[{"samples": looked}], samples=looked)
    else:
        yield undecided("ds_02.no_common_samples")


def _by_content(stream: Stream, name: str) -> dict[tuple[int, ...], Labelled]:
    """The samples with one label each."""
    known: dict[tuple[int, ...], Labelled] = {}
    doubtful = set()
    for label, content in contents_of(stream.batches, name):
        if known.setdefault(content, label).value != label.value:
            doubtful.add(content)
    return {content: label for content, label in known.items() if content not in doubtful}


def _is_shifted(here: Mapping[tuple[int, ...], Labelled], there: Mapping[tuple[int, ...], Labelled]) -> bool:
    """Whether each has the label of the sample before or after it: another item."""
    own = {label.sample: label.value for label in here.values()}
    bench = {label.sample: label.value for label in there.values()}
    for by in (-2, -1, 1, 2):
        both = [
            (value, bench[sample + by]) for sample, value in own.items() if sample is not None and sample + by in bench
        ]
        if len(both) > 0.5 * len(own) and all(a == b for a, b in both):
            return True
    return False
