"""What a run shows of it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from trueline.checks.engine.check import Params, check, found, na, none, suspect, undecided
from trueline.checks.evidence.looks import TRAIN, first_with_line, gradient_looks, module_of, trained_rank, where
from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.model.events import BackwardEvent, LossEvent, ScaleEvent, StepEvent, UnscaleEvent
from trueline.model.finding import Certainty, Finding
from trueline.model.json_value import Json

MAX_RATIO_APART: Final = 1e-3  # of two norms that are the same but for rounding
MAX_HALVING: Final = 0.7  # a dynamic scale falls by at least so much with every overflow
MIN_STEPS_HALVING: Final = 30  # until then a scale that began too high may still be finding its way


@check("mp.02", "the loss scale is not set right")
def from_run(run: Run, *, max_skipped: float = 0.5, min_steps: int = 4, max_zeros: float = 0.9) -> Iterator[Finding]:
    """Scales, skipped steps and zeros."""
    rank = trained_rank(run)
    if rank is None:
        yield undecided("mp_02.no_steps")
        return
    scales = [event.value for event in rank.events(ScaleEvent, phase=TRAIN)]
    half = in_half(run, rank)
    mismatch = _mismatch(run, scales)
    steps = list(rank.events(StepEvent, phase=TRAIN))
    if mismatch is not None:
        place = where(first_with_line(rank, StepEvent))
        yield found(
            "mp_02.two_scales",
            place,
            measured=mismatch[1],
            limit=mismatch[0],
            evidence=[mismatch],
            scale=mismatch[0],
            own=mismatch[1],
        )
    elif _never_divided(run, rank, scales):
        place = where(first_with_line(rank, StepEvent))
        yield found("mp_02.never_divided", place, measured=scales[0], limit=1.0, evidence=[scales[0]], scale=scales[0])
    elif not half and not scales:
        yield na("mp_02.not_half")
    elif not scales:
        zeros = _zeros(rank)
        evidence: list[Json] = [{"precision": run.info.precision, "zeros": zeros}]
        place = where(first_with_line(rank, LossEvent))
        if zeros is not None and zeros > max_zeros:
            yield found(
                "mp_02.none_and_zeros", place, measured=zeros, limit=max_zeros, evidence=evidence, share=f"{zeros:.0%}"
            )
        else:
            yield found("mp_02.none", place, certainty=Certainty.LIKELY, measured=0, evidence=evidence)
    else:
        skipped = [step for step in steps if step.skipped]
        late = steps[len(steps) // 2 :]
        share = sum(step.skipped for step in late) / max(len(late), 1)
        evidence = [{"steps": len(steps), "skipped": len(skipped), "scale": [scales[0], scales[-1]]}]
        # A dynamic scale that halves with every overflow soon finds its way.
        halving = len(set(scales)) > 1 and scales[-1] <= scales[0] * MAX_HALVING ** max(len(skipped) - 1, 1)
        enough = len(steps) >= (MIN_STEPS_HALVING if halving else min_steps)
        if share > max_skipped and skipped:
            how = found if enough else suspect
            said: Params = {"share": f"{share:.0%}", "scale": scales[0]}
            yield how("mp_02.skipped", where(skipped[0]), measured=share, limit=max_skipped, evidence=evidence, **said)
        else:
            yield none(
                "mp_02.works",
                evidence=evidence,
                measured=share,
                limit=max_skipped,
                scale=scales[-1],
                skipped=len(skipped),
            )


def in_half(run: Run, rank: RankFolder) -> bool:
    """Whether training computes in float16; bfloat16 needs no scale."""
    precision = (run.info.precision or "").replace("bfloat16", "").replace("bf16", "")
    if "autocast float16" in precision:
        return True
    layers = {module_of(param.name) for param in rank.params if param.trainable}
    halved = {module.path for module in rank.modules if module.path in layers and module.attributes.get("fp16") is True}
    halved |= {module_of(param.name) for param in rank.params if param.trainable and param.dtype == "float16"}
    # A layer or two in half precision need no scale of their own.
    return len(halved) * 2 > len(layers)


def _mismatch(run: Run, scales: list[float]) -> tuple[float, float] | None:
    """A fixed scale and an optimizer that divides by another one."""
    if not scales or len(set(scales)) > 1:
        return None
    for optimizer in run.info.optimizers:
        for group in optimizer.groups:
            own = group.get("loss_scale")
            if (
                isinstance(own, int | float)
                and scales[0] != 1.0
                and run.info.framework == "mindspore"
                and float(own) not in (1.0, scales[0])
            ):
                return scales[0], float(own)
    return None


def _never_divided(run: Run, rank: RankFolder, scales: list[float]) -> bool:
    """Whether the optimizer gets the gradients of a scaled loss as backward has handed them out."""
    if not scales or scales[0] == 1.0 or run.info.framework != "mindspore":
        return False
    own = [group.get("loss_scale", 1.0) for optimizer in run.info.optimizers for group in optimizer.groups]
    if not own or any(scale != 1.0 for scale in own) or any(True for _ in rank.events(UnscaleEvent)):
        return False
    ratios = []
    norm = None
    for event in rank.events(BackwardEvent, StepEvent, phase=TRAIN):
        if isinstance(event, BackwardEvent):
            norm = event.norm
        elif isinstance(event, StepEvent) and norm and event.grad_norm is not None and not event.skipped:
            if math.isfinite(event.grad_norm) and math.isfinite(norm):
                ratios.append(event.grad_norm / norm)
            norm = None
    return len(ratios) > 1 and all(abs(ratio - 1) < MAX_RATIO_APART for ratio in ratios)


def _zeros(rank: RankFolder) -> float | None:
    looks = [look for own in gradient_looks(rank).values() for look in own if look.elements]
    return min(look.zeros / look.elements for look in looks) if looks else None
