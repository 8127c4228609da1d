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
from trueline.model.finding import Certainty, Finding
from trueline.model.run import EventName


@check("api.02", "train or eval mode is not set")
def from_run(run: Run) -> Iterator[Finding]:
    """Modes as they were when the network was called."""
    rank = trained_rank(run)
    if rank is None:
        yield undecided("api_02.no_steps")
        return
    modes = looked(rank, EventName.MODES)
    if not modes:
        # Without modules nobody has looked for such layers.
        yield na("api_02.no_layers") if rank.modules else undecided("api_02.no_modules")
        return
    told = False
    for event in trained_in_evaluation_mode(rank)[:1]:
        told = True
        yield found(
            "api_02.trained",
            called_where(rank, event, TRAIN),
            certainty=Certainty.LIKELY,
            evidence=[event],
            step=event["step"],
            layers=few(event["resting"]),
        )
    evaluated, sure = evaluated_in_training_mode(rank)
    for event in evaluated[:1]:
        told = True
        place, layers = called_where(rank, event, EVAL), few(event["acting"])
        if sure:
            yield found("api_02.evaluated", place, evidence=[event], step=event["step"], layers=layers)
        else:
            yield suspect("api_02.evaluated", place, evidence=[event], step=event["step"], layers=layers)
    if not told:
        seen = "api_02.both" if evaluation_modes(rank, any_mode=True) else "api_02.training_only"
        evidence = [{"step": one["step"], "phase": one["phase"], "training": one["training"]} for one in modes]
        yield none(seen, evidence=evidence)
