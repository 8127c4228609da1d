"""What a run shows of it."""

from __future__ import annotations

from collections.abc import Iterator

from trueline.checks.engine.check import check, found, undecided
from trueline.checks.evidence.looks import built_where, few, module_of, modules_of, trained_rank
from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.model.finding import Certainty, Finding


@check("cg.01", "weights are wrongly shared or not shared", decides=False)
def from_run(run: Run) -> Iterator[Finding]:
    """The same layer several times in one list."""
    rank = trained_rank(run)
    if rank is None or not rank.params:
        yield undecided("cg_01.no_parameters")
        return
    groups = shared_groups(rank)
    modules = modules_of(rank)
    reported = 0
    seen: set[frozenset[str]] = set()
    for names in groups:
        layers = [module_of(name) for name in names]
        repeated = _in_one_list(layers)
        if len(repeated) > 1 and frozenset(repeated) not in seen:
            seen.add(frozenset(repeated))
            reported += 1
            place = built_where(modules.get(repeated[0]), path=repeated[0])
            evidence = [{"layers": repeated}]
            count = len(repeated)
            yield found(
                "cg_01.repeated",
                place,
                certainty=Certainty.LIKELY,
                evidence=evidence,
                count=count,
                layers=few(repeated),
            )
    if not reported:
        said = "cg_01.tied" if groups else "cg_01.none_shared"
        looked = [{"parameters": len(rank.params), "shared": len(groups)}]
        # Which weights are meant to be shared only the benchmark tells.
        yield undecided(said, evidence=looked, count=len(groups), parameters=len(rank.params))


def shared_groups(rank: RankFolder) -> list[list[str]]:
    """The names of parameters that are one tensor."""
    groups: dict[str, list[str]] = {}
    for param in rank.params:
        if param.shared_with is not None and not param.buffer:
            groups.setdefault(param.shared_with, [param.shared_with]).append(param.name)
    return list(groups.values())


def _in_one_list(layers: list[str]) -> list[str]:
    """Those that differ in one number of their paths only: places of one list."""
    first = layers[0].split(".")
    found = [layers[0]]
    for layer in layers[1:]:
        parts = layer.split(".")
        if len(parts) == len(first):
            apart = [(own, beside) for own, beside in zip(first, parts, strict=True) if own != beside]
            if len(apart) == 1 and all(part.isdigit() for part in apart[0]):
                found.append(layer)
    return found if len(found) > 1 else []
