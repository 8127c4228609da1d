"""A hit as a Finding: what was measured against which limit, what that means and what to do."""

from __future__ import annotations

from typing import Final

from trueline.model.finding import Certainty, Conclusion, Finding
from trueline.model.location import Location
from trueline.model.message import Message
from trueline.watch.points.hit import PointHit

_SURE: Final = frozenset(("WO", "GE", "TO"))
_UNSURE: Final = frozenset(("WCS", "TU"))
# Statistics that a sentence names by a word of its own.
_WORDS: Final = frozenset(("absmean", "max", "min", "mean", "zeros"))


def finding(hit: PointHit) -> Finding:
    """A Finding of the family wp: ``wp.wcl``."""
    id = hit.id.lower()
    certainty = Certainty.CERTAIN if hit.id in _SURE else Certainty.LIKELY
    return Finding(
        f"wp.{id}",
        Conclusion.FOUND,
        Message("points.ar_relu" if hit.id == "AR" and "zeros" in hit.measured else f"points.{id}", _params(hit)),
        Certainty.POSSIBLE if hit.id in _UNSURE else certainty,
        Message(f"points.advice_{id}"),
        where=Location(module=hit.where or None, step=hit.step),
        measured=dict(hit.measured),
        limit=dict(hit.limit),
    )


def _params(hit: PointHit) -> dict[str, object]:
    first = next(iter(hit.measured))
    # The root of a network has no path.
    named = hit.where or Message("points.whole")
    shown: dict[str, object] = {"where": named, "step": hit.step, **hit.measured}
    shown |= {f"limit_{name}": one for name, one in hit.limit.items()}
    if first in _WORDS:
        shown |= {"statistic": Message(f"points.stat_{first}"), "value": hit.measured[first], "limit": hit.limit[first]}
    if hit.id == "TR":
        side = "below" if "below" in hit.limit else "above"
        shown |= {"side": Message(f"points.share_{side}"), "limit": hit.limit[side]}
    if hit.id == "AR":
        shown["kind"] = hit.kind
        shown["bound"] = next((hit.limit[one] for one in ("tanh", "sigmoid") if one in hit.limit), 0.0)
    return shown
