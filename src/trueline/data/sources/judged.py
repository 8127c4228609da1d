"""What is wrong with single samples, counted once, however often they are read."""

from __future__ import annotations

from collections.abc import Mapping

from trueline.data.source import Column, Picture, Skipped


class Judged:
    """Remembers how far each field was looked at: samples are read in order, and from the beginning again."""

    def __init__(self, skipped: Skipped) -> None:
        self._skipped = skipped
        self._until: dict[str, int] = {}

    def look(self, field: str, index: int, reason: str | None, place: str) -> None:
        """One field of one sample, and what is wrong with it, if anything."""
        if index < self._until.get(field, 0):
            return
        self._until[field] = index + 1
        if reason is not None:
            self._skipped.add(reason, place)

    def look_at_pictures(self, start: int, columns: Mapping[str, Column]) -> None:
        """All pictures of a chunk."""
        for name, column in columns.items():
            if isinstance(column, list):
                for place, picture in enumerate(column):
                    if isinstance(picture, Picture):
                        self.look(name, start + place, picture.broken, f"{start + place}: {picture.place}")
