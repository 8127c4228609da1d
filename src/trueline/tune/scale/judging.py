"""Whether a script's loss scale suits its gradients."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from trueline.tune.scale.search import Searched
from trueline.tune.scale.seen import Seen
from trueline.tune.scale.shares import Row, nearest_power, row_of

# Updates lost beyond those a scaler needs to find its scale; gradient elements lost beyond those the best scale loses.
MOST_LOST: Final = 0.05
MOST_VANISHED: Final = 0.01


class Verdict(StrEnum):
    """How it is."""

    HIGH = "high"
    LOW = "low"
    MISSING = "missing"
    FINE = "fine"
    NOT_NEEDED = "not_needed"
    ASSUMED = "assumed"
    NO_HALF = "no_half"
    BRAIN = "brain"
    UNSEEN = "unseen"
    HOPELESS = "hopeless"
    ZERO = "zero"


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdict, with what was measured: updates lost, and elements that vanish at the script's scale."""

    verdict: Verdict
    lost: float
    vanished: float
    now: Row | None
    best: Row | None


def judge(found: Searched) -> Judged:
    """What is to be said of a search."""
    own, suggestion = found.own, found.suggestion
    if not own.looked:
        return Judged(Verdict.UNSEEN, own.lost_share, 0.0, None, None)
    if not own.half and not found.assume_half:
        return Judged(Verdict.BRAIN if own.brain else Verdict.NO_HALF, own.lost_share, 0.0, None, None)
    if suggestion is None:
        return Judged(Verdict.HOPELESS, own.lost_share, 0.0, None, None)
    finest = found.finest
    if not finest.sizes.nonzero and not any(update.lost for update in finest.updates):
        return Judged(Verdict.ZERO, own.lost_share, 0.0, None, None)
    now = row_of(nearest_power(own.scale), finest.updates, finest.sizes)
    best = row_of(suggestion.power, finest.updates, finest.sizes)
    vanished = max(now.underflow - best.underflow, _more_zeros(own, finest, now.power), 0.0)
    return Judged(_verdict(found, vanished), own.lost_share, vanished, now, best)


def _more_zeros(own: Seen, finest: Seen, power: int) -> float:
    """What has vanished in the run itself is not among its sizes: it shows in how many more are zero.

    Runs that are not seeded differ in that too: it counts only where others have come close to vanishing.
    """
    close = row_of(power, own.updates, own.sizes).subnormal > MOST_VANISHED
    return own.sizes.zero_share - finest.sizes.zero_share if close or not own.sizes.nonzero else 0.0


def _verdict(found: Searched, vanished: float) -> Verdict:
    if not found.own.half:
        return Verdict.ASSUMED
    if found.own.lost_share > MOST_LOST:
        return Verdict.HIGH
    scaler = found.own.scaler
    if vanished > MOST_VANISHED:
        return Verdict.LOW if scaler is not None else Verdict.MISSING
    return Verdict.FINE if scaler is not None else Verdict.NOT_NEEDED
