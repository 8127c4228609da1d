"""From numbers that are not finite back to the operator that made the first of them, and to where it began."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from trueline.watch.seen import Given, Part, Seen

# Magnitudes above this are no ordinary ones.
_LARGE_VALUE: Final = 1e4
_LONGEST: Final = 12


def origin(starts: Iterable[Seen], seen: Sequence[Seen]) -> Seen | None:
    """The first operator that made numbers which are not finite out of ones that are, on the way to ``starts``.

    Infinite numbers that someone wanted count as ordinary ones. Where no start is known, all that was seen is.
    """
    everything = [one for one in seen if one.bad and not one.deliberate]
    # Where the way back ends at something that nobody saw being made, it may begin again before that.
    first = _beginning(_reached(starts, seen)) or _beginning(everything) or everything
    return min(first, key=lambda one: one.index, default=None)


def _beginning(found: Iterable[Seen]) -> list[Seen]:
    return [seen for seen in found if not _blamed(seen) or any(given.part is not None for given in _blamed(seen))]


def _blamed(seen: Seen) -> list[Given]:
    return [given for given in seen.inputs if given.bad and not given.deliberate]


def _is_cut_off(seen: Seen) -> bool:
    """Whether a gradient comes from where nobody looks: a sum of gradients that the framework makes by itself."""
    unseen = any(given.maker is None and given.part is None for given in _blamed(seen))
    return seen.part is Part.BACKWARD and unseen


def _reached(starts: Iterable[Seen], seen: Sequence[Seen]) -> list[Seen]:
    found: dict[int, Seen] = {}
    waiting = [start for start in starts if start.bad]
    while waiting:
        one = waiting.pop()
        if one.index in found:
            continue
        found[one.index] = one
        # A gradient is made with what the forward operator took, which frameworks do not always show.
        taken = [*_blamed(one), *(_blamed(one.forward) if one.forward is not None else ())]
        waiting += [each.maker for each in taken if each.maker is not None and each.maker.bad]
        if one.forward is not None and one.forward.bad and not one.forward.deliberate:
            waiting.append(one.forward)
        if _is_cut_off(one):
            waiting += [each for each in seen[: one.index] if each.bad and each.part is Part.BACKWARD]
    return list(found.values())


def chain(seen: Seen) -> list[Seen]:
    """The operators before one through which magnitudes grew, the nearest first; empty where nothing was large."""
    found: list[Seen] = []
    at = seen.forward if seen.part is Part.BACKWARD and seen.forward is not None else seen
    while len(found) < _LONGEST:
        makers = [given.maker for given in at.inputs if given.maker is not None and not given.maker.deliberate]
        largest = max(makers, key=lambda maker: maker.largest, default=None)
        if largest is None or largest.largest < _LARGE_VALUE or largest in found:
            break
        found.append(largest)
        at = largest
    return found
