"""What a run shows of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from trueline.checks.engine.check import check, found, none, suspect, undecided
from trueline.checks.evidence.looks import (
    TRAIN,
    built_where,
    few,
    gradient_looks,
    looked,
    module_of,
    modules_of,
    optimizer_where,
    trained_rank,
    weights_of,
)
from trueline.checks.evidence.lost_gradients import Lost, downstream, unreached
from trueline.checks.evidence.weights import still
from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.model.events import GradientsEvent, LoadedEvent, ModesEvent
from trueline.model.finding import Certainty, Finding
from trueline.model.location import Location
from trueline.model.run import ParamInfo


@check("cg.02", "weights are wrongly frozen")
def from_run(run: Run, *, min_looks: int = 2) -> Iterator[Finding]:
    """What contradicts itself: frozen and in the optimizer, learning and in none, used and cut off."""
    rank = trained_rank(run)
    looks = gradient_looks(rank) if rank is not None else {}
    if rank is None or not any(len(own) >= min_looks for own in looks.values()):
        yield undecided("cg_02.no_updates")
        return
    problems = [*_frozen(rank), *_not_held(run, rank, looks), *_cut(rank, run.info.framework, min_looks)]
    yield from problems
    if not problems:
        parameters = weights_of(rank)
        learning = sum(param.trainable for param in parameters)
        # Whether what is frozen is meant to be only the benchmark tells.
        said = none if learning == len(parameters) else undecided
        yield said(
            "cg_02.learning",
            evidence=[{"parameters": len(parameters), "learning": learning}],
            learning=learning,
            parameters=len(parameters),
        )


def _frozen(rank: RankFolder) -> Iterator[Finding]:
    """What sits in the optimizer and does not want a gradient."""
    stays = still(rank) or set()
    # What has moved was trained before it was frozen.
    frozen = [param for param in _kept(rank, stays) if param.optimizer is not None]
    modules = modules_of(rank)
    if not frozen:
        yield from _frozen_at_random(rank, stays)
        return
    place = built_where(modules.get(module_of(frozen[0].name)), path=module_of(frozen[0].name))
    names = few(param.name for param in frozen)
    evidence = [{"name": param.name, "optimizer": param.optimizer} for param in frozen[:20]]
    if _loaded(rank) or _rests(rank, frozen):
        yield suspect("cg_02.frozen", place, evidence=evidence, names=names, count=len(frozen))
    else:
        yield found(
            "cg_02.frozen", place, certainty=Certainty.LIKELY, evidence=evidence, names=names, count=len(frozen)
        )


def _rests(rank: RankFolder, frozen: Sequence[ParamInfo]) -> bool:
    """Whether layers of what is frozen are kept in evaluation mode while the network trains: on purpose, then."""
    resting = {path for event in looked(rank, ModesEvent, TRAIN) if event.training for path in event.resting}
    return any(module_of(param.name) in resting for param in frozen)


def _frozen_at_random(rank: RankFolder, stays: set[str]) -> Iterator[Finding]:
    """What is frozen as it was drawn, on the way to what learns: meant or not, only the author knows."""
    learning = {module_of(param.name) for param in weights_of(rank) if param.optimizer is not None and param.trainable}
    frozen = [param for param in _kept(rank, stays) if param.optimizer is None]
    frozen = [param for param in frozen if downstream(rank, module_of(param.name)) & learning]
    if not frozen or _loaded(rank):
        return
    path = module_of(frozen[0].name)
    evidence = [{"name": param.name} for param in frozen[:20]]
    place = built_where(modules_of(rank).get(path), path=path)
    names = few(param.name for param in frozen)
    yield suspect("cg_02.at_random", place, evidence=evidence, names=names, count=len(frozen))


def _kept(rank: RankFolder, stays: set[str]) -> list[ParamInfo]:
    """Parameters that want no gradient, and are what they were at the beginning."""
    return [param for param in weights_of(rank) if not param.trainable and param.name in stays]


def _not_held(run: Run, rank: RankFolder, looks: dict[int, list[GradientsEvent]]) -> Iterator[Finding]:
    """What wants a gradient, gets it where that can be seen, and is in no optimizer."""
    reached = {name for own in looks.values() for look in own for name in look.unheld}
    unheld = [param for param in weights_of(rank) if param.trainable and param.optimizer is None]
    if run.info.framework != "mindspore":
        unheld = [param for param in unheld if param.name in reached]
    else:
        # Another network, a teacher for instance, stands beside those that learn and feeds none of them.
        learning = {module_of(param.name) for param in weights_of(rank) if param.optimizer is not None}
        feeding = {path for path in {module_of(param.name) for param in unheld} if downstream(rank, path) & learning}
        unheld = [param for param in unheld if module_of(param.name) in feeding]
    if not unheld or any(own[-1].strangers for own in looks.values()):
        return
    place = optimizer_where(run, min(looks))
    evidence = [{"name": param.name} for param in unheld[:20]]
    names = few(param.name for param in unheld)
    if _loaded(rank):
        yield suspect("cg_02.not_held", place, evidence=evidence, names=names, count=len(unheld))
    else:
        yield found("cg_02.not_held", place, evidence=evidence, names=names, count=len(unheld))


def _cut(rank: RankFolder, framework: str | None, min_looks: int) -> Iterator[Finding]:
    """What is used, and no gradient comes back."""
    cut = [lost for lost in unreached(rank, framework, min_looks) if lost.lost is Lost.CUT]
    if not cut:
        return
    names = [name for lost in cut for name in lost.parameters]
    last = cut[-1]
    place = replace(last.line or Location(), module=last.before, step=last.look.step)
    evidence = [{"module": lost.module, "parameters": list(lost.parameters)} for lost in cut]
    yield found("cg_02.cut", place, evidence=evidence, names=few(names), before=last.before)


def _loaded(rank: RankFolder) -> bool:
    return any(event.changed for event in looked(rank, LoadedEvent))
