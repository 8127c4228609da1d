"""The forced run once more with values far out: what code between modules does there and nowhere else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from trueline.adapters.guest.trouble import SideTrouble
from trueline.kernel.array import Array
from trueline.pair.aligning.aligned import Aligned
from trueline.pair.aligning.matching import match_calls
from trueline.pair.blame import Blame
from trueline.pair.forward.causes import Causes
from trueline.pair.forward.faults import Fault, faults_of, merged
from trueline.pair.forward.forced import force, reference_of
from trueline.pair.forward.isolating import Isolated, beyond, coarse_of
from trueline.pair.forward.precision import allowed
from trueline.pair.questions.recording import Record, Recording
from trueline.pair.sides.side import Side

# Beyond the bounds that activations have; what layers give out lies near one.
_OUTPUT_FACTOR: Final = 8.0
# Formats that hold no values as large as float32 does.
_NARROW: Final = ("float16",)


def far_causes(
    sides: tuple[Side, Side], aligned: Aligned, evaluated: Isolated, recording: Recording, inputs: Sequence[Array]
) -> list[Blame]:
    """What only values far out show of blocks that agree on ordinary ones; ``recording`` is the port's.

    Only what is confirmed counts: not every network is made for such values.
    """
    try:
        faults = _faults(sides, aligned, evaluated, recording, inputs)
        causes = Causes(*sides, aligned, tuple(faults), reshaped=evaluated.reshaped)
        blames = [blame for fault in merged(faults, aligned.port) for blame in causes.of(fault, recording)]
    except SideTrouble as trouble:
        if trouble.message.id != "side.raised_running":
            raise
        return []
    return [replace(blame, latent=True) for blame in blames if blame.confirmed]


def _faults(
    sides: tuple[Side, Side], aligned: Aligned, evaluated: Isolated, recording: Recording, inputs: Sequence[Array]
) -> list[Fault]:
    bench, port = sides
    far = bench.answer(Record(inputs, train=False, send=True, far=_OUTPUT_FACTOR))
    matched = match_calls(aligned, far, recording, without=evaluated.together)
    reference = reference_of(bench, far, matched, inputs)
    checked = allowed(aligned, force(port, aligned, reference, inputs).settled(bench, inputs), evaluated.shorter)
    known = {fault.called for fault in evaluated.faults if fault.between}
    # What a layer gives out has passed the modules that it holds: moved, it is nothing that the port's code would get.
    known |= {call.parent.called for call in checked if call.parent is not None and call.matched.own is not None}
    # A layer gives what it gives: only what is made of it was moved.
    between = [
        fault
        for fault in faults_of(checked, reference)
        if fault.between and fault.called not in known and _is_finite(fault)
    ]
    if evaluated.shorter is not None and evaluated.shorter.port in _NARROW:
        # Values far out leave the range of such a format, whatever the code does.
        between = [fault for fault in between if all(check.comparable for check in fault.checks)]
    return list(beyond(coarse_of(sides, aligned, inputs), aligned, between))


def _is_finite(fault: Fault) -> bool:
    """Whether the benchmark's values there are numbers, so that they say what is to come out."""
    places = [(fault.matched, "in"), (fault.at, "in") if fault.at is not None else (fault.matched, "out")]
    values = (
        array
        for matched, kind in places
        for array in fault.reference.all(matched.bench.path, matched.bench.call, kind).values()
    )
    return all(array.dtype.kind in "biu" or bool(np.isfinite(array.astype(np.float64)).all()) for array in values)
