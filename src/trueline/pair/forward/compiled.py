"""A side that is compiled: whether its compiler changes what it computes, and in which module."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from trueline.compare.verdict import Verdict
from trueline.kernel import distance
from trueline.kernel.array import Array
from trueline.model.message import message
from trueline.pair.blame import Blame, Cause, Stage, module_name
from trueline.pair.forward.causes import built_at
from trueline.pair.questions.model import CompiledRun, Compiler, RunCompiled
from trueline.pair.questions.recording import Record, Recording
from trueline.pair.sides.side import Side
from trueline.pair.verify import judge_outputs

# Gradients have been through the network twice, and are judged by the largest of all.
_GRADIENT: Final = 1e-3
_DEEPER: Final = 30.0
_ROUNDS: Final = 2
# A module alone must stand out, not only exceed what the whole network's noise is.
_MIN_EXCESS: Final = 3.0


def compiled_blames(sides: tuple[Side, Side], inputs: Sequence[Array]) -> list[Blame]:
    """For each side that is compiled: what its compiler does not make as it was written."""
    blames = []
    for side in sides:
        how = side.answer(Compiler())
        blame = _blame(side, how, inputs) if how else None
        if blame is not None:
            blames.append(blame)
    return blames


def _blame(side: Side, how: str, inputs: Sequence[Array]) -> Blame | None:
    ran = side.answer(RunCompiled("", inputs, seed=1))
    words: dict[str, object] = {"how": how, "side": side.name}
    if ran.failed:
        text = message("pair_stage.compiled_not", reason=ran.failed, **words)
        # That it cannot be run like that was tried.
        return Blame(Stage.FORWARD, Cause.COMPILED, text, confirmed=True)
    judged = judge_outputs((side, side), inputs, ran.plain, ran.compiled, rounds=_ROUNDS)
    worst = judged.worst
    if worst is None:
        return None
    limit = worst.floor.value
    if judged.verdict is not Verdict.DIFFERS:
        return _gradients(ran, max(_GRADIENT, _DEEPER * limit), words)
    path = _smallest(side, inputs, limit)
    where = {"module": module_name(path)}
    line = built_at(side.describe(), path)
    return Blame(
        Stage.FORWARD,
        Cause.COMPILED,
        message("pair_stage.compiled", level=worst.level, limit=limit, **where, **words),
        path,
        path,
        bench=message("pair_stage.op_by_op"),
        port=how,
        # The same module on the same inputs was run both ways.
        confirmed=True,
        measured=worst.level,
        limit=limit,
        left=0.0,
        line=line,
        edit=message("pair_stage.edit_compiled", **where),
    )


def _gradients(ran: CompiledRun, limit: float, words: dict[str, object]) -> Blame | None:
    distances = {name: distance(compiled, plain) for name, (plain, compiled) in ran.grads.items()}
    scale = max((apart.max_ref for apart in distances.values()), default=0.0)
    if not scale:
        return None
    name, worst = max(distances.items(), key=lambda one: one[1].max_abs)
    level = worst.max_abs / scale
    if level <= limit:
        return None
    text = message("pair_stage.compiled_gradients", name=name, level=level, **words)
    return Blame(
        Stage.BACKWARD, Cause.COMPILED, text, name.rpartition(".")[0], confirmed=True, measured=level, limit=limit
    )


def _smallest(side: Side, inputs: Sequence[Array], limit: float) -> str:
    """The innermost module that differs by itself, from the outermost down."""
    recording = side.answer(Record(inputs, train=False, send=True))
    place, path = next((place for place, call in enumerate(recording.calls) if call.parent is None), None), ""
    while place is not None:
        path = recording.calls[place].path
        place = next((one for one in recording.children.get(place, ()) if _differs(side, recording, one, limit)), None)
    return path


def _differs(side: Side, recording: Recording, place: int, limit: float) -> bool:
    call = recording.calls[place]
    if not call.plain or not call.ins:
        return False
    ran = side.answer(RunCompiled(call.path, [recording.arrays[place] for place in call.ins], seed=None))
    if ran.failed or len(ran.plain) != len(ran.compiled):
        return False
    levels = [distance(compiled, plain) for compiled, plain in zip(ran.compiled, ran.plain, strict=True)]
    return any(not level.comparable or level.max_abs > _MIN_EXCESS * limit * level.max_ref for level in levels)
