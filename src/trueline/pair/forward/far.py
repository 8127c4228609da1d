"""The forced run once more with values far out: what code between modules does there and nowhere else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from trueline.adapters.guest.trouble import SideTrouble
from trueline.kernel.array import Array
from trueline.pair.aligning.aligned import Aligned
from trueline.pair.aligning.matching import match_calls
from trueline.pair.blame import Blame
from trueline.pair.forward.causes import Causes
from trueline.pair.forward.faults import Fault, faults_of, merged
from trueline.pair.forward.forced import force, reference_of
from trueline.pair.forward.isolating import Isolated, beyond, coarse_of
from trueline.pair.forward.shorter import allowed
from trueline.pair.questions.recording import Record, Recording
from trueline.pair.sides.side import Side

# Beyond the bounds that activations have; what layers give out lies near one.
_FAR: Final = 8.0


def far_causes(
    sides: tuple[Side, Side], aligned: Aligned, evaluated: Isolated, recording: Recording, inputs: Sequence[Array]
) -> list[Blame]:
    """What only values far out show of blocks that agree on ordinary ones; ``recording`` is the port's.

    Only what is confirmed counts: not every network is made for such values.
    """
    try:
        faults = _faults(sides, aligned, evaluated, recording, inputs)
        causes = Causes(*sides, aligned, tuple(faults))
        found = [blame for one in merged(faults, aligned.port) for blame in causes.of(one, recording)]
    except SideTrouble as trouble:
        if trouble.message.id != "side.raised_running":
            raise
        return []
    return [replace(one, latent=True) for one in found if one.confirmed]


def _faults(
    sides: tuple[Side, Side], aligned: Aligned, evaluated: Isolated, recording: Recording, inputs: Sequence[Array]
) -> list[Fault]:
    bench, port = sides
    far = bench.answer(Record(inputs, train=False, send=True, far=_FAR))
    matched = match_calls(aligned, far, recording, without=evaluated.together)
    reference = reference_of(bench, far, matched, inputs)
    checked = allowed(force(port, aligned, reference, inputs), evaluated.shorter)
    known = {one.matched.port.path for one in evaluated.faults if one.between}
    # A layer gives what it gives: only what is made of it was moved.
    between = [one for one in faults_of(checked, reference) if one.between and one.matched.port.path not in known]
    return list(beyond(coarse_of(sides, aligned, inputs), aligned, between))
