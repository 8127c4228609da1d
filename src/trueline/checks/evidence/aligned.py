"""Which parameter of a run is which of the benchmark's."""

from __future__ import annotations

from trueline.checks.evidence.looks import trained_rank
from trueline.compare.rows import Network
from trueline.compare.weights import compare_initial_weights
from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.model.key import Key
from trueline.model.run import ParamInfo


def paired_params(run: Run, bench_run: Run) -> list[tuple[ParamInfo, ParamInfo]]:
    """Parameters of both runs that are the same, this run's first; buffers are left out."""
    rank, bench = trained_rank(run), trained_rank(bench_run)
    if rank is None or bench is None:
        return []
    compared = compare_initial_weights(rank.params, bench.params, networks=(network_of(rank), network_of(bench)))
    here, there = ({param.name: param for param in side.params} for side in (rank, bench))
    pairs = [(here.get(_name(pair.a)), there.get(_name(pair.b))) for pair in compared.alignment.pairs]
    return [
        (own, bench_param)
        for own, bench_param in pairs
        if own is not None and bench_param is not None and not own.buffer
    ]


def network_of(rank: RankFolder) -> Network:
    """What aligning wants to know of a network."""
    return Network({module.path: module.type for module in rank.modules}, rank.calls)


def _name(key: Key) -> str:
    return f"{key.module}.{key.index}" if key.module else key.index
