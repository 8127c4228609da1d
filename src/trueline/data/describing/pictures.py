"""The pictures of a field: how large, in which mode, which of them are unlike most, and which are broken."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from trueline.data.described import Pictures
from trueline.data.describing.numbers import Indexes, NumberGatherer, Places
from trueline.data.describing.wanted import FIRST
from trueline.data.source import Picture

_KINDS: Final = 1000
# From this share on a mode is the usual one, and pictures of another are unlike most.
_USUAL: Final = 0.9


class PictureGatherer:
    """Pictures that go by; of their pixels the numbers are gathered with those of the field."""

    def __init__(self) -> None:
        self._sizes: Counter[str] = Counter()
        self._modes: dict[str, Places] = {}
        self._broken: list[str] = []
        self._broken_count = 0

    def add(self, pictures: Sequence[Picture], index: Indexes, numbers: NumberGatherer) -> None:
        """More of them."""
        for place, one in enumerate(pictures):
            if one.broken is not None:
                self._broken_count += 1
                self._broken += [one.place][: FIRST - len(self._broken)]
                continue
            size = f"{one.width}x{one.height}"
            if size in self._sizes or len(self._sizes) < _KINDS:
                self._sizes[size] += 1
            self._modes.setdefault(one.mode, Places()).add(1, index[place : place + 1])
            if one.pixels is not None and one.pixels.size:
                numbers.add(one.pixels[None], index[place : place + 1])

    def told(self) -> Pictures | None:
        """All of it, where there were pictures."""
        if not self._modes and not self._broken_count:
            return None
        modes = Counter({mode: one.count for mode, one in self._modes.items()})
        odd: list[int] = []
        if modes and modes.most_common(1)[0][1] >= _USUAL * modes.total():
            usual = modes.most_common(1)[0][0]
            odd = sorted(place for mode, one in self._modes.items() if mode != usual for place in one.first)[:FIRST]
        sizes = dict(self._sizes.most_common())
        return Pictures(sizes, dict(modes.most_common()), odd, self._broken_count, self._broken)
