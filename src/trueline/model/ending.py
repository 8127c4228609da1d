"""How a run of several ranks came to an end that nobody wanted: each rank, and where it was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from trueline.model.fields import may, need, number
from trueline.model.json_value import JsonObject
from trueline.model.location import Location
from trueline.model.numbers import encode

_MAX_FRAMES = 64
_MAX_TEXT = 600


class Failure(StrEnum):
    """What happened: ranks wait for one another, one has raised an error, or one is gone without a word."""

    HANG = "hang"
    ERROR = "error"
    DIED = "died"


class Standing(StrEnum):
    """What a rank is doing at the end."""

    WAITS = "waits"
    RESTS = "rests"
    ENDED = "ended"
    ERROR = "error"
    DIED = "died"


@dataclass(frozen=True, slots=True)
class Frame:
    """A line on a stack, and the function that it is in."""

    function: str
    at: Location


@dataclass(frozen=True, slots=True)
class RankEnding:
    """One rank: the call of the framework's that it is in, the user's ``lines`` that led there, the innermost first."""

    rank: int
    standing: Standing
    step: int
    call: str | None = None
    lines: Sequence[Frame] = ()
    error: str | None = None

    @property
    def where(self) -> Location:
        """The innermost of the user's lines, with step and rank."""
        at = self.lines[0].at if self.lines else Location()
        return Location(at.file, at.line, step=self.step, rank=self.rank)

    def to_json(self) -> JsonObject:
        """The JSON shape."""
        return {
            "rank": self.rank,
            "standing": self.standing.value,
            "step": self.step,
            "call": self.call,
            "lines": [{"function": frame.function, **frame.at.line_json()} for frame in self.lines[:_MAX_FRAMES]],
            "error": self.error[:_MAX_TEXT] if self.error is not None else None,
        }

    @classmethod
    def from_json(cls, found: object) -> Self:
        """Read the JSON shape; a ValueError says what is wrong."""
        lines = may(found, "lines", list) or []
        frames = [Frame(need(line, "function", str), Location.from_line_json(line)) for line in lines[:_MAX_FRAMES]]
        return cls(
            need(found, "rank", int),
            Standing(need(found, "standing", str)),
            need(found, "step", int),
            may(found, "call", str),
            frames,
            may(found, "error", str),
        )


@dataclass(frozen=True, slots=True)
class Ending:
    """What happened, at which rank it is to be put right, and how all known ranks stand."""

    failure: Failure
    rank: int
    seconds: float
    ranks: Sequence[RankEnding]

    @property
    def cause(self) -> RankEnding:
        """The rank at which it is to be put right."""
        return next((each for each in self.ranks if each.rank == self.rank), RankEnding(self.rank, Standing.DIED, 0))

    def to_json(self) -> JsonObject:
        """The JSON shape."""
        return {
            "failure": self.failure.value,
            "rank": self.rank,
            "seconds": encode(self.seconds),
            "ranks": [each.to_json() for each in self.ranks],
        }

    @classmethod
    def from_json(cls, found: object) -> Self:
        """Read the JSON shape; a ValueError says what is wrong."""
        ranks = [RankEnding.from_json(each) for each in may(found, "ranks", list) or []]
        return cls(Failure(need(found, "failure", str)), need(found, "rank", int), number(found, "seconds"), ranks)
