"""From the operators of a step to the hit: which was first, what it took, and what most likely was the cause."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from trueline.watch.causes import Told, bad_sample, cause_of, grown, told
from trueline.watch.hit import Hit, Link, Tensor
from trueline.watch.locating import chain, origin
from trueline.watch.seen import Part, Seen
from trueline.watch.state import Signs
from trueline.watch.tracker import Tracker

# An operator may take hundreds (a concatenation, a fused optimizer): so many are shown.
_MAX_TENSORS: Final = 8


def hit_of(
    tracker: Tracker,
    starts: Sequence[Seen],
    signs: Signs,
    update: Hit,
    norms: Sequence[Sequence[float]],
    rows: Callable[[str], Sequence[int]],
    began: int,
    bad_field: str | None,
    *,
    gradients_seen: bool,
) -> Hit:
    """The first operator at fault, in a step since ``began``.

    ``update`` is the hit where it can only have been the optimizer, unseen: its gradients must have been seen for
    that. ``bad_field`` is a field of the batch that has NaN in it, which tells more than operators that are hidden.
    """
    found = origin(starts, tracker.seen)
    only_update = update.op and signs.weights and not signs.gradients and not signs.loss
    diverges = any(map(grown, norms))
    if found is None and bad_field is not None:
        return _hidden(update, Part.DATA, bad_sample(bad_field, rows), "batch")
    if found is None and (signs.loss or signs.gradients):
        return _hidden(update, Part.FORWARD if signs.loss else Part.BACKWARD, told("hidden"))
    if found is None and not gradients_seen and not diverges:
        return _hidden(update, Part.UPDATE, told("hidden"))
    if found is None or (only_update and found.part is not Part.UPDATE):
        cause = told("divergence" if diverges else "optimizer_division")
        module = (signs.weights or signs.gradients or [""])[0].rpartition(".")[0]
        return replace(update, module=module, cause=cause.cause, why=cause.message, advice=cause.advice)
    cause = cause_of(found, norms, rows)
    part = cause.leaf.part if cause.leaf is not None and cause.leaf.part is not None and cause.leaf.bad else found.part
    named = found.forward if found.forward is not None and not found.own else found
    bad = [output for output in found.outputs if tracker.is_bad(output)]
    return Hit(
        began + tracker.steps_before(found),
        part,
        "batch" if part is Part.DATA else named.kind,
        "nan" if found.nan else "inf" if any(summary.non_finite for summary in bad) else "limit",
        named.name,
        found.module,
        found.line,
        found.forward.line if found.forward is not None else None,
        cause.cause,
        cause.message,
        cause.advice,
        [Tensor(given.name, given.dtype, given.summary) for given in found.inputs[:_MAX_TENSORS]],
        [Tensor("", dtype, output) for dtype, output in zip(found.dtypes, found.outputs, strict=True)][:_MAX_TENSORS],
        [Link(seen.kind, seen.module, seen.line, seen.largest) for seen in chain(found)],
        found.stack,
        cause.samples,
        update.way,
        update.rank,
    )


def _hidden(update: Hit, part: Part, cause: Told, op: str = "graph") -> Hit:
    """The hit of a step whose operators cannot be seen."""
    why, advice, samples = cause.message, cause.advice, cause.samples
    return replace(
        update, part=part, op=op, name="", line=None, cause=cause.cause, why=why, advice=advice, samples=samples
    )
