"""Which loader is which, in a run and in its replay."""

from __future__ import annotations

from typing import Final

from trueline.adapters.identity import Reference, reference
from trueline.adapters.nouns import Loader

# Loaders of which the same is known are this far apart.
_ALIKE: Final = 1000
# The number of loaders whose iteration was not seen to begin.
UNKNOWN: Final = -1


class LoaderNumbers:
    """Numbers by what is known of loaders; of several alike that are alive at a time, in the order of their use."""

    def __init__(self) -> None:
        self._alike: dict[int, list[Reference]] = {}

    def of(self, loader: Loader, known: int | None) -> int:
        """The number of a loader; ``known`` is the same for all of which the same is known, None where nothing is."""
        if known is None:
            return UNKNOWN
        there = self._alike.setdefault(known, [])
        places = [known() for known in there]
        found = next((place for place, known in enumerate(places) if known is loader), None)
        if found is None:
            found = next((place for place, known in enumerate(places) if known is None), len(places))
            there[found : found + 1] = [reference(loader)]
        return found * _ALIKE + known
