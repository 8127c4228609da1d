"""What a difference between two runs is about: initial weights, the order of data, its values, dropout, a rate …"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from trueline.adapters.dropout import named_as_dropping
from trueline.formats.run_folder.reader import RankFolder
from trueline.model.events import BatchEvent
from trueline.model.json_value import Json
from trueline.model.key import Key, Kind
from trueline.model.location import Location
from trueline.model.run import ModuleInfo
from trueline.model.sample import Batch
from trueline.repro.differences import Difference, first_difference
from trueline.repro.trials import Trial

WEIGHTS: Final = "initial_weights"
ORDER: Final = "shuffle"
VALUES: Final = "augmentation"
DROPOUT: Final = "dropout"
OPERATOR: Final = "random_op"
RATES: Final = "hyper_parameters"
ENDING: Final = "ending"


@dataclass(frozen=True, slots=True)
class Consumer:
    """What uses the randomness, the difference that shows it, and the line of the module that it is about."""

    drives: str
    difference: Difference
    module: ModuleInfo | None = None
    line: Location | None = None


def consumers(a: Trial, b: Trial, *, beyond_rounding: bool = False) -> list[Consumer]:
    """All that differ by themselves: weights, data and rates, or where these agree the first tensor."""
    first = first_difference(a, b, beyond_rounding=beyond_rounding)
    if first is None or a.rank is None or b.rank is None:
        return []
    found = [*_weights(a.rank, first), *_data(a, a.rank, b.rank)]
    if not found:
        found = [_computed(a.rank, first)]
    return found


def _weights(rank: RankFolder, first: Difference) -> Iterator[Consumer]:
    if first.phase == "weights":
        module = _module(rank, first.module or "")
        yield Consumer(WEIGHTS, first, module, module.built_at if module is not None else None)


def _data(a: Trial, first: RankFolder, second: RankFolder) -> Iterator[Consumer]:
    here, there = _batches(first), _batches(second)
    common = sorted(here.keys() & there.keys())
    step = next((step for step in common if _written(here[step]) != _written(there[step])), None)
    if step is None:
        return
    difference = Difference(step, "data", "batch")
    order, values = _order_and_values(a, here, there)
    if order:
        yield Consumer(ORDER, difference)
    if values:
        yield Consumer(VALUES, difference)


def _batches(rank: RankFolder) -> dict[int, list[BatchEvent]]:
    """What loaders gave; what reaches a network otherwise may have been computed."""
    events = list(rank.events(BatchEvent, phase="train"))
    batches: dict[int, list[BatchEvent]] = {}
    for event in [event for event in events if event.source == "loader"] or events:
        batches.setdefault(event.step, []).append(event)
    return batches


def _written(events: list[BatchEvent]) -> list[Json]:
    return [event.to_json()["samples"] for event in events]


def _order_and_values(
    a: Trial, here: Mapping[int, list[BatchEvent]], there: Mapping[int, list[BatchEvent]]
) -> tuple[bool, bool]:
    """Whether other samples come, or in another order, and whether the same samples have other values."""
    here_batches, there_batches = (
        [event.batch() for step in sorted(events) for event in events[step]] for events in (here, there)
    )
    if all(batch.indexes is not None for batch in (*here_batches, *there_batches)):
        here_by_index, there_by_index = _by_index(here_batches), _by_index(there_batches)
        order = [list(batch.indexes or ()) for batch in here_batches] != [
            list(batch.indexes or ()) for batch in there_batches
        ]
        common = here_by_index.keys() & there_by_index.keys()
        changed = any(here_by_index[index] != there_by_index[index] for index in common)
        return order or not changed, changed
    known, again = _samples(here_batches), _samples(there_batches)
    if set(known) & set(again):
        in_place = any(before == after for before, after in zip(known, again, strict=False))
        changed = in_place and not _shuffles(a) and sorted(known) != sorted(again)
        return not changed, changed
    # None comes twice: others were chosen from many, or all were changed, or both.
    drawn = any(entry["moment"] in ("data", "worker") for entry in a.log.of("draw"))
    return _shuffles(a), drawn or not _shuffles(a)


def _by_index(batches: list[Batch]) -> dict[int, tuple[int, ...]]:
    """The fingerprints of every sample the first time it comes."""
    found: dict[int, tuple[int, ...]] = {}
    for batch in batches:
        for place, index in enumerate(batch.indexes or ()):
            found.setdefault(index, tuple(field.fingerprints[place] for field in batch.fields))
    return found


def _samples(batches: list[Batch]) -> list[tuple[int, ...]]:
    return [tuple(field.fingerprints[at] for field in batch.fields) for batch in batches for at in range(batch.size)]


def _shuffles(trial: Trial) -> bool:
    return trial.info is not None and any(loader.get("shuffle") for loader in trial.info.loaders)


def _computed(rank: RankFolder, first: Difference) -> Consumer:
    if first.phase == "data":
        return Consumer(VALUES, first)
    if first.phase == "end":
        return Consumer(ENDING, first)
    if first.key == "lr":
        return Consumer(RATES, first)
    module = _module(rank, first.module) if first.module is not None else None
    if module is not None and named_as_dropping(module.type) and Key.parse(first.key).kind is Kind.OUT:
        return Consumer(DROPOUT, first, module, module.built_at)
    line = next((call.called_at for call in rank.calls if call.path == first.module), None)
    return Consumer(OPERATOR, first, module, line or (module.built_at if module is not None else None))


def dropouts(trial: Trial) -> list[ModuleInfo]:
    """The modules that drop values in training, in the order they are called."""
    if trial.rank is None:
        return []
    called = dict.fromkeys(call.path for call in trial.rank.calls if call.phase == "train")
    known = {module.path: module for module in trial.rank.modules}
    return [known[path] for path in called if path in known and _drops(known[path])]


def _drops(module: ModuleInfo) -> bool:
    share = module.attributes.get("p", 1)
    return named_as_dropping(module.type) and share != 0


def _module(rank: RankFolder, path: str) -> ModuleInfo | None:
    """The module, with the line of what is around it where its own is not known."""
    known = {module.path: module for module in rank.modules}
    found = known.get(path)
    while found is not None and found.built_at is None and path:
        path = path.rpartition(".")[0]
        found = known.get(path, found)
    return found
