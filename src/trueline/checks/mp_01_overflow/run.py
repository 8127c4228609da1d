"""What a run shows of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from trueline.checks.engine.check import Params, check, found, none, undecided
from trueline.checks.evidence.looks import TRAIN, Broken, first_non_finite, trained_rank, where
from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.model.events import LossEvent, OverflowEvent
from trueline.model.finding import Finding
from trueline.model.key import Key
from trueline.model.location import Location
from trueline.model.run import WatchHit

_NON_FINITE = "nf.01"


@check("mp.01", "overflow in training")
def from_run(run: Run) -> Iterator[Finding]:
    """The first number that is not finite."""
    rank = trained_rank(run)
    if rank is None:
        yield undecided("mp_01.no_steps")
        return
    watched = watched_operator(rank)
    if watched is not None:
        yield _of_operator(watched)
        return
    first = first_broken(rank)
    tensor = _first_tensor(rank)
    if tensor is not None and (first is None or tensor[0] <= first.event.step):
        step, module, kind, key = tensor
        place = _place(rank, module, step)
        yield found("mp_01.tensor", place, evidence=[{"key": key, "step": step}], step=step, key=key, kind=kind)
    elif first is not None:
        step = first.event.step
        yield found(
            "mp_01.loss" if isinstance(first.event, LossEvent) else "mp_01.gradient",
            where(first.event),
            measured=first.value,
            evidence=[{"step": step}],
            step=step,
            value=str(first.value),
        )
    else:
        losses = sum(1 for _ in rank.events(LossEvent, phase=TRAIN))
        skipped = sum(1 for _ in rank.events(OverflowEvent, phase=TRAIN))
        yield none("mp_01.finite", evidence=[{"losses": losses, "skipped": skipped}], losses=losses, skipped=skipped)


def watched_operator(rank: RankFolder) -> WatchHit | None:
    """The operator that `trueline watch` has found, where the run was recorded by it."""
    return next((hit for hit in rank.hits if hit.code == _NON_FINITE and hit.place.step is not None), None)


def _of_operator(hit: WatchHit) -> Finding:
    said: Params = {"step": hit.place.step, "operator": str(hit.op), "kind": str(hit.kind)}
    evidence = [{**said, "cause": hit.cause}]
    return found("mp_01.operator", hit.place, advice="mp_01.script.advice", evidence=evidence, **said)


def first_broken(rank: RankFolder) -> Broken | None:
    """The first loss or norm that is not finite in a step that no scaler has skipped."""
    return first_non_finite(rank, frozenset(event.step for event in rank.events(OverflowEvent, phase=TRAIN)))


def _first_tensor(rank: RankFolder) -> tuple[int, str, str, str] | None:
    """The first tensor of the first step with one that is not finite: (step, module, kind, key)."""
    steps: dict[int, list[Key]] = {}
    for key in rank.keys:
        if key.phase != TRAIN:
            continue
        history = rank.history(key)
        bad = history[(history["nan"] + history["pos_inf"] + history["neg_inf"]) > 0]
        if len(bad):
            steps.setdefault(int(bad["step"][0]), []).append(key)
    if not steps:
        return None
    step = min(steps)
    wrong = set(steps[step])
    for key, summary in rank.stats(step).items():
        if key in wrong and summary.non_finite:
            kind = "nan" if summary.nan else "inf"
            return step, key.module, kind, str(key)
    return None


def _place(rank: RankFolder, module: str, step: int) -> Location:
    line = next((call.called_at for call in rank.calls if call.path == module), None)
    return replace(line or Location(), module=module, step=step)
