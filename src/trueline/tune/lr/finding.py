"""hp.01: whether the script's own learning rate lies where the training gets better."""

from __future__ import annotations

from typing import Final

from trueline.model.finding import Certainty, Conclusion, Finding
from trueline.model.message import Message, message
from trueline.tune.lr.bounds import MIN_POINTS
from trueline.tune.lr.tested import LOSS, Tested
from trueline.tune.rates import short

CODE: Final = "hp.01"
# The bounds of a test are no sharper than this: only what lies further outside is a problem.
ABOVE: Final = 3.0
BELOW: Final = 10.0


def what(tested: Tested) -> Message:
    """What the bounds were read from, in words."""
    return message("tune_lr.loss") if tested.metric == LOSS else message("tune_lr.accuracy", name=tested.metric)


def why_not(tested: Tested) -> Message | None:
    """Why the curve says nothing; None where it does."""
    if not tested.follows:
        return message("tune_lr.does_not_follow")
    if len(tested.points) < MIN_POINTS:
        return message("tune_lr.too_short", updates=len(tested.points), needed=MIN_POINTS)
    if not tested.bounds.gained:
        shown = {"what": what(tested), "low": short(tested.low), "high": short(_furthest(tested))}
        return message("tune_lr.never_falls", **shown)
    return None


def _furthest(tested: Tested) -> float:
    return tested.points[-1].rate if tested.points else tested.high


def finding(tested: Tested) -> Finding:
    """The finding; not decided, with the reason, where the test cannot say."""
    reason = why_not(tested)
    if reason is not None:
        return _finding(tested, Conclusion.OPEN, reason)
    if tested.own is None:
        return _finding(tested, Conclusion.OPEN, message("tune_lr.no_own"))
    return _finding(tested, *_placed(tested, tested.own))


def _placed(tested: Tested, own: float) -> tuple[Conclusion, Message]:
    """Where the script's own rate lies."""
    lower, upper = tested.bounds.lower, tested.bounds.upper
    if (upper is None and own > _furthest(tested)) or (lower is None and own < tested.low):
        return Conclusion.OPEN, message("tune_lr.own_not_tried", own=own)
    if upper is not None and own > upper:
        if own <= ABOVE * upper:
            return Conclusion.SUSPECT, message("tune_lr.near_upper", own=own, bound=short(upper))
        if tested.own_first * ABOVE < own:
            return Conclusion.SUSPECT, message("tune_lr.warmed_up", own=own, bound=short(upper))
        return Conclusion.FOUND, message("tune_lr.too_high", own=own, bound=short(upper))
    if lower is not None and own < lower:
        if own * BELOW >= lower:
            return Conclusion.SUSPECT, message("tune_lr.near_lower", own=own, bound=short(lower))
        return Conclusion.FOUND, message("tune_lr.too_low", own=own, bound=short(lower))
    return Conclusion.NONE, message("tune_lr.within", own=own)


def _finding(tested: Tested, conclusion: Conclusion, said: Message) -> Finding:
    bounds = tested.bounds
    advice = None
    if conclusion is Conclusion.FOUND and bounds.suggestion is not None:
        advice = message("tune_lr.advice", suggestion=short(bounds.suggestion))
    if why_not(tested) is not None:
        return Finding(CODE, conclusion, said, Certainty.LIKELY)
    limits = {name: short(one) for name, one in (("lower", bounds.lower), ("upper", bounds.upper)) if one is not None}
    return Finding(CODE, conclusion, said, Certainty.LIKELY, advice, measured=tested.own, limit=limits or None)
