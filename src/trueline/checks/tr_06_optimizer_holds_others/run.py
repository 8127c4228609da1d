"""What a run shows of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from trueline.checks.engine.check import check, found, none, undecided
from trueline.checks.evidence.looks import few, gradient_looks, optimizer_where, trained_rank, weights_of
from trueline.checks.evidence.weights import still
from trueline.formats.run_folder.reader import Run
from trueline.model.finding import Finding


@check("tr.06", "the optimizer holds other parameters")
def from_run(run: Run) -> Iterator[Finding]:
    """Parameters that no network has, while a network's own of the same shapes have no optimizer."""
    rank = trained_rank(run)
    looks = gradient_looks(rank) if rank is not None else {}
    if rank is None or not looks:
        yield undecided("tr_06.no_updates")
        return
    unheld = [param for param in weights_of(rank) if param.trainable and param.optimizer is None]
    shapes = Counter(param.shape for param in unheld)
    resting = still(rank)
    behind = [param for param in unheld if resting is None or param.name in resting]
    for optimizer, own in looks.items():
        last = own[-1]
        strangers = Counter(tuple(shape) for shape in last.stranger_shapes)
        alike = sum((strangers & shapes).values())
        evidence = [{"optimizer": optimizer, "held": last.held, "strangers": last.strangers, "alike": alike}]
        if not strangers or alike < sum(strangers.values()) or not behind:
            # What moves with every update although no optimizer holds it is copied back from what one holds.
            yield none("tr_06.its_own", evidence=evidence, held=last.held, strangers=last.strangers)
        elif len(behind) < len(unheld):
            yield found(
                "tr_06.not_copied",
                optimizer_where(run, optimizer, last.step),
                measured=len(behind),
                limit=0,
                evidence=[*evidence, {"behind": [param.name for param in behind[:20]]}],
                behind=len(behind),
                names=few(param.name for param in behind),
                strangers=last.strangers,
            )
        else:
            yield found(
                "tr_06.others",
                optimizer_where(run, optimizer, last.step),
                measured=last.strangers,
                limit=0,
                evidence=evidence,
                strangers=last.strangers,
                held=last.held,
            )
