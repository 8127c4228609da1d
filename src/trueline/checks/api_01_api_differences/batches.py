"""Which dimension of a value holds the samples of a batch."""

from __future__ import annotations

from typing import Final

from trueline.apitable.functions import classes_of, functions_of
from trueline.apitable.traits import Trait
from trueline.script.roles import Role
from trueline.script.trace import iterated
from trueline.script.values import Const, Derived, Item, Made, Seq, Value, constant, options
from trueline.script.walking import walk

# What leaves the first dimension where it is.
_KEEPING: Final = functions_of(Trait.SAME, Trait.ELEMENTWISE, Trait.DROPOUT, Trait.EMBEDDING, Trait.LINEAR) | {
    "one_hot"
}
_LAYERS: Final = classes_of(Trait.EMBEDDING, Trait.LINEAR, Trait.DROPOUT, Trait.LAYER_NORM, Trait.ELEMENTWISE)


def first_is_batch(value: Value | None) -> bool:
    """Whether the first dimension holds the samples that a torch loader has put together, in an order that is drawn."""
    return value is not None and _any(value)


@walk(False)
def _any(value: Value) -> bool:
    """Whether all that a value may be is of a loader."""
    return all(_is_of_loader(part) for part in options(value))


def _is_of_loader(value: Value) -> bool:
    if isinstance(value, Item):
        return _is_batch(value) or (_keeps_first(value.index) and _any(value.of))
    if isinstance(value, Derived):
        return value.op in ("Add", "Sub", "Mult", "Div") and any(_any(part) for part in value.of)
    if isinstance(value, Made):
        event = value.event
        if event.role is Role.FORWARD:
            kind = event.name.removesuffix(".__call__").rpartition(".")[2]
            return kind in _LAYERS and bool(event.args) and _any(event.args[0])
        if event.method == "unsqueeze":
            at = constant(event.arg(0 if event.receiver is not None else 1, "dim"))
            inner = event.receiver if event.receiver is not None else event.arg(0)
            return isinstance(at, int) and at != 0 and inner is not None and _any(inner)
        if event.method in _KEEPING:
            inner = event.receiver if event.receiver is not None else event.arg(0)
            return inner is not None and _any(inner)
    return False


def _keeps_first(index: Value | None) -> bool:
    """``x[:, 1:]``: all of the first dimension."""
    if not isinstance(index, Seq) or index.open or len(index.items) < 2:
        return False
    first = index.items[0]
    return isinstance(first, Derived) and first.op == "Slice" and all(_is_none(value) for value in first.of)


def _is_none(value: Value) -> bool:
    return isinstance(value, Const) and value.value is None


def _is_batch(value: Item) -> bool:
    """What a loop over a loader gives, or a field of it."""
    inner = value.of
    if isinstance(value.index, Const) and isinstance(value.index.value, int | str) and isinstance(inner, Item):
        return inner.index is None and _is_shuffled_loader(inner.of)
    return value.index is None and _is_shuffled_loader(inner)


def _is_shuffled_loader(value: Value) -> bool:
    for part in options(iterated(value)):
        if not isinstance(part, Made) or part.name != "torch.utils.data.DataLoader":
            return False
        event = part.event
        if event.open or event.arg(6, "collate_fn") is not None or event.arg(4, "batch_sampler") is not None:
            return False
        size = event.arg(1, "batch_size")
        if size is not None and constant(size, 0) is None:
            return False
        if constant(event.arg(2, "shuffle")) is not True and event.arg(3, "sampler") is None:
            return False
    return True
