"""What a run shows of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trueline.apitable.layers import tensor_names
from trueline.checks.engine.check import check, found, none, suspect, undecided
from trueline.checks.evidence.looks import TRAIN, built_where, few, gradient_looks, modules_of, trained_rank
from trueline.checks.evidence.reached import Lost, Unreached, unreached
from trueline.formats.run_folder.reader import RankFolder, Run
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
    told = 0
    for stray in _strays(looks, run.info.framework):
        told += 1
        said = "tr_13.unregistered" if stray["alive"] else "tr_13.made_anew"
        evidence = [stray]
        place = _called_where(rank, stray["path"])
        kind = stray["path"].rpartition("~")[2]
        yield found(
            said, place, evidence=evidence, certainty=Certainty.LIKELY, kind=kind, parameters=stray["parameters"]
        )
    modules = modules_of(rank)
    for one in unreached(rank, run.info.framework, min_looks):
        place = built_where(modules.get(one.module), step=one.look["step"], path=one.module)
        evidence = [{"parameters": list(one.parameters), "lost": one.lost.name.lower()}]
        told += 1
        if _doubtful(one, run):
            yield suspect("tr_13.zero", place, evidence=evidence, names=few(one.parameters))
        else:
            root = _ROOTS.get(one.lost)
            yield found("tr_13.never", place, because=root, evidence=evidence, names=few(one.parameters))
    if not told:
        held = sum(own[-1]["held"] for own in enough)
        yield none("tr_13.all", evidence=[{"held": held, "looks": len(enough[0])}], held=held, looks=len(enough[0]))


def _doubtful(one: Unreached, run: Run) -> bool:
    """A gradient that is zero is not one that is missing: a layer has it where all that reaches it is zero."""
    if run.info.framework != "mindspore" or one.lost is not Lost.ALONE:
        return False
    return all(name.rpartition(".")[2] in _OFTEN_ZERO for name in one.parameters)


def _strays(looks: dict[int, list[dict[str, Any]]], framework: str | None) -> list[dict[str, Any]]:
    """Modules in use that no optimizer holds; of one that lives on, a gradient must have come, where that is seen."""
    found: dict[str, dict[str, Any]] = {}
    for own in looks.values():
        for stray in own[-1].get("strays", ()):
            if stray["held"] or (stray["alive"] and not stray["reached"] and framework != "mindspore"):
                continue
            found.setdefault(stray["path"], stray)
    return list(found.values())


def _called_where(rank: RankFolder, path: str) -> Location:
    line = next((one.called_at for one in rank.calls if one.phase == TRAIN and one.path == path), None)
    return (
        Location(file=line.file, line=line.line, module=path, step=0)
        if line is not None
        else Location(module=path, step=0)
    )
