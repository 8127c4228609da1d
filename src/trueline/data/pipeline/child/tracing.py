"""Line by line through one operator's call on one sample: which of the user's lines made what is wrong with it."""

from __future__ import annotations

import linecache
import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Final

import numpy as np

from trueline.adapters.guest.faults import is_users
from trueline.adapters.guest.wire import Content
from trueline.adapters.nouns import Value
from trueline.data.pipeline.child.host import Answer, Host
from trueline.data.pipeline.child.walking import fingerprints
from trueline.data.pipeline.child.written import held, last_write
from trueline.kernel.array import Array
from trueline.model.location import Location

if TYPE_CHECKING:
    from _typeshed import TraceFunction

# A loop over pixels runs lines without end: tracing gives up after so many.
_MAX_TRACED_LINES: Final = 20_000
_LEAVING: Final = ("with ", "async with ")
Test = Callable[[Value], bool]


def answer_trace(host: Host, content: Content, _: list[Array]) -> Answer:
    """``line``: the user's line for ``what`` (nonfinite, origin, slow, stored, seeds), None where none is found."""
    host.journal.doing("walking")
    place, sample, what = content["operator"], content["sample"], content["what"]
    if what in _BY_FIELD:
        found = _BY_FIELD[what](host, place, sample, content["field"])
    else:
        found = _TRACES[what](host, place, sample)
    return {"line": found.line_json() if found is not None else None}, []


def _run(host: Host, place: int, sample: int, tracer: _Tracer) -> object:
    """One sample, traced while the operator works on it; what the operator gave."""
    host.meter.trace(place, sample, tracer.tracing)
    try:
        wanted = [sample] if host.opened.indexed else list(range(sample + 1))
        for _ in host.opened.rows(host.meter, wanted):
            pass
    finally:
        given = host.meter.untrace()
    return given


def _nonfinite(host: Host, place: int, sample: int) -> Location | None:
    def not_finite(value: object) -> bool:
        return any(array.dtype.kind == "f" and not np.isfinite(array).all() for array in host.reader.arrays(value))

    tracer = _Tracer(not_finite)
    _run(host, place, sample, tracer)
    return tracer.found


def _kept(host: Host, place: int, sample: int, field: str | None) -> Location | None:
    """Where what an operator gives was written, if it is kept for the sample; else where it was first there."""
    values = dict(host.reader.values(_run(host, place, sample, _Tracer(lambda _: False))))
    # A source's values have no names yet: its last one is the label.
    value = values.get(field or "", next(reversed(values.values()), None))
    wanted = _number(host, value)
    for owner, name, kept in held(host.opened.objects()) if wanted is not None else ():
        several = isinstance(kept, list | tuple | np.ndarray) and len(kept) > sample
        if several and _number(host, kept[sample]) == wanted and (line := last_write(owner, name)) is not None:
            return line
    return _origin(host, place, sample, field)


def _number(host: Host, value: object) -> float | None:
    array = host.reader.array(value)
    return float(array.reshape(-1)[0]) if array is not None and array.size == 1 and array.dtype.kind in "biuf" else None


def _origin(host: Host, place: int, sample: int, field: str | None) -> Location | None:
    """Where what the operator gives in a field was first there; a plain number may be there by accident."""
    first = _Tracer(lambda _: False)
    values = dict(host.reader.values(_run(host, place, sample, first)))
    value = next(iter(values.values())) if len(values) == 1 else values.get(field or "")
    if value is None or isinstance(value, bool | int | float | str):
        return first.returned
    wanted = _mark(host, value)
    tracer = _Tracer(lambda candidate: wanted is not None and _mark(host, candidate) == wanted)
    _run(host, place, sample, tracer)
    return tracer.found or first.returned


def _mark(host: Host, value: object) -> object:
    array = host.reader.array(value)
    if array is None:
        return None
    return array.shape, str(array.dtype), array.tobytes()


def _returned(host: Host, place: int, sample: int) -> Location | None:
    tracer = _Tracer(lambda _: False)
    _run(host, place, sample, tracer)
    return tracer.returned


def _slow(host: Host, place: int, sample: int) -> Location | None:
    tracer = _Tracer(lambda _: False)
    _run(host, place, sample, tracer)
    return max(tracer.seconds, key=lambda line: tracer.seconds[line], default=None)


def _stored(host: Host, place: int, sample: int) -> Location | None:
    """Where what the datasets hold is changed."""
    before = fingerprints(host)
    tracer = _Tracer(lambda _: fingerprints(host) != before, once=True)
    _run(host, place, sample, tracer)
    return tracer.found


def _seeds(host: Host, place: int, sample: int) -> Location | None:
    """Where the generators' state is no more what it was, whatever it was."""
    runs: list[list[tuple[Location, tuple[int, ...]]]] = []
    for _ in range(2):
        host.meter.stir()
        states: list[tuple[Location, tuple[int, ...]]] = []
        _run(host, place, sample, _Tracer(lambda _: False, after=_noting(host, states)))
        runs.append(states)
    found: Location | None = None
    for (line, one), (_, other) in zip(*runs, strict=False):
        if found is None and any(a == b for a, b in zip(one, other, strict=True)):
            found = line
    return found


def _draws(host: Host, place: int, sample: int) -> Location | None:
    """Where a number is drawn from a generator that all code shares."""
    states: list[tuple[Location, tuple[int, ...]]] = []
    before = host.meter.chance()
    _run(host, place, sample, _Tracer(lambda _: False, after=_noting(host, states)))
    return next((line for line, state in states if state != before), None)


def _noting(host: Host, states: list[tuple[Location, tuple[int, ...]]]) -> Callable[[Location], None]:
    return lambda line: states.append((line, host.meter.chance()))


_BY_FIELD: Final[dict[str, Callable[[Host, int, int, str | None], Location | None]]] = {
    "origin": _origin,
    "kept": _kept,
}
_TRACES: Final[dict[str, Callable[[Host, int, int], Location | None]]] = {
    "nonfinite": _nonfinite,
    "returned": _returned,
    "slow": _slow,
    "stored": _stored,
    "seeds": _seeds,
    "draws": _draws,
}


class _Tracer:
    """Follows the user's frames; ``found`` is the first line after which a test holds for a value."""

    def __init__(self, test: Test, *, once: bool = False, after: Callable[[Location], None] | None = None) -> None:
        self._test, self._once, self._after = test, once, after
        self.found: Location | None = None
        self.returned: Location | None = None
        self.seconds: dict[Location, float] = {}
        self._at: dict[FrameType, Location] = {}
        self._known: dict[FrameType, dict[str, int]] = {}
        self._earlier: dict[FrameType, Location] = {}
        self._events = 0
        self._outer: FrameType | None = None
        self._now: tuple[Location, float] | None = None

    @contextmanager
    def tracing(self) -> Iterator[None]:
        """In the block the user's code is followed."""
        before = sys.gettrace()
        sys.settrace(self._call)
        try:
            yield
        finally:
            sys.settrace(before)

    def _call(self, frame: FrameType, event: str, _: object) -> TraceFunction | None:
        if event != "call" or not is_users(frame.f_code.co_filename):
            return None
        if self._outer is None:
            self._outer = frame
        elif frame.f_back in self._at:
            # Its arguments were made by the line that calls it.
            self._look(frame, self._at[frame.f_back])
        return self._local

    def _local(self, frame: FrameType, event: str, value: object) -> TraceFunction | None:
        self._events += 1
        if self._events > _MAX_TRACED_LINES:
            return None
        before = self._at.get(frame)
        if before is not None:
            self._look(frame, before)
        line = Location(frame.f_code.co_filename, frame.f_lineno)
        self._time(line)
        if event == "line":
            if before is not None:
                self._earlier[frame] = before
            self._at[frame] = line
        elif event == "return":
            if self._after is not None:
                self._after(line)
            if linecache.getline(line.file, line.line).lstrip().startswith(_LEAVING):
                # What is returned from inside of a ``with`` leaves by its first line.
                line = self._earlier.get(frame, line)
            if self.found is None and not self._once and self._tested(value):
                self.found = line
            if frame is self._outer:
                self.returned = line
            self._at.pop(frame, None)
        return self._local

    def _time(self, line: Location) -> None:
        now = time.perf_counter()
        if self._now is not None:
            at, since = self._now
            self.seconds[at] = self.seconds.get(at, 0.0) + now - since
        self._now = (line, time.perf_counter())

    def _look(self, frame: FrameType, line: Location) -> None:
        """What the line has made of the frame's variables."""
        if self._after is not None:
            self._after(line)
        if self.found is not None:
            return
        if self._once:
            if self._test(None):
                self.found = line
            return
        known = self._known.setdefault(frame, {})
        for name, value in frame.f_locals.items():
            if (known.get(name) != id(value) or _may_change(value)) and self._tested(value):
                self.found = line
            known[name] = id(value)

    def _tested(self, value: object) -> bool:
        return not isinstance(value, type) and not _is_nothing(value) and self._test(value)


def _may_change(value: object) -> bool:
    return not isinstance(value, int | float | str | bytes | bool | tuple | frozenset)


def _is_nothing(value: object) -> bool:
    return value is None or (isinstance(value, float) and math.isinf(value) and value > 0)
