"""Weights are shared that should not be, or not shared that should be.

What it looks at
----------------
Which parameters of several names are one tensor. By itself a run shows one sure slip: the same layer several times in
one list (`[layer] * n`). Against a benchmark: groups that are shared there and not here, or here and not there.

Why it hurts
------------
A stack of six layers that is one layer six times has a sixth of the parameters. Weights that should be tied and are
not have twice as many, and learn from half of the data each.

What to do
----------
Build layers in a loop or comprehension, or copy them; tie by assigning the parameter itself.

When it is wrong
----------------
Where one layer is meant to be applied several times, as ALBERT does. Such code calls one layer in a loop.
"""

from __future__ import annotations

from collections.abc import Iterator

from trueline.checks.engine.check import check, found, na, none
from trueline.checks.evidence.aligned import paired_params
from trueline.checks.evidence.looks import built_where, few, module_of, modules_of, trained_rank
from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.model.finding import Certainty, Finding


@check("cg.01", "weights are wrongly shared or not shared")
def from_run(run: Run) -> Iterator[Finding]:
    """The same layer several times in one list."""
    rank = trained_rank(run)
    if rank is None or not rank.params:
        yield na("cg_01.no_parameters")
        return
    groups = _groups(rank)
    modules = modules_of(rank)
    told = 0
    seen: set[frozenset[str]] = set()
    for names in groups:
        layers = [module_of(name) for name in names]
        repeated = _in_one_list(layers)
        if len(repeated) > 1 and frozenset(repeated) not in seen:
            seen.add(frozenset(repeated))
            told += 1
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
    if not told:
        said = "cg_01.tied" if groups else "cg_01.none_shared"
        looked = [{"parameters": len(rank.params), "shared": len(groups)}]
        yield none(said, evidence=looked, count=len(groups), parameters=len(rank.params))


def _groups(rank: RankFolder) -> list[list[str]]:
    """The names of parameters that are one tensor."""
    groups: dict[str, list[str]] = {}
    for one in rank.params:
        if one.shared_with is not None and not one.buffer:
            groups.setdefault(one.shared_with, [one.shared_with]).append(one.name)
    return list(groups.values())


def _in_one_list(layers: list[str]) -> list[str]:
    """Those that differ in one number of their paths only: places of one list."""
    first = layers[0].split(".")
    found = [layers[0]]
    for one in layers[1:]:
        parts = one.split(".")
        if len(parts) == len(first):
            apart = [(own, other) for own, other in zip(first, parts, strict=True) if own != other]
            if len(apart) == 1 and all(part.isdigit() for part in apart[0]):
                found.append(one)
    return found if len(found) > 1 else []


@check("cg.01")
def from_pair(run: Run, bench_run: Run) -> Iterator[Finding]:
    """Groups of shared parameters, here and in the benchmark."""
    rank, bench = trained_rank(run), trained_rank(bench_run)
    pairs = paired_params(run, bench_run)
    if rank is None or bench is None or not pairs:
        yield na("cg_01.not_aligned")
        return
    here = {own.name: other.name for own, other in pairs}
    own = {frozenset(here[name] for name in group if name in here) for group in _groups(rank)}
    other = {frozenset(group) for group in _groups(bench)}
    known = set(here.values())
    lacking = [group for group in other if len(group & known) > 1 and not any(group & known <= one for one in own)]
    more = [group for group in own if len(group) > 1 and not any(group <= one for one in other)]
    modules = modules_of(rank)
    back = {bench_name: name for name, bench_name in here.items()}
    for said, group in [*(("cg_01.not_shared", one) for one in lacking), *(("cg_01.shared", one) for one in more)]:
        names = sorted(back[one] for one in group if one in back)
        place = built_where(modules.get(module_of(names[-1])), path=module_of(names[-1]))
        yield found(said, place, evidence=[names], names=few(names))
    if not lacking and not more:
        yield none("cg_01.as_bench", evidence=[{"pairs": len(pairs), "shared": len(other)}], count=len(other))
