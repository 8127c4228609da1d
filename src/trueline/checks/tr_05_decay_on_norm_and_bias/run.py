"""What a run shows of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from trueline.checks.engine.check import Params, check, found, na, none, suspect, undecided
from trueline.checks.evidence.looks import few, module_of, modules_of, optimizer_where, trained_rank, weights_of
from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.model.finding import Certainty, Finding
from trueline.model.json_value import Json, JsonObject
from trueline.model.run import ModuleInfo, ParamInfo

_BIASES = ("bias", "beta")


@check("tr.05", "weight decay on biases and normalisation")
def from_run(run: Run, *, strong: float = 0.05, min_decay: float = 0.02) -> Iterator[Finding]:
    """Groups with decay, and what they hold."""
    rank = trained_rank(run)
    optimizers = run.info.optimizers
    if rank is None or not optimizers:
        yield undecided("tr_05.no_optimizer")
        return
    reported = 0
    modules = modules_of(rank)
    for number, optimizer in enumerate(optimizers):
        groups = [_weight_decay(group) for group in optimizer.groups]
        if not any(groups):
            continue
        held = [param for param in weights_of(rank) if param.optimizer == number and param.trainable]
        small = [param for param in held if _exempt(modules, param)]
        decayed = [param for param in small if _decay(param, groups)]
        if not small:
            continue
        reported += 1
        made_for_it = _groups_of_exempt(rank, number, small)
        spared = sum(param.group in made_for_it and not _decay(param, groups) for param in small)
        most = max(_decay(param, groups) for param in small)
        evidence: list[Json] = [{"optimizer": number, "decay": groups, "decayed": len(decayed), "spared": spared}]
        params: Params = {
            "names": few(param.name for param in decayed),
            "count": len(decayed),
            "decay": most,
            "kind": optimizer.kind,
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
        elif most < min_decay:
            yield na("tr_05.script.little_or_none")
        else:
            yield suspect("tr_05.all", place, measured=most, limit=strong, evidence=evidence, **params)
    if not reported:
        yield na("tr_05.no_decay")


def _groups_of_exempt(rank: RankFolder, optimizer: int, small: list[ParamInfo]) -> set[int | None]:
    """Groups with nothing in them but what decay should spare: they were made for it."""
    names = {param.name for param in small}
    others = {param.group for param in weights_of(rank) if param.optimizer == optimizer and param.name not in names}
    return {param.group for param in small} - others


def _weight_decay(group: JsonObject) -> float:
    decay = group.get("weight_decay")
    return float(decay) if isinstance(decay, int | float) else 0.0


def _decay(param: ParamInfo, groups: Sequence[float]) -> float:
    group = param.group if param.group is not None and param.group < len(groups) else 0
    return groups[group]


def _exempt(modules: Mapping[str, ModuleInfo], param: ParamInfo) -> bool:
    """Whether decay has nothing to do on this parameter."""
    module = modules.get(module_of(param.name))
    leaf = param.name.rpartition(".")[2]
    return leaf in _BIASES or leaf.startswith("bias_") or (module is not None and "Norm" in module.type)
