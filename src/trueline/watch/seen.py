"""Operators of one step as they were seen: what each took, what each gave, and which one made what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from trueline.model.location import Location
from trueline.model.summary import Summary


class Part(StrEnum):
    """The part of a step in which something goes wrong first."""

    FORWARD = "forward"
    BACKWARD = "backward"
    UPDATE = "update"
    DATA = "data"
    WEIGHTS = "weights"


class Updating(StrEnum):
    """Whether gradients are being made, or made use of, and by whom; ahead: after it, in a loop without a loader."""

    NOT = "not"
    PULLING = "pulling"
    BY_HAND = "by_hand"
    BY_OPTIMIZER = "by_optimizer"
    AFTER = "after"
    AHEAD = "ahead"


PARTS: Final = {
    Updating.NOT: Part.FORWARD,
    Updating.PULLING: Part.BACKWARD,
    Updating.BY_HAND: Part.UPDATE,
    Updating.BY_OPTIMIZER: Part.UPDATE,
    # Unless weights are written: scripts without a loader make their next batch now.
    Updating.AFTER: Part.FORWARD,
    Updating.AHEAD: Part.FORWARD,
}


@dataclass(frozen=True, slots=True)
class Given:
    """One tensor that an operator took: the operator that made it, or the name of what it is, where it was not made.

    ``constant``: it was made by the user's code, not by the step. ``bad``: there are numbers in it that are not finite,
    or beyond the limit.
    """

    dtype: str
    summary: Summary | None = None
    maker: Seen | None = None
    name: str = ""
    part: Part | None = None
    constant: bool = False
    bad: bool = False

    @property
    def deliberate(self) -> bool:
        """Whether all of these are infinite because someone wanted them to be."""
        if self.maker is not None:
            return self.maker.deliberate
        return self.constant and self.summary is not None and self.summary.non_finite > self.summary.nan == 0


@dataclass(slots=True)
class Seen:
    """One operator call of the step.

    ``own``: in a backward pass, or in an update, that the user has written; ``ahead``: for the step to come.
    """

    index: int
    name: str
    kind: str
    part: Part
    module: str
    line: Location | None
    inputs: Sequence[Given]
    outputs: Sequence[Summary]
    dtypes: Sequence[str]
    settings: Mapping[str, object]
    stack: Sequence[Location] = ()
    forward: Seen | None = None
    own: bool = False
    ahead: bool = False
    deliberate: bool = False
    bad: bool = False

    @property
    def nan(self) -> bool:
        """Whether it gave a NaN."""
        return any(output.nan for output in self.outputs)

    @property
    def largest(self) -> float:
        """The largest magnitude among the finite numbers that it gave."""
        return max((max(abs(output.minimum), abs(output.maximum)) for output in self.outputs), default=0.0)
