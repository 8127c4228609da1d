"""Whether a problem shows in the repeated runs, and whether it always comes at the same step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from trueline.model.json_value import Json
from trueline.model.message import Message, message
from trueline.repro.trials import Trial

# A loss so many times the largest before it has jumped.
_JUMP_FACTOR: Final = 10.0


@dataclass(frozen=True, slots=True)
class Problem:
    """A crash, a loss that is not finite, or one that jumps; the step of each run, None where it did not show."""

    kind: str
    steps: Sequence[int | None]

    @property
    def occurs(self) -> str:
        """Always at a step, sometimes at a step, or at random ones."""
        if len({step for step in self.steps if step is not None}) > 1:
            return "random"
        return "sometimes" if None in self.steps else "always"

    def said(self) -> Message:
        """The sentence."""
        seen = [step for step in self.steps if step is not None]
        params = {"problem": message(f"repro.problem_{self.kind}"), "count": len(seen), "runs": len(self.steps)}
        return message(f"repro.occurs_{self.occurs}", steps=", ".join(map(str, seen)), step=seen[0], **params)

    def to_json(self) -> dict[str, Json]:
        """The JSON shape."""
        return {"kind": self.kind, "occurs": self.occurs, "steps": list(self.steps)}


def find_problem(trials: Sequence[Trial]) -> Problem | None:
    """The gravest that shows in any of them."""
    for kind, look in (("crash", _crash), ("non_finite", _non_finite), ("jump", _jump)):
        steps = [look(trial) for trial in trials]
        if any(step is not None for step in steps):
            return Problem(kind, steps)
    return None


def _crash(trial: Trial) -> int | None:
    return trial.whole if trial.crashed else None


def _losses(trial: Trial) -> dict[int, float]:
    if trial.rank is None:
        return {}
    curve = trial.rank.curve("loss")
    return dict(zip(map(int, curve.steps), map(float, curve.values), strict=True))


def _non_finite(trial: Trial) -> int | None:
    return next((step for step, loss in _losses(trial).items() if not math.isfinite(loss)), None)


def _jump(trial: Trial) -> int | None:
    largest = 0.0
    for step, loss in _losses(trial).items():
        if largest and abs(loss) > _JUMP_FACTOR * largest:
            return step
        largest = max(largest, abs(loss))
    return None
