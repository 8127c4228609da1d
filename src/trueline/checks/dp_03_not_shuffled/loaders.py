"""Loaders in a script: where they are built, and in which order they give their samples."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from trueline.apitable.functions import classes_of
from trueline.apitable.traits import Trait
from trueline.model.location import Location
from trueline.script.trace import LOOP, Event
from trueline.script.values import (
    Const,
    Derived,
    Function,
    Instance,
    Item,
    Made,
    Seq,
    Symbol,
    Table,
    Unknown,
    Value,
    options,
)
from trueline.script.walking import walk

_PIPELINE: Final = "mindspore.dataset."
# Sources of MindSpore that shuffle unless they are told not to, where a sampler can do it.
_SHUFFLED_SAMPLERS: Final = classes_of(Trait.SAMPLER_SHUFFLES)
_SEQUENTIAL_SAMPLERS: Final = classes_of(Trait.SAMPLER_SEQUENTIAL)
# Names in a sampler of the project's own that may have to do with another order.
_CHANCE: Final = re.compile(r"rand|shuffl|perm|sampl|choice|rng|gen|seed|draw|epoch|multinomial|hash", re.IGNORECASE)


class Order(StrEnum):
    """The order in which samples come."""

    SHUFFLED = "shuffled"
    SEQUENTIAL = "sequential"
    UNSHUFFLABLE = "unshufflable"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class LoaderOrder:
    """A loader and its order; ``place`` is the line that decides it."""

    kind: Order
    loader: Value | None = None
    place: Location | None = None
    name: str = ""


def order_of(loader: Value | None) -> LoaderOrder:
    """The order in which a loader gives samples; the most careful of them where it may be one of several."""
    orders = [_order(value) for value in options(loader)]
    if not orders:
        return LoaderOrder(Order.UNKNOWN, loader)
    if len({order.kind for order in orders}) > 1:
        return LoaderOrder(Order.UNKNOWN, loader)
    return orders[0]


def _order(loader: Value) -> LoaderOrder:
    if isinstance(loader, Made) and loader.name == "torch.utils.data.DataLoader":
        return _of_torch(loader)
    if isinstance(loader, Made) and loader.name.startswith(_PIPELINE):
        return _of_pipeline(loader)
    return LoaderOrder(Order.UNKNOWN, loader)


def _of_torch(loader: Made) -> LoaderOrder:
    event = loader.event
    name = "DataLoader"
    sampler = event.arg(3, "sampler")
    batches = event.arg(4, "batch_sampler")
    shuffle = event.arg(2, "shuffle")
    given = [value for value in (sampler, batches) if value is not None and not _is_none(value)]
    if given:
        own = given[0]
        if isinstance(own, Instance) and (place := own_order(own)) is not None:
            return LoaderOrder(Order.SEQUENTIAL, loader, place, own.cls.name)
        return LoaderOrder(_of_sampler(own), loader, event.place, name)
    if event.open:
        return LoaderOrder(Order.UNKNOWN, loader, event.place, name)
    if shuffle is not None and not isinstance(shuffle, Const):
        return LoaderOrder(Order.UNKNOWN, loader, event.place, name)
    if isinstance(shuffle, Const) and shuffle.value:
        return LoaderOrder(Order.SHUFFLED, loader, event.place, name)
    if _orders_itself(event.arg(0, "dataset")) or _is_put_in_order(event, event.arg(0, "dataset")):
        return LoaderOrder(Order.UNKNOWN, loader, event.place, name)
    return LoaderOrder(Order.SEQUENTIAL, loader, event.place, name)


def _is_put_in_order(event: Event, data: Value | None) -> bool:
    """A loader that is built anew in a loop, of samples that are picked by indexes, has another order each time."""
    return any(scope.kind == LOOP for scope in event.scopes) and any(_is_picked(value) for value in _arrays(data))


def _arrays(data: Value | None) -> Iterator[Value]:
    """What a dataset of arrays was built from."""
    for value in options(data):
        if isinstance(value, Seq | Table):
            yield from value.parts()
        elif isinstance(value, Made) and value.name.endswith((".TensorDataset", ".Subset")):
            yield from value.event.args
        else:
            yield value


def _is_picked(value: Value) -> bool:
    """At indexes that are computed; a slice keeps the order."""
    if not isinstance(value, Item) or value.index is None or isinstance(value.index, Const):
        return False
    return not (isinstance(value.index, Derived) and value.index.op == "Slice")


def _orders_itself(dataset: Value | None) -> bool:
    """An iterable dataset decides about its order itself; of one that is not known, nothing is known."""
    for value in options(dataset):
        if isinstance(value, Instance):
            if value.is_a("torch.utils.data.IterableDataset"):
                return True
        elif isinstance(value, Unknown):
            return True
    return False


@walk(Order.UNKNOWN)
def _of_sampler(sampler: Value) -> Order:
    for value in options(sampler):
        if isinstance(value, Made):
            last = value.name.rpartition(".")[2]
            if last in _SHUFFLED_SAMPLERS:
                return Order.SHUFFLED
            if last == "SubsetSampler" and not _is_in_order(value.event.arg(0, "indices")):
                # The indexes may have been shuffled before.
                return Order.UNKNOWN
            if last in _SEQUENTIAL_SAMPLERS:
                return Order.SEQUENTIAL
            shuffle = value.event.arg(3, "shuffle")
            if last == "DistributedSampler":
                return Order.SEQUENTIAL if isinstance(shuffle, Const) and not shuffle.value else Order.SHUFFLED
            if last == "BatchSampler":
                inner = value.event.arg(0, "sampler")
                return _of_sampler(inner) if inner is not None else Order.UNKNOWN
    return Order.UNKNOWN


def own_order(sampler: Instance) -> Location | None:
    """Where a sampler of the project gives its indexes, if nothing in it could ever give them in another order."""
    method = next((cls.attributes["__iter__"] for cls in sampler.cls.lineage() if "__iter__" in cls.attributes), None)
    if not isinstance(method, Function):
        return None
    waiting: list[ast.AST] = [method.node]
    read: set[str] = set()
    while waiting:
        node = waiting.pop()
        for child in ast.walk(node):
            name = child.attr if isinstance(child, ast.Attribute) else child.id if isinstance(child, ast.Name) else ""
            if _CHANCE.search(name):
                return None
            if name and name not in read:
                read.add(name)
                called = _named(name, sampler, method)
                if called is not None:
                    waiting.append(called.node)
    held = [value for name, value in sampler.attributes.items() if name in read]
    if any(_may_be_shuffled(part) for value in held for part in options(value)):
        return None
    return Location.of(method.module.file, method.node)


def _named(name: str, owner: Instance, method: Function) -> Function | None:
    """A method of the object, or a function that the method sees."""
    own = next((cls.attributes[name] for cls in owner.cls.lineage() if name in cls.attributes), None)
    if own is None and method.around is not None:
        own = method.around.get(name)
    return own if isinstance(own, Function) else None


def _may_be_shuffled(value: Value) -> bool:
    """What a sampler keeps: other samplers, orders that were drawn, and what is not known."""
    if isinstance(value, Made):
        return value.name.startswith("torch.utils.data.") or bool(_CHANCE.search(value.event.method))
    return isinstance(value, Unknown | Instance | Function)


def _is_in_order(indexes: Value | None) -> bool:
    """Indexes that are written down as a range."""
    if isinstance(indexes, Made) and indexes.event.method == "list":
        indexes = indexes.event.arg(0)
    return isinstance(indexes, Made) and indexes.event.method in ("range", "arange")


def _of_pipeline(loader: Made) -> LoaderOrder:
    """A pipeline of MindSpore: any .shuffle on the way, else what its source does."""
    at: Value | None = loader
    while isinstance(at, Made) and at.event.receiver is not None:
        if at.event.method == "shuffle":
            return LoaderOrder(Order.SHUFFLED, loader, at.event.place, at.name)
        at = at.event.receiver
    if not isinstance(at, Made):
        return LoaderOrder(Order.UNKNOWN, loader)
    event = at.event
    name = at.name.rpartition(".")[2]
    sampler = event.arg(None, "sampler")
    shuffle = event.arg(None, "shuffle")
    if sampler is not None and not _is_none(sampler):
        anew = any(scope.kind == LOOP for scope in event.scopes) and _takes_indexes(sampler)
        return LoaderOrder(Order.UNKNOWN if anew else _of_sampler(sampler), loader, event.place, name)
    # A sampler cannot be among arguments that are not seen where shuffle is given: it takes one or the other.
    hidden = event.open and not (isinstance(shuffle, Const) and shuffle.value is not None)
    if hidden or _is_put_in_order(event, event.arg(0, "data", "source")):
        return LoaderOrder(Order.UNKNOWN, loader, event.place, name)
    if shuffle is not None and not _is_none(shuffle):
        if isinstance(shuffle, Symbol):
            return LoaderOrder(Order.SHUFFLED, loader, event.place, name)
        if not isinstance(shuffle, Const):
            return LoaderOrder(Order.UNKNOWN, loader, event.place, name)
        return LoaderOrder(Order.SHUFFLED if shuffle.value else Order.SEQUENTIAL, loader, event.place, name)
    if name == "GeneratorDataset":
        return LoaderOrder(_of_generator(event.arg(0, "source")), loader, event.place, name)
    return LoaderOrder(Order.SHUFFLED, loader, event.place, name)


def _takes_indexes(sampler: Value) -> bool:
    """Whether it gives the samples in the order of indexes that are computed."""
    made = [value for value in options(sampler) if isinstance(value, Made) and value.name.endswith(".SubsetSampler")]
    return any(not isinstance(value.event.arg(0, "indices"), Seq) for value in made)


def _of_generator(source: Value | None) -> Order:
    """Shuffled by default where its source has ``__getitem__``; else it cannot be."""
    for value in options(source):
        if isinstance(value, Instance):
            has = any("__getitem__" in cls.attributes for cls in value.cls.lineage())
            return Order.SHUFFLED if has else Order.UNSHUFFLABLE
    return Order.UNKNOWN


def _is_none(value: Value) -> bool:
    return isinstance(value, Const) and value.value is None
