"""The numbers of an array in a file, however it lies there."""

from __future__ import annotations

from trueline.compare.measure import measurable
from trueline.formats.stored import Stored
from trueline.kernel import UnsupportedDtype, fingerprint, summarise
from trueline.model.summary import Summary


def numbers_of(stored: Stored) -> Summary | None:
    """Its Summary, with no more memory than a piece of it; None for a type that is not measured."""
    elements = measurable(stored.elements())
    try:
        return summarise(elements)
    except UnsupportedDtype:
        return None


def mark_of(stored: Stored) -> int | None:
    """The fingerprint of an array that lies in one piece: equal elements have equal ones."""
    if stored.member is not None or len(stored.segments) != 1:
        return None
    try:
        return fingerprint(stored.array())
    except UnsupportedDtype:
        return None
