"""What a repeated run has logged of its randomness."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from trueline.model.json_value import Json, JsonObject
from trueline.model.location import Location

_MAX_BYTES: Final = 1 << 24


@dataclass(frozen=True, slots=True)
class LogEntry:
    """A seed, a fresh generator, a draw, a loader …, by its ``kind``, with the user's line."""

    kind: str
    line: Location | None
    fields: JsonObject

    def __getitem__(self, name: str) -> Any:
        return self.fields.get(name)


@dataclass(frozen=True, slots=True)
class RandomnessLog:
    """All of it, in order."""

    entries: tuple[LogEntry, ...] = ()

    def of(self, kind: str, **wanted: Json) -> Iterator[LogEntry]:
        """The entries of a kind, with these fields."""
        for entry in self.entries:
            if entry.kind == kind and all(entry[name] == value for name, value in wanted.items()):
                yield entry

    def first(self, kind: str, **wanted: Json) -> LogEntry | None:
        """The first of them."""
        return next(self.of(kind, **wanted), None)

    def seeds(self) -> dict[str, list[Json]]:
        """The seeds that the script has chosen, by line."""
        found: dict[str, list[Json]] = {}
        for entry in self.of("seed"):
            found.setdefault(entry["site"], []).append(entry["value"])
        return found


def read_log(path: Path) -> RandomnessLog:
    """Empty where nothing was logged."""
    try:
        with path.open("rb") as file:
            lines = file.read(_MAX_BYTES).splitlines()
    except OSError:
        return RandomnessLog()
    return RandomnessLog(tuple(entry for line in lines if (entry := _entry(line)) is not None))


def _entry(line: bytes) -> LogEntry | None:
    try:
        found = json.loads(line)
        place = Location(found["file"], found["line"]) if found.get("file") else None
        return LogEntry(found["told"], place, {k: v for k, v in found.items() if k not in ("told", "file", "line")})
    except (ValueError, KeyError, TypeError, AttributeError):
        # Cut off by the end of the process.
        return None
