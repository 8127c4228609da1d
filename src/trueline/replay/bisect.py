"""A run that went bad slowly: which of its kept states is the last good one?"""

from __future__ import annotations

import json
import math
import os
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from trueline.model.finding import Conclusion, Finding
from trueline.model.json_value import Json
from trueline.model.location import Location
from trueline.model.message import Message, message
from trueline.model.report import Report, Table
from trueline.model.trouble import BadUsage
from trueline.record.command import end_group, kept
from trueline.record.run_mode import RunMode

# A state that a replay is to start from, whatever batches it is given.
BISECTED: Final = "tr.29"
_COARSE: Final = 4
# A state is bad from so many times the best loss on.
_BAD_FACTOR: Final = 4.0


@dataclass(slots=True)
class Bisection:
    """The losses of states on the same batch, and where they turn from good to bad."""

    run: str
    batch: int
    limit: float | None = None
    losses: dict[int, float] = field(default_factory=dict)
    good: int | None = None
    bad: int | None = None

    def is_bad(self, step: int) -> bool:
        """Whether a state's loss is beyond the limit, or none at all."""
        loss = self.losses[step]
        return not math.isfinite(loss) or (self.limit is not None and loss > self.limit)

    def search(self, states: Sequence[int], measure: Callable[[int], float]) -> None:
        """Look at a few states for the best; then halve what lies between that one and the last, if it is bad."""
        for place in sorted({round(part * (len(states) - 1) / _COARSE) for part in range(_COARSE + 1)}):
            self.losses[states[place]] = measure(states[place])
        best, last = self._best(), states[-1]
        if self.limit is None:
            self.limit = _between(self.losses[best], self.losses[last])
        if self.is_bad(best) or not self.is_bad(last):
            self.good, self.bad = (None, states[0]) if self.is_bad(best) else (last, None)
            return
        bad_after = min(step for step in self.losses if step > best and self.is_bad(step))
        good_before = max(step for step in self.losses if best <= step < bad_after)
        low, high = states.index(good_before), states.index(bad_after)
        while high - low > 1:
            middle = (low + high) // 2
            self.losses[states[middle]] = measure(states[middle])
            low, high = (low, middle) if self.is_bad(states[middle]) else (middle, high)
        self.good, self.bad = states[low], states[high]

    def _best(self) -> int:
        return min(self.losses, key=lambda step: self.losses[step] if math.isfinite(self.losses[step]) else math.inf)

    def finding(self) -> Finding:
        """What was found."""
        if self.bad is None:
            return Finding(BISECTED, Conclusion.NONE, message("replay.bisect_fine", batch=self.batch))
        if self.good is None:
            said = message("replay.bisect_bad_from_start", step=self.bad, loss=self.losses[self.bad])
            return Finding(BISECTED, Conclusion.FOUND, said, where=Location(step=self.bad))
        said = message(
            "replay.bisected",
            good=self.good,
            bad=self.bad,
            loss=self.losses[self.good],
            worse=self.losses[self.bad],
            batch=self.batch,
        )
        advice = message("replay.advice_bisected", run=self.run, good=self.good, bad=self.bad)
        return Finding(
            BISECTED,
            Conclusion.FOUND,
            said,
            advice=advice if self.bad - self.good > 1 else message("replay.advice_step", run=self.run, step=self.good),
            where=Location(step=self.good),
            measured=self.losses[self.bad],
            limit=self.limit,
        )

    def report(self) -> Report:
        """For people to read."""
        found = self.finding()
        rows = [[step, f"{loss:.6g}", self._word(step)] for step, loss in sorted(self.losses.items())]
        columns = [message(f"replay.column_{name}") for name in ("before_step", "loss_on_batch", "state")]
        table = Table(message("replay.table_states", batch=self.batch), columns, rows)
        return Report(message("replay.title", run=self.run), found.message, [found], [table])

    def _word(self, step: int) -> Message:
        if not self.is_bad(step):
            return message("replay.good")
        return message("replay.early" if self.good is not None and step < self.good else "replay.bad")

    def to_json(self) -> dict[str, Json]:
        """What the answer adds."""
        losses = [{"step": step, "loss": loss, "bad": self.is_bad(step)} for step, loss in sorted(self.losses.items())]
        return {"run": self.run, "batch": self.batch, "limit": self.limit, "states": losses, "last_good": self.good}


def _between(best: float, last: float) -> float | None:
    """From which loss on a state is bad: well above the best, and below the last; None where that is no worse."""
    if not last > best:
        # Not a number at all is bad without a limit.
        return None
    middle = math.sqrt(best * last) if best > 0 else (best + last) / 2
    return min(middle, _BAD_FACTOR * best) if best > 0 else middle


def loss_of_state(run: Path, state: int, batch: int) -> float:
    """The loss that a state has on the batch of a step, in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="trueline-") as place:
        told = Path(place) / "answer.json"
        process = subprocess.Popen(
            kept(
                "replay",
                str(run),
                # The user was asked before.
                "--trust",
                "--only",
                str(batch),
                "--quiet",
                "--json",
                str(told),
                # In the folder that is removed here, however the process ends.
                "-o",
                str(Path(place) / "run"),
            ),
            env={**os.environ, **RunMode(replayed_state=state).environment()},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            _, said = process.communicate()
        finally:
            end_group(process)
        steps = json.loads(told.read_text("utf-8"))["steps"] if told.exists() else []
    if not steps or steps[0]["loss_again"] is None:
        lines = said.decode("utf-8", "replace").strip().splitlines()
        raise BadUsage("replay.no_loss", step=state, line=lines[-1][:300] if lines else "")
    return float(steps[0]["loss_again"])
