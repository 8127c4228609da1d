"""The weights that ranks begin with."""

from __future__ import annotations

from collections.abc import Iterator

from trueline.checks.evidence.exchanges import hands_on_what_passes_through
from trueline.checks.evidence.weights import weight_looks
from trueline.formats.run_folder.reader import Run


def apart_at_start(run: Run) -> tuple[str, int, int] | None:
    """A parameter that ranks begin with different values of, the rank, and how many there are.

    None where some are the same: then those that differ may be each rank's own.
    """
    for number, apart, alike in _beginnings(run):
        if apart and not alike:
            return apart[0], number, len(apart)
    return None


def hold_parts(run: Run) -> bool:
    """Whether ranks hold parts of one model, or weights of their own beside common ones."""
    return hands_on_what_passes_through(run) or any(apart and alike for _, apart, alike in _beginnings(run))


def _beginnings(run: Run) -> Iterator[tuple[int, list[str], int]]:
    """Of each rank but the first: the trained parameters that begin otherwise than there, and how many begin alike."""
    if len(run.ranks) < 2 or _sharded(run):
        return
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
        yield number, apart, alike


def _sharded(run: Run) -> bool:
    return any(look.sharded for number in run.ranks for look in weight_looks(run.rank(number))[:1])
