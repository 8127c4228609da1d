"""What a run shows of it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from trueline.checks.engine.check import check, found, none, undecided
from trueline.checks.evidence.looks import TRAIN, trained_rank, where
from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.model.finding import Finding
from trueline.model.location import Location
from trueline.model.numbers import decode
from trueline.model.run import EventName

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
    if tensor is not None and (first is None or tensor[0] <= first["step"]):
        step, module, kind, key = tensor
        place = _place(rank, module, step)
        yield found("mp_01.tensor", place, evidence=[{"key": key, "step": step}], step=step, key=key, kind=kind)
    elif first is not None:
        what = "mp_01.loss" if first["event"] == EventName.LOSS else "mp_01.gradient"
        value = first.get("value", first.get("grad_norm"))
        yield found(
            what, where(first), measured=value, evidence=[{"step": first["step"]}], step=first["step"], value=str(value)
        )
    else:
        losses = sum(1 for _ in rank.events(EventName.LOSS, phase=TRAIN))
        skipped = sum(1 for _ in rank.events(EventName.OVERFLOW, phase=TRAIN))
        yield none("mp_01.finite", evidence=[{"losses": losses, "skipped": skipped}], losses=losses, skipped=skipped)


def watched_operator(rank: RankFolder) -> dict[str, Any] | None:
    """The operator that `trueline watch` has found, where the run was recorded by it."""
    return next((one for one in rank.hits if one.get("code") == _NON_FINITE and isinstance(one.get("step"), int)), None)


def _of_operator(hit: dict[str, Any]) -> Finding:
    file, line, module = hit.get("file"), hit.get("line"), hit.get("module")
    place = Location(
        file=file if isinstance(file, str) else "",
        line=line if isinstance(line, int) else 0,
        module=module if isinstance(module, str) and module else None,
        step=hit["step"],
    )
    said: dict[str, Any] = {"step": hit["step"], "operator": str(hit.get("op")), "kind": str(hit.get("kind"))}
    evidence = [{**said, "cause": hit.get("cause")}]
    return found("mp_01.operator", place, advice="mp_01.script.advice", evidence=evidence, **said)


def first_broken(rank: RankFolder) -> dict[str, Any] | None:
    """The first loss or norm that is not finite in a step that no scaler has skipped."""
    skipped = {one["step"] for one in rank.events(EventName.OVERFLOW, phase=TRAIN)}
    for event in rank.events(phase=TRAIN):
        if event["step"] in skipped:
            continue
        value = event.get("value") if event["event"] == EventName.LOSS else None
        if event["event"] == EventName.STEP:
            value = event.get("grad_norm")
        if value is not None and not math.isfinite(decode(value)):
            return event
    return None


def _first_tensor(rank: RankFolder) -> tuple[int, str, str, str] | None:
    """The first tensor of the first step with one that is not finite: (step, module, kind, key)."""
    steps: dict[int, list[Any]] = {}
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
    line = next((one.called_at for one in rank.calls if one.path == module), None)
    return replace(line or Location(), module=module, step=step)
