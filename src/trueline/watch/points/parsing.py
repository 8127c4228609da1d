"""From what a user writes to a watchpoint: ``WCL``, ``WCL:0.1``, ``TR:-1..1:0.9``, ``WL:max=100,absmean=5``."""

from __future__ import annotations

import math
import re
from typing import Final

from trueline.formats.printable import printable
from trueline.model.trouble import BadUsage
from trueline.watch.points.point import IDS, SPECS, Limit, Point, Spec, Unit, point

_NUMBER: Final = r"[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?"
_VALUE: Final = re.compile(rf"({_NUMBER})(%?)")
_RANGE: Final = re.compile(rf"((?:{_NUMBER})?)\.\.((?:{_NUMBER})?)")
_LONGEST: Final = 100


def parse(text: str) -> Point:
    """A watchpoint; limits stand in their places or under their names, and a BadUsage says what cannot be meant."""
    shown = printable(text, _LONGEST) or '""'
    id, mark, rest = text.strip().partition(":")
    spec = SPECS.get(id.strip().upper())
    if spec is None or len(text) > _LONGEST:
        raise BadUsage("points.no_such", text=shown, ids=_ids())
    limits: dict[str, float] = {}
    fields = [one.strip() for one in re.split("[:,]", rest)] if mark else []
    for place, field in enumerate(fields):
        named, equals, value = field.partition("=")
        found = spec.limit(named.strip().lower()) if equals else _in_place(spec, place)
        given = _read(found, value.strip() if equals else field) if found is not None else None
        if given is None or given.keys() & limits.keys():
            part = printable(field) or '""'
            raise BadUsage("points.bad_limit", text=shown, part=part, id=spec.id, takes=_takes(spec), ids=_ids())
        limits |= given
    lacking = spec.limit("range") is not None and "low" not in limits
    if lacking or (spec.one_of and not any(one in limits for one in spec.one_of)):
        raise BadUsage("points.lacks_limit", text=shown, id=spec.id, takes=_takes(spec), ids=_ids())
    return point(spec.id, **limits)


def _in_place(spec: Spec, place: int) -> Limit | None:
    return spec.limits[place] if place < len(spec.limits) else None


def _read(limit: Limit, text: str) -> dict[str, float] | None:
    """The limit that is meant; None where the text is none of its kind."""
    if limit.unit is Unit.RANGE:
        ends = _RANGE.fullmatch(text)
        if ends is None:
            return None
        low, high = float(ends[1] or "-inf"), float(ends[2] or "inf")
        return {"low": low, "high": high} if low <= high else None
    found = _VALUE.fullmatch(text)
    if found is None or (found[2] and limit.unit is not Unit.SHARE):
        return None
    value = float(found[1]) / (100 if found[2] else 1)
    fits = {
        Unit.VALUE: math.isfinite(value),
        Unit.SHARE: 0 <= value <= 1,
        Unit.SIZE: 0 <= value < math.inf,
        Unit.COUNT: 0 <= value < 1e9 and value == int(value),
    }
    return {limit.name: value} if fits[limit.unit] else None


def _takes(spec: Spec) -> str:
    return (
        ", ".join(f"{limit.name}=a..b" if limit.unit is Unit.RANGE else f"{limit.name}=…" for limit in spec.limits)
        or "–"
    )


def _ids() -> str:
    return " ".join(IDS)
