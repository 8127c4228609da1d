"""Stage 5: gradients of every module and parameter, and of what lies between modules."""

from __future__ import annotations

from collections.abc import Sequence

from trueline.kernel.array import Array
from trueline.model.message import message
from trueline.pair.aligning.aligned import Aligned
from trueline.pair.backward.causes import backward_causes
from trueline.pair.blame import Cause, Stage, StageResult, StageVerdict, also_in
from trueline.pair.forward.causes import block_kinds
from trueline.pair.forward.stage import Forward, is_below
from trueline.pair.sides.side import Side


def backward_stage(
    bench: Side, port: Side, aligned: Aligned, forward: Forward, inputs: Sequence[Array], *, below: str = ""
) -> StageResult:
    """What the forced run in training showed of gradients, then each block's own code."""
    own = [one for one in forward.blames if one.stage is Stage.BACKWARD]
    # What lies in a block whose values differ already says nothing more: other values have other gradients. A gradient
    # that ends there does, where a try confirms it.
    values = [one for one in forward.blames if one.stage is Stage.FORWARD and not one.latent]
    known = [path for one in values for path in (one.module, *also_in(one))]
    blocks = list(block_kinds(aligned, forward.trained.reference, forward.recordings[1]))
    differing = [one.path for one in blocks if any(_is_near(one.path, each) for each in known)]
    found = backward_causes(bench, port, blocks, inputs=inputs, counterparts=aligned.modules, differing=differing)
    # Of a module whose gradients differ by themselves, on the benchmark's values, it is told why.
    alone = {one.module for one in own}
    found = [
        one
        for one in found
        if is_below(one.module, below)
        and (
            one.module in alone
            or (one.cause is Cause.DETACHED and one.confirmed)
            or not any(_is_near(one.module, each) for each in known)
        )
    ]
    explained = {one.module for one in found}
    own = [one for one in own if one.cause is not Cause.UNKNOWN or one.module not in explained]
    named = {one.module for one in own}
    blames = [*own, *(one for one in found if one.module not in named)]
    units = sum(1 for one in forward.trained.reference.matched if one.unit)
    text = message("pair_stage.backward", units=units, grads=len(forward.recordings[0].grads))
    verdict = StageVerdict.FOUND if blames else StageVerdict.PASSED
    return StageResult(Stage.BACKWARD, verdict, text, blames, message("pair_stage.backward_rules_out"))


def _is_near(path: str, other: str) -> bool:
    return is_below(path, other) or is_below(other, path)
