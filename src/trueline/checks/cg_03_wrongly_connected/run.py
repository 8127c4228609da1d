"""What a run shows of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from trueline.checks.engine.check import check, found, none, undecided
from trueline.checks.evidence.looks import TRAIN, built_where, gradient_looks, modules_of, trained_rank
from trueline.checks.evidence.lost_gradients import Lost, unreached
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
    calls = sum(call.phase == TRAIN for call in rank.calls)
    if not calls:
        yield undecided("cg_03.no_calls")
        return
    reasons = (Lost.UNCALLED, Lost.UNUSED)
    lost = [module for module in unreached(rank, run.info.framework, min_looks) if module.lost in reasons]
    modules = modules_of(rank)
    for module in lost:
        evidence = [{"module": module.module, "parameters": list(module.parameters)}]
        if module.lost is Lost.UNCALLED:
            place = built_where(modules.get(module.module), path=module.module)
            yield found("cg_03.never_called", place, evidence=evidence, module=module.module)
        else:
            place = replace(module.line or Location(), module=module.module, step=0)
            yield found("cg_03.unused", place, evidence=evidence, module=module.module)
    if not lost:
        yield none("cg_03.connected", evidence=[{"calls": calls}], calls=calls)
