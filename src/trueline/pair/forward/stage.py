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
from trueline.pair.forward.dropping import drop_blames
from trueline.pair.forward.extreme_values import far_causes
from trueline.pair.forward.faults import Fault, merged
from trueline.pair.forward.forced import short_floor
from trueline.pair.forward.isolating import Isolated, isolate
from trueline.pair.forward.returned import other_outputs, returned_otherwise
from trueline.pair.questions.recording import Record, Recording, Returned
from trueline.pair.sides.side import Side
from trueline.pair.verify import Verified, verify

Progress = Callable[[str], None]
# Whole networks whose outputs lie this close, relative to the largest, need no measured noise to be called the same.
_CLOSE = 1e-4
_SMALLEST = 48


def no_progress(_: str) -> None:
    """Nobody is told."""


@dataclass(frozen=True)
class Forward:
    """What the forced runs gave: in each mode, and at another input size where the networks take one.

    ``aligned`` is how both were matched in the end, ``inputs`` what the runs in training were given, ``returned`` what
    there is to say of outputs that are not put together alike.
    """

    aligned: Aligned
    evaluated: Isolated
    trained: Isolated
    sizes: Sequence[Isolated]
    recordings: tuple[Recording, Recording]
    verified: Verified | None
    blames: Sequence[Blame]
    faults: Sequence[Fault]
    inputs: Sequence[Array]
    returned: Message | None = None

    @property
    def checks(self) -> int:
        """How many numbers were compared."""
        return sum(
            len(checked.checks)
            for isolated in (self.evaluated, self.trained, *self.sizes)
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
    blames = evaluated.shorter.blames() if evaluated.shorter is not None else []
    blames += _causes(sides, aligned, evaluated, recordings[1], below)
    progress("size")
    runs = [_Run(evaluated, recordings[1], inputs)]
    for run in _at_other_sizes(sides, aligned, evaluated, inputs):
        runs.append(run)
        known = _known(blames)
        more = _causes(sides, aligned, run.isolated, run.port, below)
        if any(blame.confirmed for blame in more):
            # An output of another size leaves much behind it unexplained; what is confirmed comes first.
            more = [blame for blame in more if blame.confirmed]
        blames += [_at_size_only(blame, inputs, run) for blame in more if (blame.module, blame.cause) not in known]
    # The size that costs less: both have been looked at.
    smallest = min(runs, key=lambda one: one.size)
    inputs = smallest.inputs
    far = far_causes(sides, aligned, smallest.isolated, smallest.port, inputs)
    blames += [blame for blame in far if is_below(blame.module, below)]
    progress("train")
    inputs, recordings = _trained(sides, inputs)
    trained = isolate(sides, aligned, recordings, inputs, evaluated.together)
    blamed = {path for blame in blames if not blame.latent for path in (blame.module, *also_in(blame))}
    blames += [blame for blame in _causes(sides, aligned, trained, recordings[1], below) if blame.module not in blamed]
    progress("latent")
    blames += [blame for blame in _unseen(sides, aligned, trained, recordings, blames) if is_below(blame.module, below)]
    if not below:
        blames += compiled_blames(sides, inputs)
    sizes = [one.isolated for one in runs[1:]]
    faults = [fault for isolated in (evaluated, *sizes, trained) for fault in isolated.faults]
    whole = None if faults else _whole(bench, port, evaluated, given)
    said = None
    if not below and (returned := _returned(seen)) is not None:
        said = returned_otherwise(*returned)
        other = other_outputs(*returned) if not faults else None
        blames += [other] if other is not None else []
    return Forward(aligned, evaluated, trained, sizes, recordings, whole, joined(blames), faults, inputs, said)


def _returned(recordings: tuple[Recording, Recording]) -> tuple[Returned, Returned] | None:
    bench, port = (recording.returned for recording in recordings)
    return (bench, port) if bench is not None and port is not None else None


@dataclass(frozen=True)
class _Run:
    """The forced run of evaluation at one size: what it gave, the port's recording, and what both were fed."""

    isolated: Isolated
    port: Recording
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


def _at_other_sizes(
    sides: tuple[Side, Side], aligned: Aligned, evaluated: Isolated, inputs: Sequence[Array]
) -> Iterator[_Run]:
    """The forced runs at other sizes, of those that both networks take."""
    for resized in other_sizes(inputs):
        again = _at_size(sides, aligned, resized, evaluated)
        if again is not None:
            yield _Run(*again, resized)


def _at_size_only(blame: Blame, inputs: Sequence[Array], run: _Run) -> Blame:
    """What only another size of input shows, said as that."""
    sizes = {name: "x".join(map(str, arrays[0].shape)) for name, arrays in (("here", inputs), ("there", run.inputs))}
    return replace(
        blame,
        message=message("pair_stage.at_other_size", what=blame.message, **sizes),
        evidence=[*blame.evidence, {"equal_at": sizes["here"], "differs_at": sizes["there"]}],
    )


def _unseen(
    sides: tuple[Side, Side],
    aligned: Aligned,
    trained: Isolated,
    recordings: tuple[Recording, Recording],
    blames: Sequence[Blame],
) -> Iterator[Blame]:
    """What the forced runs do not show: how much is dropped at random, and what has no effect on ordinary values."""
    dropped = drop_blames(sides, aligned, recordings, trained.reference)
    yield from dropped
    causes, known = Causes(*sides, aligned, ()), _known([*blames, *dropped])
    short = trained.shorter
    yield from (
        causes.latent(trained.reference, known, short_floor("out", epsilon(short.port), 1.0))
        if short is not None
        else causes.latent(trained.reference, known)
    )


def _whole(bench: Side, port: Side, evaluated: Isolated, inputs: Sequence[Array]) -> Verified | None:
    """Outputs of the whole networks where every module agrees; noise is measured only where they are not close."""
    there, here = evaluated.reference.recording.outputs, port.forward(inputs)
    close = len(there) == len(here) and all(map(_close, here, there))
    return None if close else verify(bench, port, inputs, rounds=2)


def _close(first: Array, second: Array) -> bool:
    if first.shape != second.shape:
        return False
    # Formats that NumPy does not know have no arithmetic of their own.
    here, there = first.astype(np.float64), second.astype(np.float64)
    return bool(np.allclose(here, there, rtol=0, atol=_CLOSE * float(np.abs(there).max(initial=0))))


def _known(blames: Sequence[Blame]) -> set[tuple[str, Cause]]:
    return {(path, blame.cause) for blame in blames for path in (blame.module, *also_in(blame))}


def _recorded(sides: tuple[Side, Side], inputs: Sequence[Array], *, train: bool) -> tuple[Recording, Recording]:
    bench, port = sides
    return bench.answer(Record(inputs, train=train, send=True)), port.answer(Record(inputs, train=train, send=False))


def _trained(sides: tuple[Side, Side], inputs: Sequence[Array]) -> tuple[Sequence[Array], tuple[Recording, Recording]]:
    """Both sides in training; a single sample is given twice where statistics of one are refused."""
    try:
        return inputs, _recorded(sides, inputs, train=True)
    except SideTrouble as trouble:
        if trouble.message.id != "side.raised_running" or any(array.ndim < 1 or len(array) != 1 for array in inputs):
            raise
        several = [np.concatenate([array, _other_sample(array)]) for array in inputs]
        return several, _recorded(sides, several, train=True)


def _other_sample(array: Array) -> Array:
    """A sample of the same numbers in another order."""
    return np.roll(array.reshape(1, -1), 1, axis=1).reshape(array.shape)


def _causes(
    sides: tuple[Side, Side], aligned: Aligned, isolated: Isolated, recording: Recording, below: str
) -> list[Blame]:
    faults = [fault for fault in merged(isolated.faults, aligned.port) if is_below(fault.matched.port.path, below)]
    causes = Causes(*sides, aligned, tuple(isolated.faults), isolated.together)
    return [blame for fault in faults for blame in causes.of(fault, recording)]


def is_below(path: str, above: str) -> bool:
    """Whether a module is another or in it; all are in the whole network."""
    return not above or path == above or path.startswith(f"{above}.")


def other_sizes(inputs: Sequence[Array]) -> list[list[Array]]:
    """Smaller inputs, odd where these are even: padding faults may show on odd sizes only, or on even ones."""
    if not any(array.ndim >= 4 and "float" in array.dtype.name for array in inputs):
        return []
    return [[_resized(array) for array in inputs]]


def _resized(array: Array) -> Array:
    if array.ndim < 4 or "float" not in array.dtype.name:
        return array
    for axis in range(2, array.ndim):
        side = array.shape[axis]
        smaller = side * 5 // 8
        smaller += (smaller + side + 1) % 2
        if smaller >= _SMALLEST:
            array = np.take(array, range(smaller), axis)
        else:
            array = np.pad(array, [(0, int(place == axis)) for place in range(array.ndim)], mode="edge")
    return np.ascontiguousarray(array)


def _at_size(
    sides: tuple[Side, Side], aligned: Aligned, inputs: Sequence[Array], evaluated: Isolated
) -> tuple[Isolated, Recording] | None:
    """The forced run at another size; None where a network takes only the one."""
    try:
        recordings = _recorded(sides, inputs, train=False)
        return isolate(sides, aligned, recordings, inputs, evaluated.together), recordings[1]
    except SideTrouble as trouble:
        if trouble.message.id != "side.raised_running":
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
    text = message("pair_stage.forward", modules=forward.modules, checks=forward.checks, sizes=1 + len(forward.sizes))
    if forward.returned is not None:
        text = message("pair_stage.both", first=text, second=forward.returned)
    return StageResult(Stage.FORWARD, verdict, text, blames, message("pair_stage.forward_rules_out"))
