"""What a run shows of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

from trueline.checks.engine.check import Params, check, found, none, suspect, undecided
from trueline.checks.evidence.streams import Stream, training
from trueline.formats.run_folder.reader import Run
from trueline.model.events import BatchEvent, StepEvent
from trueline.model.finding import Finding


@dataclass(frozen=True, slots=True)
class _Batch:
    """What one update sees: samples of all devices; and how many updates a pass over the set has, where known."""

    stream: Stream
    size: int
    devices: int
    times: int
    updates: float | None

    @property
    def whole(self) -> int:
        return self.size * self.devices * self.times


@check("hp.03", "the batch is too large")
def from_run(
    run: Run, *, safe_batch: int = 32, max_batch: int = 256, min_updates: int = 10, max_whole: int = 64
) -> Iterator[Finding]:
    """The batch against the set."""
    batch = batch_of_update(run)
    if batch is None:
        yield undecided("hp_03.no_loader")
        return
    params: Params = {"size": batch.whole, "devices": batch.devices, "times": batch.times}
    seen: Params = {
        "measured": batch.whole,
        "limit": max_batch,
        "evidence": [{"batch": batch.size, "updates_per_pass": batch.updates}],
    }
    if _is_whole_set(batch) and batch.whole > max_whole and not _needs_all(run):
        yield found("hp_03.whole_set", batch.stream.where(), **{**seen, "limit": max_whole}, **params)
    elif batch.whole <= max_batch:
        # What is more than safe is usual, and whether it costs accuracy only an experiment shows.
        yield (none if batch.whole <= safe_batch else undecided)("hp_03.small", **seen, **params)
    elif batch.updates is None:
        yield suspect("hp_03.large", batch.stream.where(), **seen, **params)
    elif batch.updates < min_updates:
        updates = f"{max(batch.updates, 1):.3g}"
        yield found("hp_03.few_updates", batch.stream.where(), updates=updates, **seen, **params)
    else:
        yield undecided("hp_03.many_updates", updates=f"{batch.updates:.3g}", **seen, **params)


def batch_of_update(run: Run) -> _Batch | None:
    streams = [stream for stream in training(run) if stream.loader is not None and stream.batches]
    if not streams:
        return None
    stream = max(streams, key=lambda stream: len(stream.batches))
    size = int(median(fed.batch.size for fed in stream.batches))
    samples = stream.samples
    times = _times(run)
    devices = max(run.info.world, 1)
    if not size:
        return None
    updates = samples / (size * times * devices) if samples else None
    return _Batch(stream, size, devices, times, updates)


def _is_whole_set(batch: _Batch) -> bool:
    """Whether every pass over the set was one batch and one update."""
    known = batch.updates <= 1 if batch.updates is not None else batch.stream.length == 1
    return (
        known and all(len(batches) == 1 for batches in batch.stream.iterations()) and batch.times == batch.devices == 1
    )


def _needs_all(run: Run) -> bool:
    """Whether an optimizer searches along a line, for which all samples must be the same in every try."""
    return any("LBFGS" in str(optimizer.kind) for optimizer in run.info.optimizers)


def _times(run: Run) -> int:
    """How many batches one update is made of."""
    folder = run.rank(run.ranks[0])
    updates = sum(1 for _ in folder.events(StepEvent, phase="train"))
    batches = sum(1 for _ in folder.events(BatchEvent, phase="train"))
    return max(round(batches / updates), 1) if updates else 1
