"""What shows beside a benchmark."""

from __future__ import annotations

from collections.abc import Iterator

from trueline.checks.engine.check import check, found, none, undecided
from trueline.checks.evidence.aligned import paired_params
from trueline.checks.evidence.looks import (
    built_where,
    few,
    module_of,
    modules_of,
    trained_rank,
)
from trueline.formats.run_folder.reader import Run
from trueline.model.finding import Finding
from trueline.model.run import ParamInfo


@check("cg.02")
def from_pair(run: Run, bench_run: Run) -> Iterator[Finding]:
    """Parameters that learn in the benchmark and not here."""
    rank, bench = trained_rank(run), trained_rank(bench_run)
    if rank is None or bench is None:
        yield undecided("cg_02.no_updates")
        return
    pairs = paired_params(run, bench_run)
    if not pairs:
        yield undecided("cg_02.not_aligned")
        return
    frozen = [(own, bench_param) for own, bench_param in pairs if not _learns(own) and _learns(bench_param)]
    modules = modules_of(rank)
    if not frozen:
        yield none("cg_02.as_bench", evidence=[{"pairs": len(pairs)}], pairs=len(pairs))
        return
    first = frozen[0][0].name
    place = built_where(modules.get(module_of(first)), path=module_of(first))
    evidence = [{"name": own.name, "bench": bench_param.name} for own, bench_param in frozen[:20]]
    yield found(
        "cg_02.unlike_bench", place, evidence=evidence, names=few(own.name for own, _ in frozen), count=len(frozen)
    )


def _learns(param: ParamInfo) -> bool:
    return param.trainable and param.optimizer is not None
