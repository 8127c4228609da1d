"""The optimizer holds other parameters than the network that is trained.

What it looks at
----------------
The parameters that an optimizer holds, against those of the networks that are called: how many of them belong to no
network, and whether parameters of the same shapes in a network are held by no optimizer.

Why it hurts
------------
An optimizer built before the network was created again, loaded as a whole, or converted updates tensors that nobody
uses any more. The loss stays where it is.

What to do
----------
Build the optimizer after the last statement that creates, replaces or converts the network.

When it is wrong
----------------
Where tensors outside of any network are trained on purpose: then nothing of a network is left without an optimizer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from trueline.checks.engine.check import check, found, na, none
from trueline.checks.evidence.looks import gradient_looks, optimizer_where, trained_rank, weights_of
from trueline.formats.run_folder.reader import Run
from trueline.model.finding import Finding


@check("tr.06", "the optimizer holds other parameters")
def from_run(run: Run) -> Iterator[Finding]:
    """Parameters that no network has, while a network's own of the same shapes have no optimizer."""
    rank = trained_rank(run)
    looks = gradient_looks(rank) if rank is not None else {}
    if rank is None or not looks:
        yield na("tr_06.no_updates")
        return
    unheld = Counter(one.shape for one in weights_of(rank) if one.trainable and one.optimizer is None)
    for optimizer, own in looks.items():
        last = own[-1]
        strangers = Counter(tuple(shape) for shape in last["stranger_shapes"])
        alike = sum((strangers & unheld).values())
        evidence = [{"optimizer": optimizer, "held": last["held"], "strangers": last["strangers"], "alike": alike}]
        if strangers and alike == sum(strangers.values()):
            yield found(
                "tr_06.others",
                optimizer_where(run, optimizer, last["step"]),
                measured=last["strangers"],
                limit=0,
                evidence=evidence,
                strangers=last["strangers"],
                held=last["held"],
            )
        else:
            yield none("tr_06.its_own", evidence=evidence, held=last["held"], strangers=last["strangers"])
