"""What a run shows of it."""

from __future__ import annotations

from collections.abc import Iterator

from trueline.checks.engine.check import check, found, na, none, undecided
from trueline.checks.evidence.looks import looked, trained_rank, where
from trueline.formats.run_folder.reader import Run
from trueline.model.finding import Finding
from trueline.model.run import EventName


@check("mp.04", "gradient penalty on scaled gradients")
def from_run(run: Run) -> Iterator[Finding]:
    """Gradients inside of a loss."""
    rank = trained_rank(run)
    penalties = looked(rank, EventName.PENALTY) if rank is not None else []
    if not penalties:
        yield undecided("mp_04.no_steps") if rank is None else na("mp_04.no_penalty")
        return
    wrong = [one for one in penalties if one["scaled"] and not one["divided"]]
    evidence = [{"step": one["step"], "scaled": one["scaled"], "divided": one["divided"]} for one in penalties[:6]]
    if wrong:
        yield found(
            "mp_04.scaled", where(wrong[0]), measured=len(wrong), limit=0, evidence=evidence, step=wrong[0]["step"]
        )
    else:
        yield none("mp_04.unscaled", evidence=evidence, count=len(penalties))
