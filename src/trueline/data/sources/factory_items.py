"""What a dataset of a framework hands out, one item after the other, and an item's fields."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from trueline.adapters import adapters_present
from trueline.adapters.nouns import Loader, Unreadable, Value
from trueline.adapters.tree import leaves
from trueline.data.source import Cell, Column, Picture
from trueline.kernel.array import Array

_BATCHES: Final = ("BatchDataset", "BucketBatchByLengthDataset", "PaddedBatchDataset")


@dataclass(frozen=True, slots=True)
class Way:
    """How a dataset is gone through: ``begin`` gives its items, ``at`` one of them by its index where it can."""

    begin: Callable[[], Iterator[Value]]
    at: Callable[[int], Value] | None = None
    length: int | None = None
    # None where only the items can tell.
    batched: bool | None = False
    once: bool = False


def way_through(source: object) -> Way | None:
    """How to go through a thing; None where it is no dataset."""
    if isinstance(source, Mapping | str | bytes | type) or _is_tensor(source):
        return None
    if hasattr(source, "create_dict_iterator"):
        return Way(
            lambda: iter(source.create_dict_iterator(num_epochs=1, output_numpy=True)), batched=_has_batches(source)
        )
    if hasattr(source, "batch_sampler") and hasattr(source, "dataset") and isinstance(source, Iterable):
        batched = any(getattr(source, name, None) is not None for name in ("batch_size", "batch_sampler"))
        return Way(lambda: iter(source), length=None if batched else _length(source), batched=batched)
    length = _length(source)
    if hasattr(source, "__getitem__") and length is not None:
        return Way(lambda: (source[at] for at in range(length)), source.__getitem__, length)
    if isinstance(source, Iterable):
        samples = any(base.__name__ == "IterableDataset" for base in type(source).__mro__)
        return Way(lambda: iter(source), batched=False if samples else None, once=isinstance(source, Iterator))
    return None


def _length(source: Loader) -> int | None:
    try:
        return len(source)
    except (TypeError, NotImplementedError):
        return None


def _has_batches(dataset: object) -> bool:
    """Whether a MindSpore pipeline hands out batches."""
    return type(dataset).__name__ in _BATCHES or any(map(_has_batches, getattr(dataset, "children", ())))


def _is_tensor(value: object) -> bool:
    return isinstance(value, np.ndarray) or any(adapter.values.is_tensor(value) for adapter in adapters_present())


def _is_image(value: object) -> bool:
    return hasattr(value, "__array_interface__") and hasattr(value, "mode") and not isinstance(value, type)


def _is_value(value: object) -> bool:
    return isinstance(value, np.generic | bool | int | float | str | bytes) or _is_tensor(value) or _is_image(value)


def _is_row(value: object) -> bool:
    """Whether a list is one value, as tokens are, and not a structure."""
    return isinstance(value, list) and len(value) > 4 and all(isinstance(number, int | float) for number in value)


def value_of(value: Value) -> Cell:
    """A tensor as an array, an image as a Picture, everything else as it is."""
    if isinstance(value, np.ndarray):
        return value[()] if not value.ndim else value
    for adapter in adapters_present():
        if adapter.values.is_tensor(value):
            try:
                return adapter.values.to_numpy(value, copy=True)
            except Unreadable:
                return None
    if _is_image(value):
        pixels = np.array(value.convert("RGB") if value.mode in ("P", "CMYK", "YCbCr") else value)
        return Picture("", value.size[0], value.size[1], value.mode, pixels)
    return np.array(value) if _is_row(value) else value


def sample_fields(sample: object) -> dict[str, object]:
    """The values of one sample by name."""
    return {name: value_of(value) for name, value in leaves(sample, lambda value: _is_value(value) or _is_row(value))}


def batch_fields(batch: object) -> tuple[int, dict[str, Column]]:
    """How many samples a batch has, and a column for each field that has a value for each of them."""
    size, lists = _size(batch)
    found: dict[str, Column] = {}
    for name, one in leaves(batch, lambda one: _is_value(one) or (one is not batch and _is_column(one, size, lists))):
        if isinstance(one, list | tuple):
            found |= _of_list(name, one)
            continue
        value = value_of(one)
        if isinstance(value, np.ndarray) and value.ndim and len(value) == size:
            found[name] = value
    return size, found


def _size(batch: Value) -> tuple[int, bool]:
    """How many samples a batch has, and whether a list says so."""
    first = next(iter(batch.values() if isinstance(batch, Mapping) else batch), None) if _holds(batch) else batch
    if isinstance(first, list | tuple):
        return len(first), True
    arrays = [array for _, tensor in leaves(batch, _is_tensor) if isinstance(array := value_of(tensor), np.ndarray)]
    return next((len(array) for array in arrays if array.ndim), 0), False


def _holds(batch: object) -> bool:
    return isinstance(batch, Mapping | list | tuple) and bool(batch)


def _is_column(value: Value, size: int, lists: bool) -> bool:
    """Whether a list has a value for each sample: texts, arrays of different shapes, dictionaries."""
    if not isinstance(value, list | tuple) or len(value) != size:
        return False
    lengths = [len(array) for part in value if _is_tensor(part) and np.ndim(array := value_of(part))]
    # Fields that happen to be as many as samples.
    return lists or not (lengths and all(length == size for length in lengths))


def _of_list(name: str, values: list[Value] | tuple[object, ...]) -> dict[str, Column]:
    if values and all(isinstance(value, Mapping) for value in values):
        samples = [sample_fields(value) for value in values]
        inside = dict.fromkeys(key for sample in samples for key in sample)
        return {f"{name}.{key}": [sample.get(key) for sample in samples] for key in inside}
    return {name: [value_of(value) for value in values]}


def looks_like_batch(item: object) -> bool:
    """Whether an item of unknown making is a batch: two or more arrays of one length, one of them of whole numbers."""
    arrays: list[Array] = [
        array for array in sample_fields(item).values() if isinstance(array, np.ndarray) and array.ndim
    ]
    whole = any(array.dtype.kind in "iu" and array.ndim == 1 for array in arrays)
    return len(arrays) > 1 and whole and len({len(array) for array in arrays}) == 1
