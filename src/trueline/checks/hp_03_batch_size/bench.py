"""What shows beside a benchmark."""

from __future__ import annotations

from collections.abc import Iterator

from trueline.checks.engine.check import Params, check, found, none, suspect, undecided
from trueline.checks.evidence.rates import optimized
from trueline.checks.hp_03_batch_size.run import batch_of_update
from trueline.formats.run_folder.reader import Run
from trueline.model.finding import Finding


@check("hp.03")
def from_runs(run: Run, bench_run: Run, *, max_factor: float = 1.5) -> Iterator[Finding]:
    """Learning rate / batch against the benchmark's."""
    here, there = batch_of_update(run), batch_of_update(bench_run)
    own, bench = optimized(run), optimized(bench_run)
    if here is None or there is None or own is None or bench is None:
        yield undecided("hp_03.no_pair")
        return
    rate, rate_there = max(own.rates), max(bench.rates)
    params: Params = {"size": here.whole, "bench": there.whole, "lr": rate, "bench_lr": rate_there}
    larger = here.whole / there.whole
    scaled = (rate / rate_there) / larger if rate_there else 1.0
    seen: Params = {"measured": scaled, "limit": 1 / max_factor, "evidence": [params]}
    where = here.stream.where()
    if larger <= max_factor or scaled > 1 / max_factor:
        yield none("hp_03.as_bench", **seen, **params)
    elif own.adaptive:
        yield suspect("hp_03.not_scaled", where, **seen, **params)
    else:
        yield found("hp_03.not_scaled", where, **seen, **params)
