"""What shows beside a benchmark."""

from __future__ import annotations

from collections.abc import Iterator

from trueline.checks.cg_01_weights_shared.run import shared_groups
from trueline.checks.engine.check import check, found, none, undecided
from trueline.checks.evidence.aligned import paired_params
from trueline.checks.evidence.looks import built_where, few, module_of, modules_of, trained_rank
from trueline.formats.run_folder.reader import Run
from trueline.model.finding import Finding


@check("cg.01")
def from_pair(run: Run, bench_run: Run) -> Iterator[Finding]:
    """Groups of shared parameters, here and in the benchmark."""
    rank, bench = trained_rank(run), trained_rank(bench_run)
    pairs = paired_params(run, bench_run)
    if rank is None or bench is None or not pairs:
        yield undecided("cg_01.not_aligned")
        return
    here = {own.name: there.name for own, there in pairs}
    own = {frozenset(here[name] for name in group if name in here) for group in shared_groups(rank)}
    bench_groups = {frozenset(group) for group in shared_groups(bench)}
    known = set(here.values())
    there = [group for group in bench_groups if len(group & known) > 1]
    lacking = [group for group in there if not any(group & known <= shared for shared in own)]
    more = [group for group in own if len(group) > 1 and not any(group <= shared for shared in bench_groups)]
    modules = modules_of(rank)
    back = {bench_name: name for name, bench_name in here.items()}
    for said, group in [
        *(("cg_01.not_shared", group) for group in lacking),
        *(("cg_01.shared", group) for group in more),
    ]:
        names = sorted(back[name] for name in group if name in back)
        place = built_where(modules.get(module_of(names[-1])), path=module_of(names[-1]))
        yield found(said, place, evidence=[names], names=few(names))
    if not lacking and not more:
        count = len(bench_groups)
        yield none("cg_01.as_bench", evidence=[{"pairs": len(pairs), "shared": count}], count=count)
