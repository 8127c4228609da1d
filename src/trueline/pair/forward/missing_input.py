"""A call that is not given all that the benchmark's is: a mask, a table, a state that the code around it left out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from trueline.kernel.array import Array
from trueline.pair.attributes.reference import Judged, Reference, judged
from trueline.pair.blame import Cause
from trueline.pair.forward.faults import Fault
from trueline.pair.questions.module_run import RunModule
from trueline.pair.questions.recording import Recording
from trueline.pair.sides.side import Side

# What is added so that a softmax leaves a place out.
_SHUT: Final = -50.0


@dataclass(frozen=True, slots=True)
class Lacking:
    """The first input that is left out: its place, its shape, what it does, and how near the module comes with it."""

    cause: Cause
    place: int
    shape: tuple[int, ...]
    effect: float
    left: Judged


def lacking_input(port: Side, fault: Fault, reference: Reference, recording: Recording) -> Lacking | None:
    """What the port leaves out where its own module makes use of it; ``recording`` is the port's.

    The port's inputs must be the first of the benchmark's.
    """
    given = [recording.shapes[place][1] for place in fault.matched.port.ins]
    count = len(given)
    if count >= len(reference.ins) or given != [array.shape for array in reference.ins[:count]]:
        return None
    path, call = fault.matched.port.path, reference.call
    with_all, without = (
        port.answer(RunModule(path, ins, call=call, train=reference.train))
        for ins in (reference.ins, reference.ins[:count])
    )
    if with_all.failed:
        return None
    forward = replace(reference, gin=(), grads={}, after={})
    effect = judged(without, replace(forward, outs=with_all.outputs))
    if effect.within:
        return None
    first = reference.ins[count]
    cause = Cause.MASK if _is_mask(first) else Cause.OTHER_INPUT
    return Lacking(cause, count, first.shape, effect.level, judged(with_all, forward))


def _is_mask(array: Array) -> bool:
    """Truth values, or zeros and one other value that shuts a place out."""
    if array.dtype.kind == "b":
        return True
    found = np.unique(array)
    return len(found) == 2 and float(found[1]) == 0.0 and float(found[0]) <= _SHUT
