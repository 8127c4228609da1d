"""What a watch knows of a run, whatever frameworks are in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from trueline.record.launch import ScriptEnded
from trueline.watch.hit import Hit
from trueline.watch.points import PointHit, Points

# Steps whose norms are remembered, to tell a training that diverges from one that breaks.
HISTORY: Final = 32
# Steps skipped by loss scaling are normal in small doses.
_SKIPPED_SHARE: Final = 0.25
_LEAST_STEPS: Final = 20


class WatchEnded(ScriptEnded):
    """Ends the user's script: what it was watched for has been found, or has to be looked for in another run."""


@dataclass(slots=True)
class Signs:
    """What was not finite, or beyond the limit, at the end of a step."""

    loss: bool = False
    gradients: list[str] = field(default_factory=list)
    weights: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return self.loss or bool(self.gradients) or bool(self.weights) or bool(self.outputs)

    def alike(self, other: Signs) -> bool:
        """Whether both speak of the same trouble."""

        def kinds(signs: Signs) -> tuple[bool, ...]:
            return signs.loss, bool(signs.gradients), bool(signs.weights), bool(signs.outputs)

        return kinds(self) == kinds(other)


@dataclass(slots=True)
class Watch:
    """What is asked for, and what was found.

    ``replay``: keep the state before each step. ``at`` is the step that is to be looked at operator by operator from
    its beginning, in a run made for that. The gradients of the update that went wrong at ``wrong_at`` were begun in
    step ``wrong_from``; it was not ``announced`` where nothing was seen of it before its loss. ``doubtful`` is what
    doing that again has shown, where more may be seen from the step before.
    ``limit`` is a magnitude that counts as a hit, ``go_on``: let the script run on. ``steps`` are the training steps
    as a recording counts them, of which loss scaling has ``skipped`` some and the script has ``thrown_away`` others,
    and passes that were ``never_back`` and so are no steps;
    ``ended_by_loss`` is the last one where its loss was not finite and no update came after it, which in a run made
    for that is what counts (``thrown_away_counts``). ``left`` are weights and buffers that are not finite at the end.
    """

    replay: bool = True
    at: int | None = None
    limit: float | None = None
    go_on: bool = False
    points: Points | None = None
    hit: Hit | None = None
    doubtful: Hit | None = None
    wrong_at: int | None = None
    wrong_from: int = 0
    announced: bool = True
    doing_again: bool = False
    script_over: bool = False
    signs: Signs = field(default_factory=Signs)
    steps: int = 0
    skipped: int = 0
    thrown_away: int = 0
    never_back: int = 0
    thrown_away_counts: bool = False
    ended_by_loss: int | None = None
    left: list[str] = field(default_factory=list)
    norms: list[float] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    point_hits: list[PointHit] = field(default_factory=list)
    kept_bytes: int = 0
    last_finished: int | None = None

    def finished(self, step: int) -> None:
        """A training step is over; of a script with both frameworks each one's watcher says so."""
        if step != self.last_finished:
            self.steps += 1
            self.last_finished = step

    @property
    def over(self) -> bool:
        """Whether there is nothing more to look for."""
        return self.hit is not None

    def ended(self) -> None:
        """The training is over: a loss that is not finite was thrown away only where training went on after it."""
        if self.ended_by_loss is not None and self.wrong_at is None and self.hit is None:
            self.wrong_at = self.wrong_from = self.ended_by_loss
            self.signs = Signs(loss=True)

    @property
    def too_often_skipped(self) -> bool:
        """Whether loss scaling skips more steps than it should."""
        return self.steps >= _LEAST_STEPS and self.skipped > _SKIPPED_SHARE * self.steps

    def remember(self, norm: float, weights: float) -> None:
        """The norms of one step's gradients and of the weights after it."""
        self.norms = [*self.norms[-HISTORY:], norm]
        self.weights = [*self.weights[-HISTORY:], weights]
