"""From the operators of a step to the hit: which was first, what it took, and what most likely was the cause."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from trueline.record.watching.causes import cause_of, grown, told
from trueline.record.watching.hit import Hit, Link, Tensor
from trueline.record.watching.locating import chain, origin
from trueline.record.watching.seen import Part, Seen
from trueline.record.watching.state import Signs
from trueline.record.watching.tracker import Tracker

_MOST: Final = 8


def hit_of(
    tracker: Tracker,
    starts: Sequence[Seen],
    signs: Signs,
    update: Hit,
    norms: Sequence[Sequence[float]],
    rows: Callable[[str], Sequence[int]],
    began: int,
) -> Hit:
    """The first operator at fault, in a step since ``began``.

    ``update`` is the hit where it can only have been the optimizer, unseen.
    """
    found = origin(starts, tracker.seen)
    only_update = update.op and signs.weights and not signs.gradients and not signs.loss
    if found is None and (signs.loss or signs.gradients):
        hidden = told("hidden")
        part = Part.FORWARD if signs.loss else Part.BACKWARD
        return replace(
            update,
            part=part,
            op="graph",
            name="",
            line=None,
            cause=hidden.cause,
            why=hidden.message,
            advice=hidden.advice,
        )
    if found is None or (only_update and found.part is not Part.UPDATE):
        cause = told("divergence" if any(map(grown, norms)) else "optimizer_division")
        module = (signs.weights or signs.gradients or [""])[0].rpartition(".")[0]
        return replace(update, module=module, cause=cause.cause, why=cause.message, advice=cause.advice)
    cause = cause_of(found, norms, rows)
    part = cause.leaf.part if cause.leaf is not None and cause.leaf.part is not None and cause.leaf.bad else found.part
    named = found.forward if found.forward is not None and not found.own else found
    bad = [one for one in found.outputs if tracker.is_bad(one)]
    return Hit(
        began + tracker.steps_before(found),
        part,
        "batch" if part is Part.DATA else named.kind,
        "nan" if found.nan else "inf" if any(one.non_finite for one in bad) else "limit",
        named.name,
        found.module,
        found.line,
        found.forward.line if found.forward is not None else None,
        cause.cause,
        cause.message,
        cause.advice,
        [Tensor(one.name, one.dtype, one.summary) for one in found.inputs[:_MOST]],
        [Tensor("", dtype, one) for dtype, one in zip(found.dtypes, found.outputs, strict=True)][:_MOST],
        [Link(one.kind, one.module, one.line, one.largest) for one in chain(found)],
        found.stack,
        cause.samples,
        update.way,
        update.rank,
    )
