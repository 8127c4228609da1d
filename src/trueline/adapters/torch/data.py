"""Events of batches as the training loop receives them, with the sampler's indexes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import get_ident

from torch.utils import data as torch_data

from trueline.adapters.identity import ByIdentity, Reference, reference
from trueline.adapters.indexes import Indexes
from trueline.adapters.nouns import Foreign, Function, Loader, LoaderFacts, Value
from trueline.adapters.observer import Observer
from trueline.adapters.patching import Patches, Switch
from trueline.adapters.torch import internals, workers
from trueline.adapters.training_thread import TrainingThread

_SHUFFLES = {
    "SequentialSampler": False,
    "RandomSampler": True,
    "SubsetRandomSampler": True,
    "WeightedRandomSampler": True,
}


def watch(observer: Observer, switch: Switch, patches: Patches, thread: TrainingThread) -> None:
    """Report every iteration over a DataLoader and every batch."""
    loaders: ByIdentity[Reference] = ByIdentity()
    indexes = Indexes()
    pass_on = workers.watch(observer, switch, patches)

    def make_iter(original: Function) -> Function:
        def begin(loader: Loader) -> Loader:
            iterator = original(loader)
            if switch.on and thread.may_fetch() and isinstance(iterator, internals.LoaderIterator):
                loaders.set(iterator, _holding(loader))
                observer.loader_began(loader, facts(loader))
            return iterator

        return begin

    def make_next(original: Function) -> Function:
        def fetch(iterator: Loader) -> Value:
            if not switch.on or not thread.may_fetch():
                return original(iterator)
            known = loaders.get(iterator)
            loader = known() if known is not None else None
            observer.fetch_began(loader)
            handed = observer.instead(loader)
            if handed is not None and not handed.ended:
                return handed.batch
            try:
                if handed is not None:
                    raise StopIteration
                with _fetching(switch):
                    batch = original(iterator)
            except StopIteration:
                indexes.forget(iterator)
                pass_on()
                observer.loader_ended(loader)
                raise
            pass_on()
            in_order = internals.is_in_order(iterator)
            observer.fetched(loader, batch, indexes.handed_out(iterator, in_order=in_order))
            return batch

        return fetch

    def make_next_index(original: Function) -> Function:
        def ask(iterator: Loader) -> object:
            index = original(iterator)
            if switch.on:
                indexes.asked(iterator, index)
            return index

        return ask

    def make_reset(original: Function) -> Function:
        def reset(iterator: Loader, *args: object, **kwargs: object) -> object:
            indexes.forget(iterator)
            return original(iterator, *args, **kwargs)

        return reset

    patches.wrap(torch_data.DataLoader, "__iter__", make_iter)
    patches.wrap(internals.LoaderIterator, "__next__", make_next)
    patches.wrap(internals.LoaderIterator, internals.NEXT_INDEX, make_next_index)
    patches.wrap(internals.LoaderIterator, internals.RESET, make_reset)


@contextmanager
def _fetching(switch: Switch) -> Iterator[None]:
    """Calls in this block make data: transforms, or a network that preprocesses samples."""
    thread = get_ident()
    nested = thread in switch.fetching
    switch.fetching.add(thread)
    try:
        yield
    finally:
        if not nested:
            switch.fetching.discard(thread)


def _holding(loader: Loader) -> Reference:
    """A reference that keeps the loader alive as long as its iterator, unless the loader holds the iterator itself."""
    return reference(loader) if getattr(loader, "persistent_workers", False) is True else lambda: loader


def facts(loader: Loader) -> LoaderFacts:
    """Facts of a loader; the length of an iterable dataset is not queried, since that changes it."""
    iterable = isinstance(loader.dataset, torch_data.IterableDataset)
    sampler = None if iterable else _sampler(loader)
    return {
        "kind": type(loader).__name__,
        "dataset": type(loader.dataset).__name__,
        "length": None if iterable else _length(loader),
        "samples": None if iterable else _length(loader.dataset),
        "batch_size": loader.batch_size,
        "sampler": sampler,
        "shuffle": _SHUFFLES.get(sampler or ""),
        "drop_last": bool(loader.drop_last),
        "workers": int(loader.num_workers),
    }


def _sampler(loader: Loader) -> str:
    """The class that determines the order: the sampler, that of a user's batch sampler, or the batch sampler."""
    if loader.batch_size is not None or loader.batch_sampler is None:
        return type(loader.sampler).__name__
    inside = getattr(loader.batch_sampler, "sampler", None)
    return type(inside if inside is not None else loader.batch_sampler).__name__


def _length(sized: Foreign) -> int | None:
    try:
        return len(sized)
    except Exception:  # noqa: BLE001 - a user's class may refuse as it likes
        return None
