"""What a run shows of it."""

from __future__ import annotations

from collections.abc import Iterator

from trueline.checks.engine.check import check, found, none, undecided
from trueline.checks.evidence.looks import TRAIN, first_with_line, gradient_looks, trained_rank, where, without_gradient
from trueline.formats.run_folder.reader import Run
from trueline.model.events import BackwardEvent, LossEvent
from trueline.model.finding import Finding


@check("tr.02", "the loss is cut off from the network")
def from_run(run: Run, *, min_looks: int = 2) -> Iterator[Finding]:
    """An optimizer none of whose parameters ever gets a gradient."""
    rank = trained_rank(run)
    looks = gradient_looks(rank) if rank is not None else {}
    if rank is None or not any(len(own) >= min_looks for own in looks.values()):
        yield undecided("tr_02.no_updates")
        return
    loss = first_with_line(rank, LossEvent)
    for optimizer, own in looks.items():
        known = min(look.held - look.strangers for look in own)
        if len(own) < min_looks or known <= 0:
            continue
        empty = without_gradient(own)
        evidence = [{"optimizer": optimizer, "step": look.step, "none": len(look.none)} for look in own]
        if len(empty) < known:
            yield none("tr_02.reached", evidence=evidence, parameters=known - len(empty), updates=len(own))
        elif not any(True for _ in rank.events(BackwardEvent, phase=TRAIN)):
            yield found("tr_02.no_backward", where(own[0]), evidence=evidence, updates=len(own))
        else:
            place = where(loss) if loss is not None else where(own[0])
            yield found("tr_02.cut_off", place, evidence=evidence, updates=len(own), parameters=known)
    if all(min(look.held - look.strangers for look in own) <= 0 for own in looks.values()):
        yield undecided("tr_02.strangers")
