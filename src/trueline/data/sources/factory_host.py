"""Runs in the process of a user's dataset: builds it, and hands out its samples a chunk at a time."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from trueline.adapters import adapters_present
from trueline.adapters.guest.faults import said_for
from trueline.adapters.guest.importing import Asked, found_in, imported, required, type_name
from trueline.adapters.guest.trouble import SideTrouble
from trueline.adapters.guest.wire import Content
from trueline.adapters.nouns import Loader, Value
from trueline.data.source import Column, Picture, Sample
from trueline.data.sources.factory_cells import Packing
from trueline.data.sources.factory_items import Way, batch_fields, looks_like_batch, sample_fields, way_through
from trueline.kernel.array import Array

Answer = tuple[Content, list[Array]]

_CHUNK_SAMPLES: Final = 1024
_CHUNK_BYTES: Final = 16 << 20
# A slow dataset is to be heard of now and then.
_CHUNK_SECONDS: Final = 2.0
# One that raises so often in a row raises for ever.
_MAX_FAILURES_IN_A_ROW: Final = 100
# The first items may raise: of so many the first that does not shows the fields.
_MAX_ITEMS_FOR_FIELDS: Final = 8
_END: Final[Value] = object()


class Host:
    """Holds the dataset and the pass that is under way."""

    def __init__(self) -> None:
        self._side = ""
        self._factory: Loader = None
        self._source: Loader = None
        self._way: Way | None = None
        self._batched = False
        self._items: Iterator[Value] = iter(())
        self._at = 0
        self._failures = 0

    def answer(self, content: Content, _arrays: list[Array]) -> Answer:
        """Do one thing: ``do`` says which."""
        found: Answer = getattr(self, f"_{content['do']}")(content)
        return found

    # ---- building

    def _build(self, content: Content) -> Answer:
        asked = Asked.arrived(content)
        self._side = asked.side
        self._factory = found_in(asked.side, imported(asked), asked.module, asked.name)
        with said_for(asked.side, "importing"):
            adapters_present()
        self._way = self._make()
        return {}, []

    def _make(self) -> Way:
        """The dataset: what stands there, or what it gives when it is called."""
        self._seed()
        source = self._factory
        way = self._way_through(source)
        if way is None and callable(source):
            if needed := required(source):
                raise SideTrouble("side.needs_arguments", side=self._side, names=", ".join(needed))
            with said_for(self._side, "dataset"):
                source = source()
                self._seed()
            way = self._way_through(source)
        if way is None:
            raise SideTrouble("sources.no_dataset", side=self._side, type=type_name(source))
        self._source = source
        return way

    def _way_through(self, source: object) -> Way | None:
        # It asks the dataset for its length.
        with said_for(self._side, "dataset"):
            return way_through(source)

    def _seed(self) -> None:
        """Every pass is the same one, as far as the dataset draws from the usual generators."""
        random.seed(0)
        np.random.seed(0)
        with said_for(self._side, "importing"):
            for adapter in adapters_present():
                adapter.state.seed(0, deterministic=False)

    def _look(self, _content: Content) -> Answer:
        """Its fields, as the first item that can be had shows them."""
        way = self._the_way
        self._start(way)
        self._batched = bool(way.batched)
        fields: dict[str, bool] = {}
        raised: SideTrouble | None = None
        for _ in range(_MAX_ITEMS_FOR_FIELDS):
            try:
                with said_for(self._side, "dataset"):
                    item = self._item()
                    if item is _END:
                        break
                    if way.batched is None:
                        self._batched = looks_like_batch(item)
                    fields = _whole_numbers(item, self._batched)
                break
            except SideTrouble as trouble:
                raised = raised or trouble
        if not fields and raised is not None:
            raise raised
        whole = [name for name, field in fields.items() if field]
        answer = {"fields": list(fields), "whole_numbers": whole, "length": way.length, "batched": self._batched}
        return {**answer, "indexed": way.at is not None}, []

    @property
    def _the_way(self) -> Way:
        assert self._way is not None
        return self._way

    # ---- passes

    def _begin(self, _content: Content) -> Answer:
        if self._the_way.once:
            self._way = self._make()
        self._start(self._the_way)
        return {}, []

    def _start(self, way: Way) -> None:
        self._seed()
        self._at = self._failures = 0
        with said_for(self._side, "dataset"):
            self._items = iter(range(way.length or 0)) if way.at is not None else way.begin()

    def _next(self, _content: Content) -> Answer:
        """The samples that come next, none at the end; those that raised are told apart and have no values."""
        began = time.monotonic()
        rows: list[Sample] = []
        failed: list[tuple[int, str]] = []
        first, size = self._at, 0
        while len(rows) < _CHUNK_SAMPLES and size < _CHUNK_BYTES and time.monotonic() - began < _CHUNK_SECONDS:
            try:
                got = self._item_fields()
            except SideTrouble as trouble:
                failed.append((self._at, trouble.message.text()))
                self._failures += 1
                if self._failures > _MAX_FAILURES_IN_A_ROW:
                    return self._answered(first, rows, failed, ended=True)
                if self._the_way.at is not None:
                    rows.append({})
                    self._at += 1
                continue
            self._failures = 0
            if got is None:
                return self._answered(first, rows, failed, ended=True)
            if isinstance(got, tuple):
                count, columns = got
                self._at += count
                packing = Packing()
                cells = {name: packing.column(column) for name, column in columns.items()}
                return {"start": first, "size": count, "columns": cells, "failed": failed}, packing.arrays
            rows.append(got)
            self._at += 1
            size += sum(_bytes(value) for value in got.values())
        return self._answered(first, rows, failed)

    def _item_fields(self) -> Sample | tuple[int, Mapping[str, Column]] | None:
        """The next sample or batch; None at the end."""
        with said_for(self._side, "dataset"):
            item = self._item()
            if item is _END:
                return None
            return batch_fields(item) if self._batched else sample_fields(item)

    def _item(self) -> Value:
        item = next(self._items, _END)
        return self._the_way.at(item) if self._the_way.at is not None and item is not _END else item

    def _answered(
        self, start: int, rows: Sequence[Sample], failed: Sequence[tuple[int, str]], *, ended: bool = False
    ) -> Answer:
        names = dict.fromkeys(name for row in rows for name in row)
        packing = Packing()
        columns = {name: packing.column([row.get(name) for row in rows]) for name in names}
        return {
            "start": start,
            "size": len(rows),
            "columns": columns,
            "failed": failed,
            "ended": ended,
        }, packing.arrays

    def _take(self, content: Content) -> Answer:
        at = self._the_way.at
        assert at is not None
        rows: list[Sample] = []
        for index in content["indexes"]:
            try:
                with said_for(self._side, "dataset"):
                    rows.append(sample_fields(at(index)))
            except SideTrouble:
                rows.append({})
        return self._answered(0, rows, [])


def _whole_numbers(item: object, batched: bool) -> dict[str, bool]:
    """The fields of an item, and whether each is one whole number for a sample."""
    if not batched:
        return {name: _is_whole(np.asarray(field)) for name, field in sample_fields(item).items() if field is not None}
    return {
        name: isinstance(array, np.ndarray) and _is_whole(array[0] if len(array) else array)
        for name, array in batch_fields(item)[1].items()
    }


def _is_whole(value: object) -> bool:
    return isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "iu" and value.size == 1


def _bytes(value: object) -> int:
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, Picture):
        return value.pixels.nbytes if value.pixels is not None else 0
    return len(value) if isinstance(value, str | bytes) else 8
