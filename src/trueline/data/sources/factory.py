"""A dataset by ``module:factory``: torch's Dataset or DataLoader, MindSpore's dataset, or anything to go through.

The user's code runs in a process of its own: it may crash, hang, print and exit without hurting the scan.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from trueline.adapters.guest.entry import Entry
from trueline.adapters.guest.guest import Guest
from trueline.adapters.guest.trouble import SideTrouble
from trueline.data.source import Chunk, Column, Sample, Skipped, Source
from trueline.data.sources.factory_cells import unpacked
from trueline.data.sources.judged import Judged
from trueline.data.sources.labels import choose_label
from trueline.model.message import message
from trueline.model.trouble import BadUsage

# A dataset that repeats itself for ever is not read for ever.
MOST_SAMPLES: Final = 10_000_000


class _Guest(Guest):
    """The process of a dataset."""

    HOST = "trueline.data.sources.factory_host"


def open_factory(text: str, label: str | None = None, *, python: str = sys.executable) -> Source:
    """The dataset that an entry point gives; what is wrong with it is one Trouble."""
    guest = _Guest.start(Entry.parse(text), python=python)
    try:
        return FactorySource(text, guest, label)
    except BaseException:
        guest.close()
        raise


class FactorySource:
    """The Source of a user's dataset; its process ends with it."""

    kind = "factory"

    def __init__(self, name: str, guest: Guest, label: str | None) -> None:
        self.name = name
        self.skipped = Skipped()
        self._guest = guest
        look, _ = guest.ask({"do": "look"})
        self.fields: list[str] = [str(field) for field in look["fields"]]
        if not self.fields:
            raise BadUsage("sources.no_samples", name=name)
        whole = [field for field in look["whole_numbers"] if field in self.fields]
        self.label = choose_label(name, self.fields, label) or next(reversed(whole), None)
        self.length: int | None = look["length"]
        self._indexed = bool(look["indexed"])
        self._judged = Judged(self.skipped)
        self._ended_badly = False

    def __del__(self) -> None:
        if hasattr(self, "_guest"):
            self._guest.close()

    def chunks(self, fields: Sequence[str] | None = None) -> Iterator[Chunk]:
        """A pass of its own; what raises is stepped over, and a process that dies ends the pass."""
        names = list(self.fields if fields is None else fields)
        at = 0
        try:
            self._guest.ask({"do": "begin"})
            while at < MOST_SAMPLES:
                content, arrays = self._guest.ask({"do": "next"})
                for index, why in content["failed"]:
                    self._judged.look("", int(index), "sample_raised", f"{index}: {why}")
                size = int(content["size"])
                if size:
                    columns = unpacked(content["columns"], arrays)
                    yield Chunk(at, size, {name: columns.get(name, [None] * size) for name in names})
                at += size
                if content.get("ended"):
                    return
            self.skipped.add("endless", self.name)
        except SideTrouble as trouble:
            if not self._ended_badly:
                self._ended_badly = True
                self.skipped.add("pass_ended", message("sources.after", count=at, why=trouble.message).text())

    def take(self, indexes: Sequence[int]) -> list[Mapping[str, object]]:
        """By index where the dataset has them, else out of a pass of its own."""
        if self._indexed:
            return self._taken(indexes)
        wanted, found = set(indexes), dict[int, Sample]()
        for chunk in self.chunks():
            for index in wanted.intersection(range(chunk.start, chunk.start + chunk.size)):
                found[index] = self._row(chunk.columns, index - chunk.start)
            if len(found) == len(wanted):
                break
        return [found.get(index, dict.fromkeys(self.fields)) for index in indexes]

    def _taken(self, indexes: Sequence[int]) -> list[Mapping[str, object]]:
        if any(not 0 <= index < (self.length or 0) for index in indexes):
            raise IndexError(indexes)
        try:
            content, arrays = self._guest.ask({"do": "take", "indexes": [int(index) for index in indexes]})
        except SideTrouble:
            return [dict.fromkeys(self.fields) for _ in indexes]
        columns = unpacked(content["columns"], arrays)
        return [self._row(columns, place) for place in range(len(indexes))]

    def _row(self, columns: Mapping[str, Column], place: int) -> Mapping[str, object]:
        return {name: columns[name][place] if name in columns else None for name in self.fields}
