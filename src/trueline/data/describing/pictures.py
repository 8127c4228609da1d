"""The pictures of a field: how large, in which mode, which of them are unlike most, and which are broken."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from trueline.data.described import Pictures
from trueline.data.describing.numbers import Indexes, NumberGatherer, Places
from trueline.data.describing.wanted import NAMED_SAMPLES
from trueline.data.source import Picture

_KINDS: Final = 1000
# From this share on a mode or a size is the usual one, and pictures of another are unlike most.
_USUAL: Final = 0.9


class PictureGatherer:
    """Pictures that go by; of their pixels the numbers are gathered with those of the field."""

    def __init__(self) -> None:
        self._sizes: dict[str, Places] = {}
        self._modes: dict[str, Places] = {}
        self._broken: list[str] = []
        self._broken_count = 0

    def add(self, pictures: Sequence[Picture], index: Indexes, numbers: NumberGatherer) -> None:
        """More of them."""
        for place, picture in enumerate(pictures):
            if picture.broken is not None:
                self._broken_count += 1
                self._broken += [picture.place][: NAMED_SAMPLES - len(self._broken)]
                continue
            size = f"{picture.width}x{picture.height}"
            if size in self._sizes or len(self._sizes) < _KINDS:
                self._sizes.setdefault(size, Places()).add(1, index[place : place + 1])
            self._modes.setdefault(picture.mode, Places()).add(1, index[place : place + 1])
            if picture.pixels is not None and picture.pixels.size:
                numbers.add(picture.pixels[None], index[place : place + 1])

    def told(self) -> Pictures | None:
        """All of it, where there were pictures."""
        if not self._modes and not self._broken_count:
            return None
        return Pictures(
            _counts(self._sizes),
            _counts(self._modes),
            _odd(self._modes),
            self._broken_count,
            self._broken,
            odd_sizes=_odd(self._sizes),
        )


def _counts(kinds: Mapping[str, Places]) -> dict[str, int]:
    return dict(Counter({kind: places.count for kind, places in kinds.items()}).most_common())


def _odd(kinds: Mapping[str, Places]) -> list[int]:
    """The first that are not of the usual kind, where there is one."""
    counts = Counter({kind: places.count for kind, places in kinds.items()})
    if not counts or counts.most_common(1)[0][1] < _USUAL * counts.total():
        return []
    usual = counts.most_common(1)[0][0]
    return sorted(place for kind, places in kinds.items() if kind != usual for place in places.first)[:NAMED_SAMPLES]
