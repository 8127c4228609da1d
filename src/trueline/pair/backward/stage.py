"""Stage 5: gradients of every module and parameter, and of what lies between modules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from trueline.adapters.guest.trouble import SideTrouble
from trueline.kernel.array import Array
from trueline.model.message import message
from trueline.pair.aligning.aligned import Aligned
from trueline.pair.backward.causes import backward_causes
from trueline.pair.backward.whole import parameters_agree
from trueline.pair.blame import Blame, Cause, Stage, StageResult, StageVerdict, also_in
from trueline.pair.forward.causes import block_kinds
from trueline.pair.forward.judging import is_below
from trueline.pair.forward.stage import Forward
from trueline.pair.forward.training import refuses
from trueline.pair.sides.side import Side


def backward_stage(
    bench: Side, port: Side, aligned: Aligned, forward: Forward, inputs: Sequence[Array], *, below: str = ""
) -> StageResult:
    """What the forced run in training showed of gradients, then each block's own code."""
    own = [blame for blame in forward.blames if blame.stage is Stage.BACKWARD]
    trained = forward.trained
    if trained is None or not forward.recordings[0].backward:
        assert forward.left_out is not None
        return StageResult(Stage.BACKWARD, StageVerdict.SKIPPED, forward.left_out, own)
    # What lies in a block whose values differ already says nothing more: other values have other gradients. A gradient
    # that ends there does, where a try confirms it.
    values = [blame for blame in forward.blames if blame.stage is Stage.FORWARD and not blame.latent]
    known = [path for blame in values for path in (blame.module, *also_in(blame))]
    blocks = list(block_kinds(aligned, trained.reference, forward.recordings[1]))
    differing = [block.path for block in blocks if any(_is_near(block.path, each) for each in known)]
    try:
        found = backward_causes(
            bench,
            port,
            blocks,
            inputs=inputs,
            counterparts=aligned.modules,
            parameters={path: pair.bench_path for path, pair in aligned.by_port_path.items()},
            differing=differing,
        )
    except SideTrouble as trouble:
        if not refuses(trouble):
            raise
        verdict = StageVerdict.FOUND if own else StageVerdict.SKIPPED
        return StageResult(Stage.BACKWARD, verdict, message("pair_stage.no_backward", reason=trouble.message), own)
    # Of a module whose gradients differ by themselves, on the benchmark's values, it is told why.
    alone = {blame.module for blame in own}
    found = [
        blame
        for blame in found
        if is_below(blame.module, below)
        and (
            blame.module in alone
            or (blame.cause is Cause.DETACHED and blame.confirmed)
            or not any(_is_near(blame.module, each) for each in known)
        )
    ]
    explained = {blame.module for blame in found}
    own = [blame for blame in own if blame.cause is not Cause.UNKNOWN or blame.module not in explained]
    named = {blame.module for blame in own}
    blames = [*own, *(blame for blame in found if blame.module not in named)]
    if any(map(_is_doubtful, blames)) and parameters_agree(port, aligned, forward.recordings[0], inputs):
        blames = [_unfelt(blame) if _is_doubtful(blame) else blame for blame in blames]
    units = sum(1 for matched in trained.reference.matched if matched.unit)
    text = message("pair_stage.backward", units=units, grads=len(forward.recordings[0].grads))
    verdict = StageVerdict.FOUND if blames else StageVerdict.PASSED
    rules_out = message("pair_stage.backward_rules_out") if aligned.is_whole else None
    return StageResult(Stage.BACKWARD, verdict, text, blames, rules_out)


def _is_doubtful(blame: Blame) -> bool:
    return not blame.confirmed and not blame.latent


def _unfelt(blame: Blame) -> Blame:
    """With the same gradients at all parameters, blocks are only cut otherwise."""
    text = message("pair_stage.both", first=blame.message, second=message("pair_stage.parameters_agree"))
    return replace(blame, message=text, general=blame.general or blame.message, unfelt=True)


def _is_near(path: str, other: str) -> bool:
    return is_below(path, other) or is_below(other, path)
