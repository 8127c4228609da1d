"""What a replay has shown: step by step beside the run, as findings and as a report."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from trueline.formats.run_folder.reader import RankFolder, open_run
from trueline.model.finding import Conclusion, Finding
from trueline.model.location import Location
from trueline.model.message import Message, message
from trueline.model.report import Block, Report, Table
from trueline.model.result import Exit, Result
from trueline.replay.running import Replayed
from trueline.replay.source import Source

PARTED: Final = "tr.28"
_MOST_NAMES: Final = 5


@dataclass(frozen=True, slots=True)
class StepAgain:
    """One step, in the run and in the replay; None where it was not finished."""

    step: int
    loss: float | None
    again: float | None
    norm: float | None
    norm_again: float | None

    @property
    def same(self) -> bool | None:
        """Whether the numbers are the same bit for bit; None where one of them is not known."""
        if self.loss is None or self.again is None:
            return None
        return _same(self.loss, self.again) and _same(self.norm, self.norm_again)

    def to_json(self) -> dict[str, Any]:
        """The JSON shape."""
        return {
            "step": self.step,
            "loss": self.loss,
            "loss_again": self.again,
            "grad_norm": self.norm,
            "grad_norm_again": self.norm_again,
            "same": self.same,
        }


def _same(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return one == other or (math.isnan(one) and math.isnan(other))


class Told:
    """A replay beside its run."""

    def __init__(self, source: Source, replayed: Replayed) -> None:
        self.replay, self.asked, self.code = replayed.replay, replayed.asked, replayed.code
        self._run = source.run.path
        made = open_run(replayed.wanted.folder)
        again = made.rank(made.ranks[0]) if made.ranks else None
        self.steps = steps_again(source.rank, again, self.replay.steps)

    @property
    def bitwise(self) -> bool | None:
        """Whether all was the same, bit for bit; None where nothing can be said."""
        known = [one.same for one in self.steps if one.same is not None]
        if not self.replay.goes_on_as_it_was or self.asked.float32:
            return None
        if self.replay.parted is not None or not all(known):
            return False
        return True if known or self.replay.compared else None

    @property
    def first_parting(self) -> int | None:
        """The first step whose numbers are not those of the run."""
        by_loss = [one.step for one in self.steps if one.same is False]
        by_state = [self.replay.parted.step - 1] if self.replay.parted is not None else []
        return min([*by_loss, *by_state], default=None)

    def findings(self) -> list[Finding]:
        """Whether it is the same, and what a watch has found."""
        found: list[Finding] = []
        if self.asked.watch is not None:
            from trueline.watch.report import findings

            found += findings(self.asked.watch, self.asked.watch.hit)
        if self.bitwise is not None:
            found.append(self._parting())
        return found

    def _parting(self) -> Finding:
        if self.bitwise:
            known = [one.step for one in self.steps if one.same] or [one - 1 for one in self.replay.compared]
            first, last = known[0], known[-1]
            return Finding(
                PARTED,
                Conclusion.NONE,
                message("replay.same_one" if first == last else "replay.same", first=first, last=last),
            )
        parted = self.replay.parted
        names = list(parted.names) if parted is not None else []
        shown = ", ".join(names[:_MOST_NAMES]) or message("replay.the_loss")
        return Finding(
            PARTED,
            Conclusion.FOUND,
            message("replay.parted", step=self.first_parting, names=shown),
            advice=message("replay.advice_parted"),
            where=Location(step=self.first_parting),
            evidence=names,
        )

    def conclusion(self) -> Message:
        """One sentence."""
        found = self.findings()
        wrong = next((one for one in found if one.conclusion is Conclusion.FOUND), None)
        if wrong is not None:
            return wrong.message
        if self.asked.float32 and self.steps and self.steps[-1].again is not None:
            last = self.steps[-1]
            return message("replay.in_float32", step=last.step, loss=_shown(last.loss), again=_shown(last.again))
        if found:
            return found[-1].message
        return message("replay.unfinished", code=self.code)

    def result(self, fields: Mapping[str, Any]) -> Result:
        """The answer; ``fields`` are added to it."""
        found = self.findings()
        problem = any(one.conclusion is Conclusion.FOUND for one in found)
        own = {
            "run": str(self._run.absolute()),
            "from": self.replay.steps[0],
            "steps": [one.to_json() for one in self.steps],
            "bitwise": self.bitwise,
            "script_exit": self.code,
        }
        if self.asked.watch is not None:
            own["first"] = self.asked.watch.hit.to_json() if self.asked.watch.hit is not None else None
        unwatched = self.asked.watch is not None and not self.asked.watch.steps
        code = Exit.PROBLEM if problem else Exit.BAD_INPUT if unwatched else Exit.FINE
        return Result("replay", self.conclusion(), code, found, {**own, **fields})

    def report(self, run: str) -> Report:
        """For people to read."""
        return Report(message("replay.title", run=run), self.conclusion(), self.findings(), self._blocks())

    def _blocks(self) -> list[Block]:
        columns = ("step", "loss", "loss_again", "norm", "norm_again", "same")
        words = {True: message("replay.yes"), False: message("replay.no"), None: ""}
        rows = [
            [one.step, _shown(one.loss), _shown(one.again), _shown(one.norm), _shown(one.norm_again), words[one.same]]
            for one in self.steps
        ]
        blocks: list[Block] = [
            Table(message("replay.table"), [message(f"replay.column_{name}") for name in columns], rows)
        ]
        if self.asked.watch is not None and self.asked.watch.hit is not None:
            from trueline.watch.report import blocks_of

            blocks += blocks_of(self.asked.watch.hit)
        return blocks


def _shown(number: float | None) -> str:
    return f"{number:.9g}" if number is not None else "–"


def steps_again(before: RankFolder, again: RankFolder | None, steps: Sequence[int]) -> list[StepAgain]:
    """The losses and norms of both."""
    curves = {name: (_curve(before, name), _curve(again, name)) for name in ("loss", "grad_norm")}
    return [
        StepAgain(
            step,
            curves["loss"][0].get(step),
            curves["loss"][1].get(step),
            curves["grad_norm"][0].get(step),
            curves["grad_norm"][1].get(step),
        )
        for step in steps
    ]


def _curve(rank: RankFolder | None, name: str) -> Mapping[int, float]:
    if rank is None:
        return {}
    curve = rank.curve(name)
    return {int(step): float(value) for step, value in zip(curve.steps, curve.values, strict=True)}
