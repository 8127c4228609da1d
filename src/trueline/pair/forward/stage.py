"""Stages 3 and 5: every module by itself in evaluation and in training, at more than one input size, to its causes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from trueline.adapters.guest.trouble import SideTrouble
from trueline.compare.noise import epsilon
from trueline.compare.verdict import Verdict
from trueline.kernel.array import Array
from trueline.model.message import Message, message
from trueline.pair.aligning.aligned import Aligned
from trueline.pair.aligning.nesting import outermost_first
from trueline.pair.blame import Blame, Cause, Stage, StageResult, StageVerdict, also_in, joined
from trueline.pair.forward.causes import Causes
from trueline.pair.forward.compiled import compiled_blames
from trueline.pair.forward.corrections import Together
from trueline.pair.forward.dropping import drop_blames
from trueline.pair.forward.extreme_values import far_causes
from trueline.pair.forward.faults import Fault
from trueline.pair.forward.forced import Called, short_floor
from trueline.pair.forward.isolating import Isolated, isolate
from trueline.pair.forward.judging import is_below, judge, without
from trueline.pair.forward.not_called import not_called, unnamed
from trueline.pair.forward.returned import other_outputs, returned_otherwise
from trueline.pair.forward.training import Tried, recorded, refuses, trained
from trueline.pair.questions.recording import Record, Recording, Returned
from trueline.pair.sides.side import Side
from trueline.pair.verify import Verified, verify

Progress = Callable[[str], None]
# Whole networks whose outputs lie this close, relative to the largest, need no measured noise to be called the same.
_CLOSE = 1e-4
_SMALLEST = 48
# What the strides of most networks multiply to.
_STEP = 32


def no_progress(_: str) -> None:
    """Nobody is told."""


@dataclass(frozen=True)
class Forward:
    """What the forced runs gave: in each mode, and at another input size where the networks take one.

    ``aligned`` is how both were matched in the end, ``inputs`` what the runs in training were given, ``returned`` what
    there is to say of outputs that are not put together alike. ``corrected`` is the whole port with all that is
    confirmed of this size put right. ``left_out`` says what of training no side or only one takes; ``trained`` is None
    where that is all of it, and recordings and inputs are then evaluation's. ``size_refused`` says which size only the
    benchmark takes.
    """

    aligned: Aligned
    evaluated: Isolated
    trained: Isolated | None
    sizes: Sequence[Isolated]
    recordings: tuple[Recording, Recording]
    verified: Verified | None
    blames: Sequence[Blame]
    faults: Sequence[Fault]
    inputs: Sequence[Array]
    returned: Message | None = None
    corrected: Together | None = None
    left_out: Message | None = None
    size_refused: Message | None = None

    @property
    def checks(self) -> int:
        """How many numbers were compared."""
        return sum(
            len(checked.checks)
            for isolated in (self.evaluated, self.trained, *self.sizes)
            if isolated is not None
            for checked in isolated.checked
        )

    @property
    def modules(self) -> int:
        """How many modules of the port were judged."""
        return len({matched.port.path for matched in self.evaluated.reference.matched})


def run_forward(
    bench: Side,
    port: Side,
    aligned: Aligned,
    inputs: Sequence[Array],
    recordings: tuple[Recording, Recording],
    *,
    below: str = "",
    progress: Progress = no_progress,
) -> Forward:
    """All forced runs and the causes of what they show; ``below`` keeps to one module of the port.

    ``recordings`` are both sides' in evaluation, the benchmark's with its arrays.
    """
    sides, given, seen = (bench, port), inputs, recordings
    progress("eval")
    aligned, evaluated = _evaluated(sides, aligned, recordings, inputs)
    shorter = evaluated.shorter.blames() if evaluated.shorter is not None else []
    judged = judge(sides, aligned, evaluated, recordings, inputs, shorter, below, tell=True)
    idle = unnamed(aligned, not_called(sides, aligned, recordings, inputs), judged.blames)
    blames = [*shorter, *(blame for blame in idle if is_below(blame.module, below)), *judged.blames]
    cleared = set(judged.cleared)
    progress("size")
    runs = [_Run(evaluated, recordings, inputs)]
    run, refused = _at_another_size(sides, aligned, evaluated, inputs)
    if run is not None:
        runs.append(run)
        known = _known(blames)
        there = judge(sides, aligned, run.isolated, run.recordings, run.inputs, blames, below)
        more = there.blames
        if any(blame.confirmed for blame in more):
            # An output of another size leaves much behind it unexplained; what is confirmed comes first.
            more = [blame for blame in more if blame.confirmed]
        blames += [_at_size_only(blame, inputs, run) for blame in more if (blame.module, blame.cause) not in known]
    # The size that costs less: both have been looked at.
    smallest = min(runs, key=lambda one: one.size)
    inputs = smallest.inputs
    far = far_causes(sides, aligned, smallest.isolated, smallest.recordings[1], inputs)
    blames += [blame for blame in far if is_below(blame.module, below)]
    progress("train")
    blamed = {path for blame in blames if not blame.latent for path in (blame.module, *also_in(blame))}

    def train(tried: Tried) -> _Trained:
        recordings = recorded(sides, tried)
        isolated = without(isolate(sides, aligned, recordings, tried.inputs, [one.isolated for one in runs]), cleared)
        found = judge(sides, aligned, isolated, recordings, tried.inputs, blames, below).blames
        return _Trained(recordings, isolated, [blame for blame in found if blame.module not in blamed])

    answer, ran = trained(inputs, train), None
    if isinstance(answer, Message):
        left_out: Message | None = answer
    else:
        tried, ran, left_out = answer
        inputs, recordings = tried.inputs, ran.recordings
        blames += ran.blames
    progress("latent")
    isolated = ran.isolated if ran is not None else evaluated
    unlike = frozenset[Called]().union(*(one.isolated.not_given for one in runs), isolated.not_given)
    unlike |= {matched.called for matched in isolated.reference.matched if matched.port.path in judged.prepared}
    unseen = _unseen(sides, aligned, isolated, recordings, blames, unlike)
    blames += [blame for blame in unseen if is_below(blame.module, below)]
    if not below:
        blames += compiled_blames(sides, inputs)
    sizes = [one.isolated for one in runs[1:]]
    evaluated = without(evaluated, cleared)
    every = (evaluated, *sizes, *([ran.isolated] if ran is not None else []))
    faults = [fault for isolated in every for fault in isolated.faults]
    whole = None if faults else _whole(sides, runs, given)
    said = None
    if not below and (returned := _returned(seen)) is not None:
        said = returned_otherwise(*returned)
        other = other_outputs(*returned) if not faults else None
        blames += [other] if other is not None else []
    return Forward(
        aligned,
        evaluated,
        ran.isolated if ran is not None else None,
        sizes,
        recordings,
        whole,
        joined(blames),
        faults,
        inputs,
        said,
        judged.whole,
        left_out,
        refused,
    )


def _returned(recordings: tuple[Recording, Recording]) -> tuple[Returned, Returned] | None:
    bench, port = (recording.returned for recording in recordings)
    return (bench, port) if bench is not None and port is not None else None


@dataclass(frozen=True)
class _Trained:
    """The forced run of training: both recordings, what it gave, and what is to blame for that alone."""

    recordings: tuple[Recording, Recording]
    isolated: Isolated
    blames: Sequence[Blame]


@dataclass(frozen=True)
class _Run:
    """The forced run of evaluation at one size: what it gave, both recordings, and what both were fed."""

    isolated: Isolated
    recordings: tuple[Recording, Recording]
    inputs: Sequence[Array]

    @property
    def size(self) -> int:
        return sum(array.size for array in self.inputs)


def _evaluated(
    sides: tuple[Side, Side], aligned: Aligned, recordings: tuple[Recording, Recording], inputs: Sequence[Array]
) -> tuple[Aligned, Isolated]:
    """The forced run of evaluation, and how both are matched where blocks nest otherwise and fewer then differ."""
    isolated = isolate(sides, aligned, recordings, inputs)
    nested = outermost_first(aligned, recordings) if isolated.faults else None
    if nested is not None:
        other = isolate(sides, nested, recordings, inputs)
        if len(other.faults) < len(isolated.faults):
            return nested, other
    return aligned, isolated


def _at_another_size(
    sides: tuple[Side, Side], aligned: Aligned, evaluated: Isolated, inputs: Sequence[Array]
) -> tuple[_Run | None, Message | None]:
    """The forced run at the first other size that both networks take; and that only the port refuses one, where so."""
    refused: Message | None = None
    for resized in other_sizes(inputs):
        try:
            there = sides[0].answer(Record(resized, train=False, send=True))
        except SideTrouble as trouble:
            if not refuses(trouble):
                raise
            continue
        try:
            here = sides[1].answer(Record(resized, train=False, send=False))
        except SideTrouble as trouble:
            if not refuses(trouble):
                raise
            size = "x".join(map(str, resized[0].shape))
            refused = refused or message("pair_stage.size_refused", size=size, reason=trouble.message)
            continue
        isolated = _at_size(sides, aligned, (there, here), resized, evaluated)
        if isolated is not None:
            return _Run(isolated, (there, here), resized), refused
    return None, refused


def _at_size_only(blame: Blame, inputs: Sequence[Array], run: _Run) -> Blame:
    """What only another size of input shows, said as that."""
    sizes = {name: "x".join(map(str, arrays[0].shape)) for name, arrays in (("here", inputs), ("there", run.inputs))}
    return replace(
        blame,
        message=message("pair_stage.both", first=blame.message, second=message("pair_stage.sizes", **sizes)),
        general=blame.general or blame.message,
        evidence=[*blame.evidence, {"equal_at": sizes["here"], "differs_at": sizes["there"]}],
    )


def _unseen(
    sides: tuple[Side, Side],
    aligned: Aligned,
    isolated: Isolated,
    recordings: tuple[Recording, Recording],
    blames: Sequence[Blame],
    unlike: frozenset[Called],
) -> Iterator[Blame]:
    """What the forced runs do not show: how much is dropped at random, and what has no effect on ordinary values."""
    dropped = drop_blames(sides, aligned, recordings, isolated.reference)
    yield from dropped
    causes, known = Causes(*sides, aligned, ()), _known([*blames, *dropped])
    short = isolated.shorter
    yield from (
        causes.latent(isolated.reference, known, short_floor("out", epsilon(short.port), 1.0), unlike)
        if short is not None
        else causes.latent(isolated.reference, known, unlike=unlike)
    )


def _whole(sides: tuple[Side, Side], runs: Sequence[_Run], inputs: Sequence[Array]) -> Verified | None:
    """Outputs of the whole networks where every module agrees; noise is measured only where they are not close.

    At another size both have been run whole with the same weights; at the given one the port was not, yet.
    """
    *_, last = runs
    there, here = (recording.outputs for recording in last.recordings)
    if len(runs) == 1:
        here = sides[1].forward(inputs)
    close = len(there) == len(here) and all(map(_close, here, there))
    return None if close else verify(*sides, inputs, rounds=2)


def _close(first: Array, second: Array) -> bool:
    if first.shape != second.shape:
        return False
    # Formats that NumPy does not know have no arithmetic of their own.
    here, there = first.astype(np.float64), second.astype(np.float64)
    return bool(np.allclose(here, there, rtol=0, atol=_CLOSE * float(np.abs(there).max(initial=0))))


def _known(blames: Sequence[Blame]) -> set[tuple[str, Cause]]:
    return {(path, blame.cause) for blame in blames for path in (blame.module, *also_in(blame))}


def other_sizes(inputs: Sequence[Array]) -> list[list[Array]]:
    """Other inputs, odd where these are even: padding faults may show on odd sizes only, or on even ones.

    Then, for networks that take no odd ones, multiples of what strides need.
    """
    if not any(_is_picture(array) for array in inputs):
        return []
    return [[_resized(array, side) if _is_picture(array) else array for array in inputs] for side in (_odd, _stepped)]


def _is_picture(array: Array) -> bool:
    return array.ndim >= 4 and "float" in array.dtype.name


def _odd(side: int) -> int:
    smaller = side * 3 // 8
    smaller += (smaller + side + 1) % 2
    return smaller if smaller >= _SMALLEST else side + 1


def _stepped(side: int) -> int:
    smaller = side * 3 // 8 // _STEP * _STEP
    return smaller if smaller >= _SMALLEST else 2 * side


def _resized(array: Array, other: Callable[[int], int]) -> Array:
    for axis in range(2, array.ndim):
        side = array.shape[axis]
        array = np.take(array, np.arange(other(side)) % side, axis)
    return np.ascontiguousarray(array)


def _at_size(
    sides: tuple[Side, Side],
    aligned: Aligned,
    recordings: tuple[Recording, Recording],
    inputs: Sequence[Array],
    evaluated: Isolated,
) -> Isolated | None:
    """The forced run at another size; None where a network takes only the one."""
    try:
        return isolate(sides, aligned, recordings, inputs, [evaluated])
    except SideTrouble as trouble:
        if not refuses(trouble):
            raise
        return None


def forward_result(forward: Forward) -> StageResult:
    """Stage 3 in one sentence."""
    blames = [blame for blame in forward.blames if blame.stage is Stage.FORWARD]
    whole = forward.verified
    worst = whole.worst if whole is not None else None
    if not blames and whole is not None and whole.verdict is Verdict.DIFFERS and worst is not None:
        text = message("pair_stage.unknown_whole")
        blames = [
            Blame(Stage.FORWARD, Cause.UNKNOWN, text, measured=worst.level, limit=worst.floor.value),
        ]
    verdict = StageVerdict.FOUND if blames else StageVerdict.PASSED
    words = {"modules": forward.modules, "checks": forward.checks, "sizes": 1 + len(forward.sizes)}
    text = message("pair_stage.forward" if forward.trained is not None else "pair_stage.forward_evaluation", **words)
    corrected = forward.corrected.said if forward.corrected is not None else None
    for more in (forward.left_out, forward.returned, forward.size_refused, corrected):
        text = message("pair_stage.both", first=text, second=more) if more is not None else text
    everything = forward.aligned.is_whole and forward.left_out is None
    return StageResult(
        Stage.FORWARD, verdict, text, blames, message("pair_stage.forward_rules_out") if everything else None
    )
