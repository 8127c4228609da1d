"""One running step count out of a log's epochs and steps."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from trueline.kernel.array import Array

NONE: Final = -1
_HALF: Final = 0.5

Counts = npt.NDArray[np.int64]


def running_steps(epochs: Counts, steps: Counts, totals: Counts) -> Counts:
    """A step for each row, NONE for a row that has none; counters that begin again with each epoch are added up."""
    stepped = steps != NONE
    if not len(steps) or stepped.mean() < _HALF:
        return _without_steps(epochs)
    if not stepped.all():
        all_rows = np.full(len(steps), NONE, np.int64)
        all_rows[stepped] = running_steps(epochs[stepped], steps[stepped], totals[stepped])
        return all_rows
    known = bool((epochs != NONE).any())
    if known:
        epochs = np.where(epochs == NONE, epochs[epochs != NONE].min(), epochs)
    if known and _restarts_with(epochs, steps, totals):
        base = 0 if epochs.min() == 0 else 1
        return _summed((epochs - base).clip(0), _per_epoch(epochs, steps, totals), steps)
    if not known:
        return _restarted(steps, totals)
    return steps


def _without_steps(epochs: Counts) -> Counts:
    """The epochs where each line is another one, else the lines' numbers."""
    if len(epochs) and (epochs != NONE).all() and (len(epochs) == 1 or (np.diff(epochs) != 0).all()):
        return epochs
    return np.arange(len(epochs), dtype=np.int64)


def _restarts_with(epochs: Counts, steps: Counts, totals: Counts) -> bool:
    """Whether steps are counted within their epoch."""
    later = np.diff(epochs) > 0
    if later.any():
        return bool((np.diff(steps)[later] <= 0).mean() >= _HALF)
    # One epoch alone: its own batches where they stand as 10/500 and could not have been reached before.
    return bool(epochs[0] > 1 and (totals != NONE).all() and (steps <= totals).all())


def _summed(before: Counts, length: int, steps: Counts) -> Counts:
    # Numbers of a hostile log must not wrap round.
    if int(before.max()) * length + int(steps.max()) >= 1 << 62:
        return np.arange(len(steps), dtype=np.int64)
    return before * length + steps


def _per_epoch(epochs: Counts, steps: Counts, totals: Counts) -> int:
    """How many steps an epoch has: as written (10/500), else by the furthest step seen."""
    if (totals != NONE).any():
        return int(max(totals.max(), steps.max()))
    return _length(steps, np.flatnonzero(np.diff(epochs) != 0))


def _length(steps: Counts, ends: Array) -> int:
    """The furthest step seen, and where steps count from 0, one stride more."""
    inside = np.delete(np.diff(steps), ends) if len(ends) else np.diff(steps)
    rising = inside[inside > 0]
    stride = int(np.median(rising)) if len(rising) else 1
    return int(steps.max()) + (stride if steps.min() < stride and not (steps.min() == stride == 1) else 0)


def _restarted(steps: Counts, totals: Counts) -> Counts:
    """Steps that begin again without an epoch being named, as a bar of batches does."""
    falls = np.flatnonzero(np.diff(steps) < 0)
    bars = bool((totals != NONE).all()) and bool((steps <= totals).all())
    if not len(falls):
        # One line for each epoch, each 1875/1875.
        if bars and len(steps) > 1 and (steps == totals).all():
            return _summed(np.arange(len(steps), dtype=np.int64), int(totals[0]), steps)
        return steps
    firsts = steps[falls + 1]
    # A training that was resumed goes back to some step in its middle, not to its beginning.
    if (firsts > steps[0]).any():
        return steps
    length = int(totals.max()) if bars else _length(steps, falls)
    rounds = np.zeros(len(steps), np.int64)
    rounds[falls + 1] = 1
    return _summed(np.cumsum(rounds), length, steps)


def in_order(steps: Counts) -> npt.NDArray[np.intp]:
    """Which rows make the curve, in rising order: of equal steps the first, but that of the last going over them."""
    segments = np.concatenate(([0], np.cumsum(np.diff(steps) < 0))) if len(steps) else steps
    order = np.lexsort((np.arange(len(steps)), -segments, steps))
    order = order[steps[order] != NONE]
    ordered = steps[order]
    return np.asarray(order[np.concatenate(([True], np.diff(ordered) != 0))] if len(order) else order)
