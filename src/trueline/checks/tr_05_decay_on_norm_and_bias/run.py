"""What a run shows of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trueline.checks.engine.check import check, found, na, none, suspect, undecided
from trueline.checks.evidence.looks import few, module_of, modules_of, optimizer_where, trained_rank, weights_of
from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.model.finding import Certainty, Finding
from trueline.model.run import ModuleInfo, ParamInfo

_BIASES = ("bias", "beta")


@check("tr.05", "weight decay on biases and normalisation")
def from_run(run: Run, *, strong: float = 0.05) -> Iterator[Finding]:
    """Groups with decay, and what they hold."""
    rank = trained_rank(run)
    optimizers = run.info.hyper.get("optimizers") or []
    if rank is None or not optimizers:
        yield undecided("tr_05.no_optimizer")
        return
    told = 0
    modules = modules_of(rank)
    for number, optimizer in enumerate(optimizers):
        groups = [group.get("weight_decay") or 0.0 for group in optimizer.get("groups", ())]
        if not any(groups):
            continue
        small = [one for one in weights_of(rank) if one.optimizer == number and one.trainable and _exempt(modules, one)]
        decayed = [one for one in small if _decay(one, groups)]
        if not small:
            continue
        told += 1
        made_for_it = _groups_of_exempt(rank, number, small)
        spared = sum(one.group in made_for_it and not _decay(one, groups) for one in small)
        most = max(_decay(one, groups) for one in small)
        evidence = [{"optimizer": number, "decay": groups, "decayed": len(decayed), "spared": spared}]
        params = {
            "names": few(one.name for one in decayed),
            "count": len(decayed),
            "decay": most,
            "kind": optimizer["kind"],
        }
        place = optimizer_where(run, number)
        if not decayed:
            yield none("tr_05.spared", evidence=evidence, spared=spared)
        elif spared:
            yield found("tr_05.some", place, measured=len(decayed), limit=0, evidence=evidence, **params)
        elif most >= strong:
            yield found(
                "tr_05.all", place, certainty=Certainty.LIKELY, measured=most, limit=strong, evidence=evidence, **params
            )
        else:
            yield suspect("tr_05.all", place, measured=most, limit=strong, evidence=evidence, **params)
    if not told:
        yield na("tr_05.no_decay")


def _groups_of_exempt(rank: RankFolder, optimizer: int, small: list[ParamInfo]) -> set[int | None]:
    """Groups with nothing in them but what decay should spare: they were made for it."""
    names = {one.name for one in small}
    others = {one.group for one in weights_of(rank) if one.optimizer == optimizer and one.name not in names}
    return {one.group for one in small} - others


def _decay(one: ParamInfo, groups: list[Any]) -> float:
    group = one.group if one.group is not None and one.group < len(groups) else 0
    return float(groups[group])


def _exempt(modules: Mapping[str, ModuleInfo], one: ParamInfo) -> bool:
    """Whether decay has nothing to do on this parameter."""
    module = modules.get(module_of(one.name))
    leaf = one.name.rpartition(".")[2]
    return leaf in _BIASES or leaf.startswith("bias_") or (module is not None and "Norm" in module.type)
