"""The course of the experiment: the script as it is for a few updates, then whole with one batch size after another."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import fmean, median
from typing import Final, Protocol

from trueline.model.json_value import Json
from trueline.model.message import Message, message
from trueline.model.trouble import BadUsage
from trueline.record.run_mode import Experiment
from trueline.tune.batch.arguments import argument, with_argument
from trueline.tune.batch.metric import Metric, choose_metric
from trueline.tune.batch.probe import Probed, probed
from trueline.tune.told import Word, update_of
from trueline.tune.trained import check_trained, failure_of
from trueline.tune.trial import Trial

_PROBE: Final = 6
USUAL: Final = (32, 64, 128, 256)
_FIRST_SHARE: Final = 0.1


class RunOne(Protocol):
    """Runs the script once, under a name, with other arguments where they are given."""

    def __call__(
        self, name: str, experiment: Experiment, heard: Callable[[Word], bool], args: Sequence[str] | None = None
    ) -> Trial: ...


@dataclass(frozen=True, slots=True)
class Rung:
    """One batch size: its learning rate, what its runs came to, and how fast they were.

    ``came`` is the size of the batches that were seen; ``failed`` why there is no result.
    """

    size: int
    rate: float | None
    updates: int
    samples: int
    came: int
    values: Sequence[float]
    speed: float | None
    failed: Message | None = None

    @property
    def value(self) -> float | None:
        """The metric, as a mean over the repeats."""
        return fmean(self.values) if self.values else None


@dataclass(frozen=True, slots=True)
class Climbed:
    """All of it; the first rung is the baseline, of which ``baseline`` is a whole run."""

    probed: Probed
    metric: Metric | None
    rungs: Sequence[Rung]
    baseline: Trial | None
    by_argument: str | None
    interrupted: bool


@dataclass(frozen=True, slots=True)
class Ladder:
    """How to climb: by which sizes, through which arguments, over how much data."""

    run_one: RunOne
    args: Sequence[str]
    sizes: Sequence[int] | None
    size_argument: str | None
    rate_argument: str | None
    samples: int | None
    epochs: int | None
    repeats: int
    metric: str | None
    progress: Callable[[int, int, Message], None]

    def climb(self) -> Climbed:
        """The probe, then a rung after the other."""
        self.progress(0, 1, message("tune_batch.probing"))
        first = self.run_one("probe", Experiment("batch", _PROBE), lambda _: False)
        check_trained(first)
        if first.interrupted:
            raise KeyboardInterrupt
        found = probed(first)
        if found is None:
            raise BadUsage("tune_batch.no_batches")
        if self.size_argument is None and found.loader is None:
            raise BadUsage("tune_batch.cannot", why=found.why)
        climbed = Climbed(found, None, [], None, self.size_argument, interrupted=False)
        sizes = sorted({*(self.sizes or USUAL), found.size})
        samples = self._samples(found)
        for place, size in enumerate(sizes):
            climbed = self._step(climbed, size, samples, (place, len(sizes)))
            if climbed.interrupted:
                break
            if samples is None and climbed.rungs:
                # A script that counts steps would see more data with larger batches.
                samples = climbed.rungs[0].samples or None
        return climbed

    def _samples(self, found: Probed) -> int | None:
        if self.epochs is None:
            return self.samples
        if found.samples is None:
            raise BadUsage("tune_batch.no_epochs")
        return self.epochs * found.samples

    def _step(self, climbed: Climbed, size: int, samples: int | None, place: tuple[int, int]) -> Climbed:
        """One rung: as many runs as there are repeats."""
        rung, metric, baseline = None, climbed.metric, climbed.baseline
        for repeat in range(self.repeats):
            trial = self._run(climbed.probed, size, samples, repeat, place)
            if trial.interrupted:
                climbed = replace(climbed, interrupted=True)
                break
            failed = _trouble(trial, climbed.probed, size)
            if failed is not None and not climbed.rungs:
                raise BadUsage("tune_batch.no_baseline", size=size, why=failed)
            if metric is None and failed is None:
                metric = choose_metric(trial, self.metric)
                if metric is None:
                    raise BadUsage("tune_batch.no_metric", metric=self.metric)
                baseline = baseline or trial
            value = metric.value(trial) if metric is not None and failed is None else None
            one = _rung(trial, size, value, failed)
            rung = one if rung is None else replace(rung, values=[*rung.values, *one.values])
            if failed is not None:
                break
        rungs = [*climbed.rungs, rung] if rung is not None else climbed.rungs
        return replace(climbed, metric=metric, rungs=rungs, baseline=baseline)

    def _run(self, found: Probed, size: int, samples: int | None, repeat: int, place: tuple[int, int]) -> Trial:
        factor = size / found.size
        settings: dict[str, Json] = {"samples": samples}
        args = list(self.args)
        if self.size_argument is not None:
            args = with_argument(args, self.size_argument, str(size))
        elif found.loader is not None:
            settings |= {"size": size, "sites": dict(found.loader.sites)}
        if self.rate_argument is not None:
            args = with_argument(args, self.rate_argument, f"{self._own_rate(found) * factor:.10g}")
        else:
            settings["rate"] = factor
        name = f"batch-{size}" + (f"-{repeat}" if repeat else "")
        done, count = place[0] * self.repeats + repeat, place[1] * self.repeats
        trained = 0

        def heard(word: Word) -> bool:
            nonlocal trained
            update = update_of(word)
            if update is not None:
                trained += int(update.fields.get("samples") or 0)
                self.progress(done, count, message("tune_batch.running", size=size, samples=trained))
            return False

        self.progress(done, count, message("tune_batch.running", size=size, samples=0))
        return self.run_one(name, Experiment("batch", sys.maxsize, settings), heard, args)

    def _own_rate(self, found: Probed) -> float:
        """The rate that goes with the script's own batch size."""
        assert self.rate_argument is not None
        given = argument(self.args, self.rate_argument)
        if given is None:
            if found.rate is None:
                raise BadUsage("tune_batch.no_rate", argument=self.rate_argument)
            return found.rate
        try:
            return float(given)
        except ValueError:
            raise BadUsage("tune_batch.bad_rate", argument=self.rate_argument, value=given) from None


def _trouble(trial: Trial, found: Probed, size: int) -> Message | None:
    """Why a run is no result, if it is none."""
    failure = failure_of(trial)
    if failure is not None:
        return message("tune_batch.failed", reason=failure)
    came = _came(trial)
    if not came:
        return message("tune_batch.nothing_trained")
    # A dataset may be smaller than a batch.
    if came != size and not (found.samples is not None and came == found.samples < size):
        return message("tune_batch.not_resized", came=came)
    return None


def _came(trial: Trial) -> int:
    """The largest batch that was seen: the last one of an epoch may be short."""
    updates = [update.fields for update in trial.updates if update.fields.get("samples")]
    return max((round(int(one["samples"]) / max(1, int(one["passes"]))) for one in updates), default=0)


def _rung(trial: Trial, size: int, value: float | None, failed: Message | None) -> Rung:
    updates = trial.updates
    rates = trial.of("rates")
    return Rung(
        size=size,
        rate=next((float(rate["rates"][0]) for rate in rates if rate["rates"]), None),
        updates=len(updates),
        samples=sum(int(update.fields.get("samples") or 0) for update in updates),
        came=_came(trial),
        values=[value] if value is not None else [],
        speed=_speed(trial),
        failed=failed,
    )


def _speed(trial: Trial) -> float | None:
    """Samples per second; the median of updates, so that what the script does between epochs does not count."""
    updates = trial.updates
    updates = updates[int(len(updates) * _FIRST_SHARE) :]
    seconds = [
        (after.seconds - before.seconds) / samples
        for before, after in pairwise(updates)
        if (samples := int(before.fields.get("samples") or 0))
    ]
    middle = median(seconds) if seconds else 0.0
    return 1 / middle if middle > 0 else None
