"""A gradient penalty is computed from scaled gradients.

What it looks at
----------------
Gradients that are taken with a graph of their own and go into the loss: whether they are of a loss that was
multiplied by the loss scale, and whether they are divided by it before they are squared or measured.

Why it hurts
------------
The penalty grows with the square of the scale: at 65536 it is four billion times too strong, and changes whenever the
scale does.

What to do
----------
Take the penalty's gradients of the unscaled loss, or divide them by `scaler.get_scale()` first; then scale the whole
loss.

When it is wrong
----------------
Where the penalty's weight is divided by the square of the scale elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator

from trueline.checks.engine.check import check, found, na, none
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
        yield na("mp_04.no_penalty")
        return
    wrong = [one for one in penalties if one["scaled"] and not one["divided"]]
    evidence = [{"step": one["step"], "scaled": one["scaled"], "divided": one["divided"]} for one in penalties[:6]]
    if wrong:
        yield found(
            "mp_04.scaled", where(wrong[0]), measured=len(wrong), limit=0, evidence=evidence, step=wrong[0]["step"]
        )
    else:
        yield none("mp_04.unscaled", evidence=evidence, count=len(penalties))
