"""What a run shows of it."""

from __future__ import annotations

from collections.abc import Iterator

from trueline.checks.engine.check import check, found, na, none, suspect, undecided
from trueline.checks.evidence.looks import EVAL, TRAIN, few, looked, trained_rank
from trueline.checks.evidence.modes import (
    called_where,
    evaluated_in_training_mode,
    evaluation_modes,
    trained_in_evaluation_mode,
)
from trueline.formats.run_folder.reader import Run
from trueline.model.events import ModesEvent
from trueline.model.finding import Certainty, Finding
from trueline.model.json_value import Json


@check("api.02", "train or eval mode is not set")
def from_run(run: Run) -> Iterator[Finding]:
    """Modes as they were when the network was called."""
    rank = trained_rank(run)
    if rank is None:
        yield undecided("api_02.no_steps")
        return
    modes = looked(rank, ModesEvent)
    if not modes:
        # Without modules nobody has looked for such layers.
        yield na("api_02.no_layers") if rank.modules else undecided("api_02.no_modules")
        return
    reported = False
    for event in trained_in_evaluation_mode(rank)[:1]:
        reported = True
        yield found(
            "api_02.trained",
            called_where(rank, event, TRAIN),
            certainty=Certainty.LIKELY,
            evidence=[event.to_json()],
            step=event.step,
            layers=few(event.resting),
        )
    evaluated, sure = evaluated_in_training_mode(rank)
    for event in evaluated[:1]:
        reported = True
        place, layers = called_where(rank, event, EVAL), few(event.acting)
        if sure:
            yield found("api_02.evaluated", place, evidence=[event.to_json()], step=event.step, layers=layers)
        else:
            yield suspect("api_02.evaluated", place, evidence=[event.to_json()], step=event.step, layers=layers)
    if not reported:
        seen = "api_02.both" if evaluation_modes(rank, any_mode=True) else "api_02.training_only"
        evidence: list[Json] = [
            {"step": event.step, "phase": event.phase, "training": event.training} for event in modes
        ]
        yield none(seen, evidence=evidence)
