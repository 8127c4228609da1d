"""What a run shows of it."""

from __future__ import annotations

from collections.abc import Iterator

from trueline.checks.engine.check import check, found, na, none, undecided
from trueline.checks.evidence.looks import looked, trained_rank, where
from trueline.formats.run_folder.reader import Run
from trueline.model.events import PenaltyEvent
from trueline.model.finding import Finding

MAX_SHOWN = 6  # penalties in the evidence


@check("mp.04", "gradient penalty on scaled gradients")
def from_run(run: Run) -> Iterator[Finding]:
    """Gradients inside of a loss."""
    rank = trained_rank(run)
    penalties = looked(rank, PenaltyEvent) if rank is not None else []
    if not penalties:
        yield undecided("mp_04.no_steps") if rank is None else na("mp_04.no_penalty")
        return
    wrong = [penalty for penalty in penalties if penalty.scaled and not penalty.divided]
    evidence = [
        {"step": penalty.step, "scaled": penalty.scaled, "divided": penalty.divided}
        for penalty in penalties[:MAX_SHOWN]
    ]
    if wrong:
        yield found(
            "mp_04.scaled", where(wrong[0]), measured=len(wrong), limit=0, evidence=evidence, step=wrong[0].step
        )
    else:
        yield none("mp_04.unscaled", evidence=evidence, count=len(penalties))
