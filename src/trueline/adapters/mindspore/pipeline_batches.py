"""Batching of rows as MindSpore's batch operators do it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np

from trueline.adapters.mindspore.internals import datasets
from trueline.adapters.nouns import Loader, Value
from trueline.adapters.pipeline import Unfit

Values = Mapping[str, Value]
BATCHES: Final = (datasets.BatchDataset, datasets.PaddedBatchDataset, datasets.BucketBatchByLengthDataset)


def batched(node: Loader, samples: Sequence[Values]) -> dict[str, Value]:
    """The columns of a batch; raises what the engine would refuse."""
    names = list(samples[0])
    columns: dict[str, Sequence[Value]] = {name: [column(sample, name) for sample in samples] for name in names}
    if getattr(node, "per_batch_map", None) is not None:
        columns = _mapped(node, columns)
    if isinstance(node, datasets.PaddedBatchDataset) and node.pad:
        info = node.pad_info or {}
        columns = {
            name: _padded(cells, info.get(name)) if not info or name in info else cells
            for name, cells in columns.items()
        }
    return {name: _stacked(name, cells) for name, cells in columns.items()}


def listed(names: str | Iterable[str] | None) -> list[str]:
    """Column names as a list."""
    if names is None:
        return []
    return [names] if isinstance(names, str) else list(names)


def column(row: Values, name: str) -> Value:
    """A column of a row; Unfit where it is missing."""
    if name not in row:
        raise Unfit(wanted=list(row), missing=name)
    return row[name]


def _mapped(node: Loader, columns: Mapping[str, Sequence[Value]]) -> dict[str, Sequence[Value]]:
    """The columns after a per_batch_map."""
    chosen = listed(node.input_columns) or list(columns)
    made = node.per_batch_map(*(column(columns, name) for name in chosen), _Info())
    made = made if isinstance(made, tuple) else (made,)
    wanted = listed(node.output_columns) or chosen
    if len(made) != len(wanted):
        raise Unfit(wanted=wanted, given=len(made))
    rest = {name: cells for name, cells in columns.items() if name not in chosen}
    return {**rest, **dict(zip(wanted, made, strict=True))}


class _Info:
    """The batch info passed to a per_batch_map."""

    def get_batch_num(self) -> int:
        return 0

    def get_epoch_num(self) -> int:
        return 0


def _stacked(name: str, values: Sequence[Value]) -> Value:
    arrays = [np.asarray(value) for value in values]
    for array in arrays:
        if array.shape != arrays[0].shape:
            raise ValueError(f"column {name}: shapes {arrays[0].shape} and {array.shape} in one batch")
        if array.dtype != arrays[0].dtype and array.dtype.kind not in "US":
            raise ValueError(f"column {name}: types {arrays[0].dtype} and {array.dtype} in one batch")
    return np.stack(arrays)


def _padded(values: Sequence[Value], info: tuple[Sequence[int | None] | None, float] | None) -> list[Value]:
    """Each array padded to the requested shape, else to the largest."""
    arrays = [np.asarray(item) for item in values]
    if len({array.ndim for array in arrays}) > 1 or not arrays[0].ndim:
        return arrays
    shape, value = info if info is not None else (None, 0)
    largest = [max(array.shape[axis] for array in arrays) for axis in range(arrays[0].ndim)]
    wished = shape if shape is not None else [None] * len(largest)
    wanted = [largest[axis] if size is None else size for axis, size in enumerate(wished[: len(largest)])]
    padded = []
    for array in arrays:
        cut = array[tuple(slice(0, size) for size in wanted)]
        missing = [(0, size - have) for size, have in zip(wanted, cut.shape, strict=True)]
        padded.append(np.pad(cut, missing, constant_values=value or 0))
    return padded
