"""What shows beside a benchmark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trueline.checks.engine.check import check, found, none, undecided
from trueline.checks.evidence.aligned import paired_params
from trueline.checks.evidence.looks import TRAIN, built_where, few, module_of, modules_of, trained_rank
from trueline.checks.evidence.lost_gradients import downstream
from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.model.finding import Finding


@check("cg.03")
def from_pair(run: Run, bench_run: Run) -> Iterator[Finding]:
    """Layers that feed others than in the benchmark."""
    rank, bench = trained_rank(run), trained_rank(bench_run)
    pairs = paired_params(run, bench_run)
    if rank is None or bench is None or not pairs:
        yield undecided("cg_03.not_aligned")
        return
    there = {module_of(own.name): module_of(beside.name) for own, beside in pairs}
    own_edges, bench_edges = _edges(rank, there), _edges(bench, {module: module for module in there.values()})
    modules = modules_of(rank)
    reported = 0
    for path, name in there.items():
        if name in own_edges and name in bench_edges and own_edges[name] != bench_edges[name]:
            reported += 1
            more, less = own_edges[name] - bench_edges[name], bench_edges[name] - own_edges[name]
            evidence = [{"module": path, "only_here": sorted(more), "only_bench": sorted(less)}]
            place = built_where(modules.get(path), path=path)
            yield found("cg_03.unlike_bench", place, evidence=evidence, module=path, others=few(more | less))
    if not reported:
        yield none("cg_03.as_bench", evidence=[{"layers": len(there)}], layers=len(there))


def _edges(rank: RankFolder, names: Mapping[str, str]) -> dict[str, set[str]]:
    """Layers with parameters, by the benchmark's names, and all that they reach."""
    called = {call.path for call in rank.calls if call.phase == TRAIN}
    return {
        name: {names[fed] for fed in downstream(rank, path) if fed in names}
        for path, name in names.items()
        if path in called
    }
