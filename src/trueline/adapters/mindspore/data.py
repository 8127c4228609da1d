"""Events of batches as the training loop receives them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from trueline.adapters.identity import ByIdentity, Reference, reference
from trueline.adapters.indexes import Indexes
from trueline.adapters.mindspore import internals, workers
from trueline.adapters.mindspore.internals import datasets
from trueline.adapters.mindspore.session import Session
from trueline.adapters.nouns import Foreign, Function, Loader, LoaderFacts, Value
from trueline.adapters.patching import Patches


def watch(session: Session, patches: Patches) -> None:
    """Report every iteration over a dataset and every batch."""
    sources = _Sources(workers.watch(session, patches))
    patches.wrap(internals.DatasetIterator, "__next__", lambda original: _fetch(session, sources, original))
    if internals.DataLoader is not None:
        patches.wrap(internals.LoaderIterator, "__next__", lambda original: _fetch(session, sources, original))
        patches.wrap(internals.DataLoader, "__iter__", lambda original: _begin(session, sources, original))
        patches.wrap(internals.LoaderIterator, internals.NEXT_INDEX, lambda original: _ask(session, sources, original))
    patches.wrap(internals.DatasetHelper, "__init__", lambda original: _sink(session, original))


class _Sources:
    """The loader of each iterator, the iterations in progress, and indexes drawn but not yet delivered."""

    def __init__(self, pass_on: Callable[[], None]) -> None:
        self.pass_on = pass_on
        self.loaders: ByIdentity[Reference] = ByIdentity()
        self.under_way: ByIdentity[bool] = ByIdentity()
        self.indexes = Indexes()

    def loader_of(self, iterator: Loader) -> Loader:
        dataset = internals.dataset_of(iterator)
        if dataset is not None:
            return dataset
        known = self.loaders.get(iterator)
        loader = known() if known is not None else None
        return loader if loader is not None else iterator


def _fetch(session: Session, sources: _Sources, original: Function) -> Function:
    def fetch(iterator: Loader) -> Value:
        if not session.is_reporting():
            return original(iterator)
        session.settle()
        loader = sources.loader_of(iterator)
        # One iterator serves many epochs: an iteration begins with the first fetch, or the first after an end.
        if iterator not in sources.under_way:
            sources.under_way.set(iterator, True)
            session.observer.loader_began(loader, facts(loader))
        session.observer.fetch_began(loader)
        handed = session.observer.instead(loader)
        if handed is not None and not handed.ended:
            return handed.batch
        try:
            if handed is not None:
                raise StopIteration
            with session.silence():
                batch = original(iterator)
        except StopIteration:
            sources.under_way.pop(iterator)
            sources.indexes.forget(iterator)
            sources.pass_on()
            session.observer.loader_ended(loader)
            raise
        sources.pass_on()
        in_order = bool(getattr(iterator, "in_order", True))
        session.observer.fetched(loader, batch, sources.indexes.handed_out(iterator, in_order=in_order))
        return batch

    return fetch


def _begin(session: Session, sources: _Sources, original: Function) -> Function:
    def begin(loader: Loader) -> Loader:
        iterator = original(loader)
        if session.is_reporting():
            sources.loaders.set(iterator, reference(loader))
        return iterator

    return begin


def _ask(session: Session, sources: _Sources, original: Function) -> Function:
    def ask(iterator: Loader) -> object:
        index = original(iterator)
        if session.switch.on:
            sources.indexes.asked(iterator, index)
        return index

    return ask


def _sink(session: Session, original: Function) -> Function:
    def begin(helper: Foreign, *args: object, **kwargs: object) -> None:
        original(helper, *args, **kwargs)
        if session.is_reporting() and internals.is_sink(helper):
            session.notice("mindspore.data_sink", "")

    return begin


def facts(loader: Loader) -> LoaderFacts:
    """Facts of a pipeline, from its description alone: querying it would start it."""
    if not isinstance(loader, datasets.Dataset):
        return _facts_of_loader(loader)
    chain = list(operations(loader))
    leaf = chain[-1]
    batch = next((operation for operation in chain if isinstance(operation, datasets.BatchDataset)), None)
    sampler = getattr(leaf, "sampler", None)
    shuffles = any(isinstance(operation, datasets.ShuffleDataset) for operation in chain)
    random = type(sampler).__name__ in ("RandomSampler", "SubsetRandomSampler", "WeightedRandomSampler")
    return {
        "kind": type(loader).__name__,
        "dataset": _dataset_name(leaf),
        "length": length_of(loader),
        "samples": length_of(leaf),
        "batch_size": batch.batch_size if batch is not None and batch.batch_size_func is None else None,
        "sampler": type(sampler).__name__ if sampler is not None else None,
        "shuffle": shuffles or random or getattr(leaf, "shuffle_flag", 0) == 2,
        "drop_last": bool(batch.drop_remainder) if batch is not None else False,
        "workers": max((operation.num_parallel_workers or 0 for operation in chain), default=0),
        "repeat": _repeats(chain),
    }


def _facts_of_loader(loader: Loader) -> LoaderFacts:
    sampler = getattr(loader, "sampler", None)
    return {
        "kind": type(loader).__name__,
        "dataset": type(getattr(loader, "dataset", None)).__name__,
        "length": _len(loader),
        "samples": _len(getattr(loader, "dataset", None)),
        "batch_size": getattr(loader, "batch_size", None),
        "sampler": type(sampler).__name__ if sampler is not None else None,
        "shuffle": type(sampler).__name__ in ("RandomSampler", "SubsetRandomSampler", "WeightedRandomSampler"),
        "drop_last": bool(getattr(loader, "drop_last", False)),
        "workers": int(getattr(loader, "num_workers", 0) or 0),
    }


def _len(sized: Loader) -> int | None:
    try:
        return len(sized)
    except Exception:  # noqa: BLE001 - a user's class may refuse as it likes
        return None


def operations(dataset: Loader) -> Iterator[Loader]:
    """The operations of a pipeline from the last back to the source."""
    while True:
        yield dataset
        if not dataset.children:
            return
        dataset = dataset.children[0]


def _dataset_name(leaf: Loader) -> str:
    source = getattr(leaf, "source", None)
    own = type(source).__module__.startswith("mindspore") or isinstance(source, list | tuple)
    return type(leaf).__name__ if source is None or own else type(source).__name__


def _repeats(chain: list[Loader]) -> int:
    total = 1
    for operation in chain:
        if isinstance(operation, datasets.RepeatDataset):
            total *= int(operation.count)
    return total


def length_of(dataset: Loader) -> int | None:
    """The number of items per iteration, where the pipeline's description determines it."""
    if isinstance(dataset.dataset_size, int):
        return dataset.dataset_size
    if not dataset.children:
        return _source_length(dataset)
    below = [length_of(child) for child in dataset.children]
    known = [length for length in below if length is not None]
    if len(known) < len(below):
        return None
    return _through(dataset, known)


def _source_length(leaf: Loader) -> int | None:
    length = getattr(leaf, "source_len", None)
    if not isinstance(length, int) or length < 0:
        return None
    count = getattr(leaf, "num_samples", 0) or getattr(getattr(leaf, "sampler", None), "num_samples", 0) or length
    return min(length, int(count))


def _through(dataset: Loader, below: list[int]) -> int | None:
    if isinstance(dataset, datasets.BatchDataset):
        if dataset.batch_size_func is not None:
            return None
        whole, rest = divmod(below[0], dataset.batch_size)
        return int(whole) + int(rest > 0 and not dataset.drop_remainder)
    if isinstance(dataset, datasets.RepeatDataset):
        return below[0] * int(dataset.count) if dataset.count and dataset.count > 0 else None
    if isinstance(dataset, datasets.TakeDataset):
        return min(below[0], int(dataset.count)) if dataset.count > 0 else below[0]
    if isinstance(dataset, datasets.SkipDataset):
        return max(0, below[0] - int(dataset.count))
    if isinstance(dataset, datasets.ConcatDataset):
        return sum(below)
    if isinstance(dataset, datasets.FilterDataset | datasets.BucketBatchByLengthDataset):
        return None
    return min(below)
