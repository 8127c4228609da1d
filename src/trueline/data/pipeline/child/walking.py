"""Every sample that is asked for, through every operator, and batches of them."""

from __future__ import annotations

import traceback
import zlib
from collections.abc import Sequence
from typing import Final

import numpy as np

from trueline.adapters.guest.wire import Content
from trueline.adapters.nouns import Value
from trueline.adapters.pipeline import Row
from trueline.data.pipeline.answers import FailureJson
from trueline.data.pipeline.child.failing import failure
from trueline.data.pipeline.child.fields import FieldSeen
from trueline.data.pipeline.child.host import Answer, Host
from trueline.kernel.array import Array

# Failures of different operators, kinds or lines, and samples that fail in one way: more are not told.
_MAX_FAILURES: Final = 20
_MAX_SAMPLES_OF_FAILURE: Final = 2000
# Samples put together where the pipeline has no batches of its own.
_TRIAL_BATCH: Final = 4
# A dataset's array is kept twice to see whether it changes.
_MAX_COPY_BYTES: Final = 64 << 20


def answer_operators(host: Host, _: Content, __: list[Array]) -> Answer:
    """The operators, before any of them is called: what kills the process is told by its place."""
    host.journal.doing("building")
    host.opened.instrument(host.meter)
    return {"operators": host.meter.told()}, []


def answer_walk(host: Host, content: Content, _: list[Array]) -> Answer:
    """Operators, the samples' fields and failures, over the samples ``wanted``."""
    host.journal.doing("walking")
    walk = _Walk(host)
    stored, kept = fingerprints(host), copies(host)
    with host.meter.listening():
        for row in host.opened.rows(host.meter, content["wanted"]):
            walk.row(row)
        walk.end()
    changed = sorted(name for name, mark in fingerprints(host).items() if stored.get(name, mark) != mark)
    changed = [name for name in changed if _matters(host, name, kept.get(name), walk.good)]
    host.kept.marks, host.kept.good = walk.marks, walk.good
    answer = {
        "operators": host.meter.told(),
        "sample": [{**seen.told(), "lacking": seen.lacking(walk.good)} for seen in walk.fields.values()],
        "looked": walk.looked,
        "failures": [*walk.failures.values(), *walk.batch_failures],
        "nothing": walk.nothing,
        "changed": changed,
    }
    return answer, []


class _Walk:
    def __init__(self, host: Host) -> None:
        self.host = host
        self.fields: dict[str, FieldSeen] = {}
        self.failures: dict[tuple[object, ...], FailureJson] = {}
        self.batch_failures: list[FailureJson] = []
        self.marks: dict[int, int] = {}
        self.good: list[int] = []
        self.nothing: list[int] = []
        self.looked = 0
        facts = host.opened.facts()
        self._size: int = facts["batch_size"] or _TRIAL_BATCH
        self._waiting: list[tuple[int, Value]] = []

    def row(self, row: Row) -> None:
        """One sample."""
        self.looked += 1
        if row.error is not None:
            self._failed(failure(row.error, "walking", row.index), row.error)
            return
        if row.value is None:
            self.nothing.append(row.index)
        else:
            self.good.append(row.index)
        values = self.host.reader.values(row.value)
        for name, value in values:
            if name not in self.fields:
                self.fields[name] = FieldSeen(name)
            self.fields[name].see(row.index, value, self.host.reader.array(value))
        self.marks[row.index] = mark(self.host, row.value)
        self._waiting.append((row.index, row.value))
        if len(self._waiting) >= self._size:
            self._batch()

    def end(self) -> None:
        """What waits for a batch is one."""
        if self._waiting:
            self._batch()

    def _failed(self, found: FailureJson, error: BaseException) -> None:
        line = found["line"] or {}
        key = (found["operator"], found["kind"], line.get("file"), line.get("line"))
        if key in self.failures:
            again, sample = self.failures[key]["again"], found["sample"]
            if sample is not None and len(again) < _MAX_SAMPLES_OF_FAILURE:
                again.append(sample)
        elif len(self.failures) < _MAX_FAILURES:
            traceback.print_exception(error)
            self.failures[key] = {**found, "again": []}

    def _batch(self) -> None:
        waiting, self._waiting = self._waiting, []
        if self.batch_failures:
            return
        error = self._tried([value for _, value in waiting])
        if error is None:
            return
        odd = self._odd(waiting)
        first = odd[0] if odd else None
        found = failure(error, "batching", first)
        self.batch_failures.append({**found, "again": [*odd[1:]], "batch": [index for index, _ in waiting]})

    def _tried(self, values: Sequence[Value]) -> BaseException | None:
        try:
            self.host.opened.batch(self.host.meter, values)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - the user's own collating may raise anything
            return error
        return None

    def _odd(self, waiting: Sequence[tuple[int, Value]]) -> list[int]:
        """The samples that cannot be put together with the others: alone, or with most of them."""
        alone = [index for index, value in waiting if self._tried([value]) is not None]
        if alone:
            return alone
        best: list[int] = []
        for _, value in waiting[: _TRIAL_BATCH + 1]:
            apart = [index for index, other in waiting if self._tried([value, other]) is not None]
            if not best or len(apart) < len(best):
                best = apart
        return best


def copies(host: Host) -> dict[str, Array]:
    """What the datasets hold, where that is one array and not too large to be kept twice."""
    found = {name: host.reader.array(value) for name, value in host.opened.stored().items()}
    return {name: array.copy() for name, array in found.items() if array is not None and array.nbytes < _MAX_COPY_BYTES}


def _matters(host: Host, name: str, before: Array | None, good: Sequence[int]) -> bool:
    """Whether a sample is another one for what has changed: a counter may be kept beside the data."""
    value = host.opened.stored().get(name)
    now = host.reader.array(value) if before is not None else None
    if before is None or now is None or not good or before.shape != now.shape:
        return True
    changed = now.copy()
    marks = []
    for content in (before, changed):
        np.copyto(now, content)
        host.meter.fix()
        row = next(iter(host.opened.rows(host.meter, [good[0]] if host.opened.indexed else [0])))
        marks.append(mark(host, row.value))
    return marks[0] != marks[1]


def mark(host: Host, value: Value) -> int:
    """A number that says whether two samples are the same."""
    found = 0
    for array in host.reader.arrays(value):
        found = zlib.crc32(np.ascontiguousarray(array).view(np.uint8).reshape(-1).data, found)
    return found


def fingerprints(host: Host) -> dict[str, int]:
    """What the datasets hold, each as a number."""
    return {name: mark(host, value) for name, value in host.opened.stored().items()}
