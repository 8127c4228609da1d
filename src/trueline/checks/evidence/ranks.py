"""The weights that ranks begin with."""

from __future__ import annotations

from trueline.checks.evidence.weights import weight_looks
from trueline.formats.run_folder.reader import Run


def apart_at_start(run: Run) -> tuple[str, int, int] | None:
    """A parameter that ranks begin with different values of, the rank, and how many there are.

    None where some are the same: then those that differ may be each rank's own.
    """
    if len(run.ranks) < 2 or _sharded(run):
        return None
    first = {param.name: param for param in run.rank(run.ranks[0]).params if not param.buffer}
    for number in run.ranks[1:]:
        apart, alike = [], 0
        for param in run.rank(number).params:
            own = first.get(param.name)
            if own is None or own.initial is None or param.initial is None or not own.trainable:
                continue
            if own.shape != param.shape:
                alike += 1
            elif own.initial.fingerprint != param.initial.fingerprint:
                apart.append(param.name)
            elif own.initial.minimum != own.initial.maximum:
                alike += 1
        if apart and not alike:
            return apart[0], number, len(apart)
    return None


def _sharded(run: Run) -> bool:
    return any(look.sharded for number in run.ranks for look in weight_looks(run.rank(number))[:1])
