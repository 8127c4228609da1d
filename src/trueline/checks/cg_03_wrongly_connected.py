"""Nodes of the network are wrongly connected.

What it looks at
----------------
The calls of the first training step: layers with trained parameters that are never called, and layers whose output
nothing on the way to the loss takes. Against a benchmark: layers that are called, or fed, otherwise there.

Why it hurts
------------
A layer that is left out does not learn; a line that takes the wrong variable skips everything in between. The network
trains, with less than it was designed with.

What to do
----------
Follow the variables through forward from the layer that is named: is its output the next one's input?

When it is wrong
----------------
Where a layer is meant for a later part of the training, or for inference only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trueline.checks.engine.check import check, found, na, none
from trueline.checks.evidence.aligned import paired_params
from trueline.checks.evidence.looks import TRAIN, built_where, few, gradient_looks, module_of, modules_of, trained_rank
from trueline.checks.evidence.reached import Lost, downstream, unreached
from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.model.finding import Finding, Where


@check("cg.03", "nodes are wrongly connected")
def from_run(run: Run, *, min_looks: int = 2) -> Iterator[Finding]:
    """Layers without a way to the loss."""
    rank = trained_rank(run)
    looks = gradient_looks(rank) if rank is not None else {}
    if rank is None or not any(len(own) >= min_looks for own in looks.values()):
        yield na("cg_03.no_updates")
        return
    calls = sum(one.phase == TRAIN for one in rank.calls)
    if not calls:
        yield na("cg_03.no_calls")
        return
    lost = [one for one in unreached(rank, run.info.framework, min_looks) if one.lost in (Lost.UNCALLED, Lost.UNUSED)]
    modules = modules_of(rank)
    for one in lost:
        evidence = [{"module": one.module, "parameters": list(one.parameters)}]
        if one.lost is Lost.UNCALLED:
            place = built_where(modules.get(one.module), path=one.module)
            yield found("cg_03.never_called", place, evidence=evidence, module=one.module)
        else:
            line = one.line
            place = Where(file=line.file if line else None, line=line.line if line else None, module=one.module, step=0)
            yield found("cg_03.unused", place, evidence=evidence, module=one.module)
    if not lost:
        yield none("cg_03.connected", evidence=[{"calls": calls}], calls=calls)


@check("cg.03")
def from_pair(run: Run, bench_run: Run) -> Iterator[Finding]:
    """Layers that feed others than in the benchmark."""
    rank, bench = trained_rank(run), trained_rank(bench_run)
    pairs = paired_params(run, bench_run)
    if rank is None or bench is None or not pairs:
        yield na("cg_03.not_aligned")
        return
    there = {module_of(own.name): module_of(other.name) for own, other in pairs}
    own_edges, bench_edges = _edges(rank, there), _edges(bench, {other: other for other in there.values()})
    modules = modules_of(rank)
    told = 0
    for path, name in there.items():
        if name in own_edges and name in bench_edges and own_edges[name] != bench_edges[name]:
            told += 1
            more, less = own_edges[name] - bench_edges[name], bench_edges[name] - own_edges[name]
            evidence = [{"module": path, "only_here": sorted(more), "only_bench": sorted(less)}]
            place = built_where(modules.get(path), path=path)
            yield found("cg_03.unlike_bench", place, evidence=evidence, module=path, others=few(more | less))
    if not told:
        yield none("cg_03.as_bench", evidence=[{"layers": len(there)}], layers=len(there))


def _edges(rank: RankFolder, names: Mapping[str, str]) -> dict[str, set[str]]:
    """Layers with parameters, by the benchmark's names, and all that they reach."""
    called = {one.path for one in rank.calls if one.phase == TRAIN}
    return {
        name: {names[one] for one in downstream(rank, path) if one in names}
        for path, name in names.items()
        if path in called
    }
