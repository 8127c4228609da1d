"""What a run shows of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from trueline.apitable.layers import tensor_names
from trueline.checks.engine.check import check, found, none, suspect, undecided
from trueline.checks.evidence.looks import TRAIN, built_where, few, gradient_looks, modules_of, trained_rank
from trueline.checks.evidence.lost_gradients import Lost, Unreached, unreached
from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.model.events import GradientsEvent, Stray
from trueline.model.finding import Certainty, Finding
from trueline.model.location import Location

_ROOTS = {Lost.UNCALLED: "cg.03", Lost.UNUSED: "cg.03", Lost.CUT: "cg.02"}
_OFTEN_ZERO = tensor_names("linear", "embedding", "layernorm")


@check("tr.13", "some parameters never get a gradient")
def from_run(run: Run, *, min_looks: int = 2) -> Iterator[Finding]:
    """Parameters without a gradient in every look, and modules that nobody has registered."""
    rank = trained_rank(run)
    looks = gradient_looks(rank) if rank is not None else {}
    enough = [own for own in looks.values() if len(own) >= min_looks]
    if rank is None or not enough:
        yield undecided("tr_13.no_updates")
        return
    reported = 0
    for stray in _strays(looks, run.info.framework):
        reported += 1
        yield found(
            "tr_13.unregistered" if stray.alive else "tr_13.made_anew",
            _called_where(rank, stray.path),
            evidence=[stray.to_json()],
            certainty=Certainty.LIKELY,
            kind=stray.path.rpartition("~")[2],
            parameters=stray.parameters,
        )
    modules = modules_of(rank)
    for lost in unreached(rank, run.info.framework, min_looks):
        place = built_where(modules.get(lost.module), step=lost.look.step, path=lost.module)
        evidence = [{"parameters": list(lost.parameters), "lost": lost.lost.name.lower()}]
        reported += 1
        if _doubtful(lost, run):
            yield suspect("tr_13.zero", place, evidence=evidence, names=few(lost.parameters))
        else:
            root = _ROOTS.get(lost.lost)
            yield found("tr_13.never", place, because=root, evidence=evidence, names=few(lost.parameters))
    if not reported:
        held = sum(own[-1].held for own in enough)
        yield none("tr_13.all", evidence=[{"held": held, "looks": len(enough[0])}], held=held, looks=len(enough[0]))


def _doubtful(lost: Unreached, run: Run) -> bool:
    """A gradient that is zero is not one that is missing: a layer has it where all that reaches it is zero."""
    if run.info.framework != "mindspore" or lost.lost is not Lost.ALONE:
        return False
    return all(name.rpartition(".")[2] in _OFTEN_ZERO for name in lost.parameters)


def _strays(looks: dict[int, list[GradientsEvent]], framework: str | None) -> list[Stray]:
    """Modules in use that no optimizer holds; of one that lives on, a gradient must have come, where that is seen."""
    strays: dict[str, Stray] = {}
    for own in looks.values():
        for stray in own[-1].strays:
            if stray.held or (stray.alive and not stray.reached and framework != "mindspore"):
                continue
            strays.setdefault(stray.path, stray)
    return list(strays.values())


def _called_where(rank: RankFolder, path: str) -> Location:
    line = next((call.called_at for call in rank.calls if call.phase == TRAIN and call.path == path), None)
    return replace(line or Location(), module=path, step=0)
