"""Data is divided wrongly between ranks: what a script says of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trueline.apitable.functions import functions_of, qualified_of
from trueline.apitable.traits import Trait
from trueline.checks.dp_05_sharding.shares import overlapping_parts, unshared_workers
from trueline.checks.engine.check import check, found, na, none, undecided
from trueline.model.finding import Finding
from trueline.model.location import Location
from trueline.script.analysis.followed import is_training_followed
from trueline.script.analysis.passes import training_data
from trueline.script.analysis.ranks import (
    depends_on_rank,
    divides_the_model,
    is_distributed,
    is_looked_after,
    reads_rank,
)
from trueline.script.analysis.reachable import all_values
from trueline.script.loops import training_loops
from trueline.script.script import Script
from trueline.script.trace import Event, Trace, iterated
from trueline.script.values import Const, Derived, Either, Instance, Item, Made, Value, ancestry, constant, options

_LISTINGS: Final = qualified_of(Trait.LISTS_FILES)
_LISTING_METHODS: Final = functions_of(Trait.LISTS_FILES)
_SORTING: Final = functions_of(Trait.SORTS)


@check("dp.05")
def from_script(script: Script) -> Iterator[Finding]:
    """Samplers and shards of the training data of several processes, and lists of files that they divide."""
    trace = script.trace
    reported: set[str] = set()
    # Ranks that share a model are fed the same.
    undivided = () if divides_the_model(script) else _undivided(trace)
    for said, place in (*_unsorted(trace), *undivided, *_one_shard(trace)):
        if str(place) not in reported:
            reported.add(str(place))
            yield found(f"dp_05.script.{said}", place)
    for place, count in overlapping_parts(trace):
        if str(place) not in reported:
            reported.add(str(place))
            yield found("dp_05.script.overlap", place, count=count)
    for place in unshared_workers(trace):
        if str(place) not in reported:
            reported.add(str(place))
            yield found("dp_05.script.same_in_workers", place)
    if reported:
        return
    if not is_distributed(trace):
        yield (na if is_training_followed(trace) else undecided)("dp_05.script.one_process")
        return
    divided = [value for value in training_data(trace) if isinstance(value, Made) and _is_divided(value)]
    if divided:
        yield none("dp_05.script.divided", evidence=[str(value.event.place) for value in divided])
    else:
        yield undecided("dp_05.script.not_told")


def _undivided(trace: Trace) -> Iterator[tuple[str, Location]]:
    """Training loaders of several processes that all give the same samples, or the same order in every epoch."""
    if is_looked_after(trace):
        return
    together = is_distributed(trace)
    for loop in training_loops(trace):
        loader = loop.loader
        if not isinstance(loader, Made) or not loop.is_certain:
            continue
        if not together and not (loader.name.startswith("mindspore.") and reads_rank(trace)):
            continue
        if loader.name == "torch.utils.data.DataLoader":
            yield from _of_torch(loader, bool(loop.around), trace)
        elif loader.name.startswith("mindspore.dataset."):
            yield from _of_pipeline(loader)


def _of_torch(loader: Made, has_epochs: bool, trace: Trace) -> Iterator[tuple[str, Location]]:
    event = loader.event
    given = [value for value in (event.arg(3, "sampler"), event.arg(4, "batch_sampler")) if not _is_none(value)]
    dividing = [part for value in given for part in ancestry(value, most=200) if _is_dividing(part)]
    if dividing:
        sampler = dividing[0]
        if isinstance(sampler, Made):
            if all(_has_fixed_rank(value) for value in dividing):
                alone = not _is_open(sampler.event.arg(1, "num_replicas"))
                yield "sampler_of_one" if alone else "same_rank", sampler.event.place
            elif has_epochs and _shuffles(sampler) and not _is_told_epoch(sampler, trace):
                yield "no_set_epoch", sampler.event.place
        return
    if given or event.open or _divides_itself(event.arg(0, "dataset")) or depends_on_rank(loader):
        return
    yield "no_sampler", event.place


def _has_fixed_rank(sampler: Value) -> bool:
    rank = sampler.event.arg(2, "rank") if isinstance(sampler, Made) else None
    return isinstance(rank, Const) and rank.value is not None


def _shuffles(sampler: Made) -> bool:
    return constant(sampler.event.arg(3, "shuffle"), True) is not False


def _is_open(value: Value | None) -> bool:
    """A number of processes that is not written down as 1."""
    return value is None or not (isinstance(value, Const) and value.value == 1)


def _is_none(value: Value | None) -> bool:
    return value is None or (isinstance(value, Const) and value.value is None)


def _is_dividing(value: Value) -> bool:
    return isinstance(value, Made) and value.name.endswith(".DistributedSampler")


def _is_told_epoch(sampler: Made, trace: Trace) -> bool:
    """Whether ``set_epoch`` is called on it, also through its loader."""
    for event in trace.events:
        if event.method == "set_epoch" and (
            event.receiver is None
            or any(value is sampler for value in options(event.receiver))
            or any(value is sampler for value in ancestry(event.receiver, most=60))
        ):
            return True
    return False


def _divides_itself(dataset: Value | None) -> bool:
    """An iterable dataset may divide its samples itself."""
    return any(
        isinstance(value, Instance) and value.is_a("torch.utils.data.IterableDataset") for value in options(dataset)
    ) or isinstance(dataset, Either)


def _of_pipeline(loader: Made) -> Iterator[tuple[str, Location]]:
    source = _source(loader)
    if source is None or _has_shard(source) or (source.open and source.arg(None, "shard_id") is None):
        return
    number, own = source.arg(None, "num_shards"), source.arg(None, "shard_id")
    if number is not None and not _is_none(number):
        if isinstance(own, Const) and own.value is not None and _is_open(number):
            yield "same_rank", _written_at(own, source)
        return
    if not depends_on_rank(loader):
        yield "no_shards", source.place


def _written_at(number: Const, call: Event) -> Location:
    """Where a number is written down, if not in the call itself."""
    place, at = call.place, number.origin
    if at is None or (at.file == place.file and place.line <= at.line <= place.last):
        return place
    return at


def _one_shard(trace: Trace) -> Iterator[tuple[str, Location]]:
    """Training data of which only one part is ever read, in however many processes."""
    sources = [event for event in trace.events if event.name.startswith("mindspore.dataset.")]
    fixed = [event for event in sources if isinstance(event.arg(None, "shard_id"), Const)]
    for loop in training_loops(trace):
        loader = loop.loader
        source = _source(loader) if isinstance(loader, Made) else None
        if source is None or source not in fixed:
            continue
        number, own = constant(source.arg(None, "num_shards")), constant(source.arg(None, "shard_id"))
        if not isinstance(number, int) or number < 2 or own is None:
            continue
        # Where other parts are read elsewhere, it is a way to split.
        if all(constant(event.arg(None, "shard_id")) == own for event in fixed):
            yield "one_shard", source.place


def _source(loader: Made) -> Event | None:
    at: Value | None = loader
    while isinstance(at, Made) and at.event.receiver is not None:
        at = at.event.receiver
    return at.event if isinstance(at, Made) and at.name.startswith("mindspore.dataset.") else None


def _has_shard(source: Event) -> bool:
    sampler = source.arg(None, "sampler")
    return sampler is not None and not _is_none(sampler)


def _is_divided(loader: Made) -> bool:
    if any(_is_dividing(value) for value in ancestry(loader, most=400)) or depends_on_rank(loader):
        return True
    source = _source(loader)
    return source is not None and (source.open or not _is_none(source.arg(None, "num_shards")))


def _unsorted(trace: Trace) -> Iterator[tuple[str, Location]]:
    """Lists of files in the order of the file system that processes take their share of."""
    ordered = {
        id(part)
        for event in trace.events
        if event.method in _SORTING
        for value in (event.receiver, *event.args)
        if value is not None
        for part in ancestry(value, most=200)
    }
    for base in _shared_out(trace):
        for part in ancestry(base, most=400):
            if isinstance(part, Made) and id(part) not in ordered and _is_listing(part):
                yield "unsorted", part.event.place


def _is_listing(value: Made) -> bool:
    return value.name in _LISTINGS or (value.event.method in _LISTING_METHODS and value.event.receiver is not None)


def _shared_out(trace: Trace) -> Iterator[Value]:
    """What is taken every n-th of, and what training loaders of several processes are built over."""
    for value in all_values(trace):
        if isinstance(value, Item) and isinstance(value.index, Derived) and value.index.op == "Slice":
            first, _, step = value.index.of
            if not isinstance(step, Const) and not isinstance(first, Const):
                yield value.of
    if is_distributed(trace):
        for part in training_data(trace):
            loader = iterated(part)
            if loader is not None:
                yield loader
                for held in ancestry(loader, most=100):
                    if isinstance(held, Instance):
                        yield from held.attributes.values()
