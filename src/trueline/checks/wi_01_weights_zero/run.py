"""What a run shows of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trueline.apitable.functions import stems_of
from trueline.apitable.traits import Trait
from trueline.checks.engine.check import check, found, none, suspect, undecided
from trueline.checks.evidence.exchanges import hands_on_what_passes_through
from trueline.checks.evidence.looks import built_where, few, module_of, modules_of, trained_rank, weights_of
from trueline.checks.evidence.ranks import apart_at_start
from trueline.checks.evidence.weights import still
from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.model.finding import Finding
from trueline.model.json_value import Json
from trueline.model.location import Location
from trueline.model.run import ParamInfo

_LAYERS = stems_of(Trait.LINEAR, Trait.BILINEAR, Trait.CONV, Trait.RECURRENT, Trait.EMBEDDING)
_ADAPTERS = ("lora", "adapter", "zero")


@check("wi.01", "weights are zero or alike at the start")
def from_run(run: Run, *, max_share: float = 0.5) -> Iterator[Finding]:
    """The weights of layers as they were before the first update."""
    rank = trained_rank(run)
    weights = _weights(rank) if rank is not None else []
    if rank is None or not weights:
        yield undecided("wi_01.no_weights")
        return
    problems = [*_alike(rank, weights, max_share), *_ranks(run)]
    yield from problems
    if not problems:
        yield none("wi_01.drawn", evidence=[{"weights": len(weights)}], weights=len(weights))


def _weights(rank: RankFolder) -> list[ParamInfo]:
    """Trained weights of two sides and more, of layers that multiply."""
    modules = modules_of(rank)
    found = []
    for param in weights_of(rank):
        module = modules.get(module_of(param.name))
        kind = module.type if module is not None else ""
        sides = sum(side > 1 for side in param.shape)
        if param.trainable and param.initial is not None and sides >= 2 and any(name in kind for name in _LAYERS):
            found.append(param)
    return found


def _alike(rank: RankFolder, weights: list[ParamInfo], max_share: float) -> Iterator[Finding]:
    modules = modules_of(rank)
    zero, constant, rows = [], [], []
    for param in weights:
        assert param.initial is not None
        if param.initial.zeros == param.initial.count:
            zero.append(param)
        elif param.initial.minimum == param.initial.maximum and param.initial.non_finite == 0:
            constant.append(param)
        elif param.equal_rows and param.shape[0] > 1:
            rows.append(param)
    zero = [param for param in zero if not any(word in param.name.lower() for word in _ADAPTERS)]
    for said, group in (("wi_01.constant", constant), ("wi_01.rows", rows)):
        if group:
            place = built_where(modules.get(module_of(group[0].name)), step=0)
            names = few(param.name for param in group)
            yield found(said, place, evidence=_shapes(group), names=names, count=len(group))
    if not zero:
        return
    stays = still(rank)
    stuck = [param for param in zero if stays is not None and param.name in stays]
    share = len(zero) / len(weights)
    place = built_where(modules.get(module_of((stuck or zero)[0].name)), step=0)
    evidence = _shapes(zero)
    names = few(param.name for param in (stuck or zero))
    if stuck or (share > max_share and len(zero) > 1):
        yield found(
            "wi_01.zero", place, measured=share, limit=max_share, evidence=evidence, names=names, count=len(zero)
        )
    elif stays is None:
        yield suspect("wi_01.zero", place, measured=share, evidence=evidence, names=names, count=len(zero))


def _shapes(params: Sequence[ParamInfo]) -> list[Json]:
    return [{"name": param.name, "shape": list(param.shape)} for param in params]


def _ranks(run: Run) -> Iterator[Finding]:
    apart = apart_at_start(run)
    if apart and not hands_on_what_passes_through(run):
        name, rank, count = apart
        yield found("wi_01.ranks", Location(module=module_of(name), step=0, rank=rank), evidence=[name], count=count)
