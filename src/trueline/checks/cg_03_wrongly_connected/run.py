"""What a run shows of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from trueline.checks.engine.check import check, found, none, undecided
from trueline.checks.evidence.looks import TRAIN, built_where, gradient_looks, modules_of, trained_rank
from trueline.checks.evidence.reached import Lost, unreached
from trueline.formats.run_folder.reader import Run
from trueline.model.finding import Finding
from trueline.model.location import Location


@check("cg.03", "nodes are wrongly connected")
def from_run(run: Run, *, min_looks: int = 2) -> Iterator[Finding]:
    """Layers without a way to the loss."""
    rank = trained_rank(run)
    looks = gradient_looks(rank) if rank is not None else {}
    if rank is None or not any(len(own) >= min_looks for own in looks.values()):
        yield undecided("cg_03.no_updates")
        return
    calls = sum(one.phase == TRAIN for one in rank.calls)
    if not calls:
        yield undecided("cg_03.no_calls")
        return
    lost = [one for one in unreached(rank, run.info.framework, min_looks) if one.lost in (Lost.UNCALLED, Lost.UNUSED)]
    modules = modules_of(rank)
    for one in lost:
        evidence = [{"module": one.module, "parameters": list(one.parameters)}]
        if one.lost is Lost.UNCALLED:
            place = built_where(modules.get(one.module), path=one.module)
            yield found("cg_03.never_called", place, evidence=evidence, module=one.module)
        else:
            place = replace(one.line or Location(), module=one.module, step=0)
            yield found("cg_03.unused", place, evidence=evidence, module=one.module)
    if not lost:
        yield none("cg_03.connected", evidence=[{"calls": calls}], calls=calls)
