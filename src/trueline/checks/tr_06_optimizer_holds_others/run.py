"""What a run shows of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from trueline.checks.engine.check import check, found, none, undecided
from trueline.checks.evidence.looks import gradient_looks, optimizer_where, trained_rank, weights_of
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
    unheld = Counter(param.shape for param in weights_of(rank) if param.trainable and param.optimizer is None)
    for optimizer, own in looks.items():
        last = own[-1]
        strangers = Counter(tuple(shape) for shape in last.stranger_shapes)
        alike = sum((strangers & unheld).values())
        evidence = [{"optimizer": optimizer, "held": last.held, "strangers": last.strangers, "alike": alike}]
        if strangers and alike == sum(strangers.values()):
            yield found(
                "tr_06.others",
                optimizer_where(run, optimizer, last.step),
                measured=last.strangers,
                limit=0,
                evidence=evidence,
                strangers=last.strangers,
                held=last.held,
            )
        else:
            yield none("tr_06.its_own", evidence=evidence, held=last.held, strangers=last.strangers)
