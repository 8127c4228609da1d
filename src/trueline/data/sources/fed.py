"""Batches that were fed to a network: whole from the run folder, or what is known of each of their samples."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from trueline.adapters.nouns import Value
from trueline.data.source import Column, Sample, Skipped
from trueline.formats.run_folder.batches import WholeBatch
from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.formats.run_folder.states import StatesReader
from trueline.model.events import BatchEvent
from trueline.model.sample import Batch, SampleField, is_index
from trueline.model.trouble import BadFile

_BATCH: Final = "batch"


@dataclass(frozen=True, slots=True)
class Fed:
    """One batch: a column for each field, and those that are whole numbers, one per sample."""

    rank: int
    step: int
    size: int
    columns: Mapping[str, Column]
    whole_numbers: Sequence[str]


def known_batches(run: Run, phase: str, skipped: Skipped) -> Iterator[Fed]:
    """What the events of a run say of every sample: a number where it is one, else its statistics."""
    for rank in run.ranks:
        for event in run.rank(rank).events(BatchEvent, phase=phase):
            try:
                batch = event.batch()
            except ValueError:
                skipped.add("bad_batch", f"rank {rank}, step {event.step}")
                continue
            columns: dict[str, Column] = {}
            if batch.indexes is not None and len(batch.indexes) == batch.size:
                columns["index"] = np.array(batch.indexes, np.int64)
            whole = [field.name for field in batch.fields if _is_number(field) and _is_whole(field.dtype)]
            for field in batch.fields:
                columns |= _statistics(field)
            if not columns:
                # Nothing vouches for its size.
                skipped.add("bad_batch", f"rank {rank}, step {event.step}")
                continue
            yield Fed(rank, event.step, batch.size, columns, whole)


def _is_number(field: SampleField) -> bool:
    return math.prod(field.shape) == 1 and field.dtype != "str"


def _is_whole(dtype: str) -> bool:
    return dtype.startswith(("int", "uint"))


def _statistics(field: SampleField) -> dict[str, Column]:
    if field.dtype == "str":
        return {f"{field.name}.length": np.array(field.mean, np.int64)}
    if _is_number(field):
        kind = np.int64 if _is_whole(field.dtype) else np.bool_ if field.dtype == "bool" else np.float32
        return {field.name: np.array(field.minimum, np.float32).astype(kind)}
    statistics = {"mean": field.mean, "std": field.std, "min": field.minimum, "max": field.maximum}
    return {f"{field.name}.{name}": np.array(values, np.float32) for name, values in statistics.items()}


def whole_batches(run: Run, phase: str, skipped: Skipped) -> Iterator[Fed]:
    """The batches that were kept whole: the first ones (``--batches``), else those of kept states."""
    for rank in run.ranks:
        folder = run.rank(rank)
        steps = folder.batch_steps(phase)
        if not steps and phase == "train":
            yield from _of_states(run, folder, rank, skipped)
        for step in steps:
            try:
                batches = folder.batches(step, phase)
                indexes = [batch.indexes for batch in _described(folder, phase, step)]
            except BadFile as trouble:
                skipped.add("bad_batch", f"rank {rank}, step {step}: {trouble.reason}")
                continue
            for number, batch in enumerate(batches):
                if batch.arrays or batch.texts:
                    yield _whole(rank, step, batch, indexes[number] if number < len(indexes) else None)


def _described(folder: RankFolder, phase: str, step: int) -> Iterator[Batch]:
    for event in folder.events(BatchEvent, phase=phase, step=step):
        try:
            yield event.batch()
        except ValueError:
            yield Batch(0, ())


def _whole(rank: int, step: int, batch: WholeBatch, indexes: Sequence[int] | None) -> Fed:
    lengths = [len(array) for array in batch.arrays.values() if array.ndim]
    lengths += [len(text) for text in batch.texts.values()]
    size = len(indexes) if indexes is not None and len(indexes) in lengths else lengths[0] if lengths else 0
    columns: dict[str, Column] = {}
    if indexes is not None and len(indexes) == size:
        columns["index"] = np.array(indexes, np.int64)
    rows = {name: array for name, array in batch.arrays.items() if array.ndim and len(array) == size}
    columns |= rows
    columns |= {name: list(texts) for name, texts in batch.texts.items() if len(texts) == size}
    numbers = [name for name, array in rows.items() if array.dtype.kind in "iu" and math.prod(array.shape[1:]) == 1]
    return Fed(rank, step, size, columns, [number for number in numbers if not number.startswith("network.")])


def _of_states(run: Run, folder: RankFolder, rank: int, skipped: Skipped) -> Iterator[Fed]:
    """Batches lie with the state before their step, those that were fetched ahead with more than one."""
    states = StatesReader(run.path, folder.path)
    found: dict[int, tuple[int, Sample]] = {}
    for step in states.steps:
        try:
            found |= {fetch["serial"]: (step, fetch) for fetch in states.fetches(step)}
        except BadFile as trouble:
            skipped.add("bad_batch", f"rank {rank}, step {step}: {trouble.reason}")
    for serial, (step, entry) in sorted(found.items()):
        try:
            arrays = states.batch(step, serial)
        except BadFile as trouble:
            skipped.add("bad_batch", f"rank {rank}, step {step}: {trouble.reason}")
            continue
        fields = {_field(name): array for name, array in arrays.items() if name.partition("/")[0] == _BATCH}
        texts = _texts(entry["tree"])
        if fields or texts:
            whole = WholeBatch(fields, {"text": texts} if texts else {})
            yield _whole(rank, step, whole, _numbers(entry["indexes"]))


def _field(name: str) -> str:
    """The name that an array of a kept batch has among the batch's fields."""
    return name.removeprefix(_BATCH).removeprefix("/").replace("/", ".") or "0"


def _texts(tree: Value) -> list[str]:
    """The first list of texts in the tree of a batch, as its events have it."""
    parts = _listed(tree)
    if isinstance(tree, dict) and isinstance(tree.get("dict"), list):
        parts = [entry[1] for entry in tree["dict"] if isinstance(entry, list) and len(entry) == 2]
    for part in (tree, *parts):
        words = _listed(part)
        if words and all(isinstance(word, str) for word in words):
            return words
    return []


def _listed(tree: object) -> list[Value]:
    found = tree.get("tuple") if isinstance(tree, dict) else tree
    return found if isinstance(found, list) else []


def _numbers(indexes: list[Value] | None) -> list[int] | None:
    return indexes if indexes is not None and all(map(is_index, indexes)) else None
