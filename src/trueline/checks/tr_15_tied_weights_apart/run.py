"""What a run shows of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from trueline.checks.engine.check import check, found, na, none, undecided
from trueline.checks.evidence.looks import built_where, module_of, modules_of, trained_rank, weights_of
from trueline.checks.evidence.weights import weight_looks
from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.model.events import WeightsEvent
from trueline.model.finding import Certainty, Finding

_TIE = re.compile(r"(^|_)(tie|tied|tying)(_|$)")
_OUTPUTS = ("Linear", "Dense")


@check("tr.15", "tied weights came apart")
def from_run(run: Run) -> Iterator[Finding]:
    """Which parameters are one tensor, from look to look."""
    rank = trained_rank(run)
    looks = weight_looks(rank) if rank is not None else []
    if rank is None or not looks:
        yield undecided("tr_15.no_updates")
        return
    modules = modules_of(rank)
    reported = 0
    for said, names, step in [*_parted(looks), *_copied(rank, looks)]:
        reported += 1
        place = built_where(modules.get(module_of(names[1])), step=step, path=module_of(names[1]))
        yield found(said, place, evidence=[names], step=step, first=names[0], second=names[1])
    shared = looks[-1].shared
    asked = _asked(rank)
    if not reported and asked is not None and not shared and not any(param.shared_with for param in rank.params):
        reported += 1
        place = built_where(modules.get(asked[0]), path=asked[0])
        yield found("tr_15.not_tied", place, certainty=Certainty.LIKELY, evidence=[asked], setting=asked[1])
    if reported:
        return
    if shared:
        yield none("tr_15.tied", evidence=shared, count=len(shared), looks=len(looks))
    else:
        yield na("tr_15.none_tied")


def _parted(looks: list[WeightsEvent]) -> Iterator[tuple[str, tuple[str, str], int]]:
    """Names that were together in a look and are both there, apart, in the next."""
    for before, after in pairwise(looks):
        together = {frozenset(pair) for group in after.shared for pair in _pairs(group)}
        for group in before.shared:
            for pair in _pairs(group):
                if frozenset(pair) not in together and all(name in after.fingerprints for name in pair):
                    yield "tr_15.came_apart", pair, after.step
                    return


def _pairs(group: Sequence[str]) -> list[tuple[str, str]]:
    return [(group[0], name) for name in group[1:]]


def _copied(rank: RankFolder, looks: list[WeightsEvent]) -> Iterator[tuple[str, tuple[str, str], int]]:
    """An embedding and an output layer with the same first values that are two tensors and part."""
    modules = modules_of(rank)
    by_mark: dict[tuple[int, tuple[int, ...]], list[str]] = {}
    for param in weights_of(rank):
        if param.initial is not None and param.initial.minimum < param.initial.maximum and len(param.shape) > 1:
            by_mark.setdefault((param.initial.fingerprint, param.shape), []).append(param.name)
    for names in by_mark.values():
        kinds = {name: modules[module_of(name)].type for name in names if module_of(name) in modules}
        embeddings = [name for name, kind in kinds.items() if "Embedding" in kind]
        outputs = [name for name, kind in kinds.items() if kind.endswith(_OUTPUTS)]
        if embeddings and outputs:
            pair = (embeddings[0], outputs[0])
            for look in looks:
                marks = look.fingerprints
                if marks.get(pair[0]) != marks.get(pair[1]):
                    yield "tr_15.copied", pair, look.step
                    return


def _asked(rank: RankFolder) -> tuple[str, str] | None:
    """A module that was built with a setting that asks for tied weights."""
    for module in rank.modules:
        for name, value in (module.arguments or {}).items():
            if value is True and _TIE.search(name):
                return module.path, name
    return None
