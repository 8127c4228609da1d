"""Every call of an operator: its time, what came out of it, and which operator an error began in."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Final

from trueline.adapters.guest.faults import is_users
from trueline.adapters.nouns import Value
from trueline.adapters.pipeline import Operator
from trueline.data.pipeline.answers import ChangeJson, OperatorJson
from trueline.data.pipeline.child.chance import Chance
from trueline.data.pipeline.child.changes import Changes
from trueline.data.pipeline.child.fields import FieldSeen, Reader
from trueline.data.pipeline.journal import Journal
from trueline.kernel.array import Array
from trueline.model.location import Location

_KEPT: Final = "trueline_operator"
# Of so many samples it is looked at what an operator leaves of the generators of random numbers.
_CHANCES: Final = 6
_SURE: Final = 4
_TIMES: Final = 500


@dataclass(frozen=True, slots=True)
class State:
    """One call: the operator's place, what it was given, and copies of the arrays before and after.

    ``inside`` calls that came before it in the list were made by it.
    """

    place: int
    given: Value
    before: Sequence[Array]
    after: Sequence[Array]
    inside: int


class _Seen:
    """One operator's calls."""

    def __init__(self, operator: Operator) -> None:
        self.operator = operator
        self.called: Location | None = None
        self.calls = 0
        self.seconds = 0.0
        self._times: list[tuple[float, float]] = []
        self.slowest: tuple[int, float] | None = None
        self.fields: dict[str, FieldSeen] = {}
        self.changes = Changes()
        self.chances: dict[int, tuple[int, ...]] = {}
        self.marks: dict[int, list[int]] = {}

    def timed(self, sample: int, seconds: float, busy: float) -> None:
        self.calls += 1
        self.seconds += seconds
        if len(self._times) < _TIMES:
            self._times.append((seconds, max(0.0, seconds - busy)))
        if self.slowest is None or seconds > self.slowest[1]:
            self.slowest = (sample, seconds)

    def told(self, place: int) -> OperatorJson:
        operator = self.operator
        return {
            "place": place,
            "name": operator.name,
            "kind": operator.kind,
            "settings": dict(operator.settings),
            "columns": list(operator.columns),
            "line": operator.line.line_json() if operator.line is not None else None,
            "called": self.called.line_json() if self.called is not None else None,
            "calls": self.calls,
            "seconds": self.seconds,
            "typical": statistics.median(seconds for seconds, _ in self._times) if self._times else 0.0,
            "waited": statistics.median(waited for _, waited in self._times) if self._times else 0.0,
            "slowest": self.slowest,
            "fields": [seen.told() for seen in self.fields.values()],
            "changes": [*self.changes.told(), *self._reseeds()],
        }

    def _reseeds(self) -> list[ChangeJson]:
        """Whether it leaves a generator in the same state after every sample."""
        states = list(self.chances.values())
        if len(states) < _SURE:
            return []
        kept = [state for state, *rest in zip(*states, strict=True) if all(state == other for other in rest)]
        return [{"kind": "reseeded", "sample": min(self.chances), "numbers": {}}] if kept else []


class Meter:
    """A pipelines' Meter. Off, calls are called and nothing else."""

    def __init__(self, reader: Reader, journal: Journal, chance: Chance) -> None:
        self._reader, self._journal, self._chance = reader, journal, chance
        self._seen: list[_Seen] = []
        self._order: list[int] = []
        self._sample = 0
        # For each operator under way the seconds, and the processor's, that operators inside it have taken.
        self._inside: list[list[float]] = []
        self.on = False
        self.states: list[State] | None = None
        self._traced: tuple[int, int, Callable[[], AbstractContextManager[None]]] | None = None
        self._given: Value = None

    def operator(self, operator: Operator) -> int:
        """Its place."""
        self._seen.append(_Seen(operator))
        return len(self._seen) - 1

    def sample(self, index: int) -> None:
        """From now on calls are about this sample."""
        self._sample = index
        self._inside.clear()
        self._journal.alive()
        if self.on and index < _CHANCES:
            # An operator that seeds a generator leaves the same state, whatever it was before.
            self._chance.stir()

    def stir(self) -> None:
        """The random generators go on by a step."""
        self._chance.stir()

    def fix(self) -> None:
        """The random generators begin anew, at the same place each time."""
        self._chance.fix()

    def chance(self) -> tuple[int, ...]:
        """The state of each random generator, as a number."""
        return self._chance.state()

    def trace(self, place: int, sample: int, tracing: Callable[[], AbstractContextManager[None]]) -> None:
        """From now on an operator's call on a sample goes through ``tracing``, and nothing is measured."""
        self._traced, self._given = (place, sample, tracing), None

    def untrace(self) -> object:
        """No more; what the traced call gave."""
        self._traced = None
        return self._given

    @contextmanager
    def listening(self) -> Iterator[None]:
        """In the block calls are measured."""
        self.on = True
        try:
            yield
        finally:
            self.on = False

    def run(self, place: int, call: Callable[[], Value], given: Value) -> Value:
        """What the call returns or raises."""
        if self._traced is not None and self._traced[:2] == (place, self._sample):
            with self._traced[2]():
                self._given = call()
            return self._given
        if not self.on:
            return call()
        entered = time.perf_counter()
        seen = self._seen[place]
        if place not in self._order:
            seen.called = _users_line()
        self._journal.at(self._sample, place)
        before = seen.changes.before(self._reader, given)
        self._inside.append([0.0, 0.0])
        earlier = len(self.states) if self.states is not None else 0
        began, busy = time.perf_counter(), time.process_time()
        try:
            result = call()
        except StopIteration:
            self._inside.pop()
            raise
        except BaseException as error:
            self._inside.pop()
            # The innermost operator hears of it first.
            if not hasattr(error, _KEPT):
                setattr(error, _KEPT, place)
            raise
        seconds, busy = time.perf_counter() - began, time.process_time() - busy
        inner = self._inside.pop()
        if place not in self._order:
            self._order.append(place)
        seen.timed(self._sample, seconds - inner[0], busy - inner[1])
        self._look(seen, result)
        seen.changes.after(self._reader, self._sample, before, given, result)
        if seen.operator.channels_last and before:
            seen.changes.shaped(self._sample, before[0], self._reader.arrays(result))
        if self._sample < _CHANCES:
            seen.chances[self._sample] = self._chance.state()
        if self.states is not None:
            taken = before if before is not None else self._reader.arrays(given, copy=True) if given is not None else ()
            made = self._reader.arrays(result, copy=True)
            self.states.append(State(place, given, taken, made, len(self.states) - earlier))
        if self._inside:
            # What looking took is nobody's time.
            self._inside[-1][0] += time.perf_counter() - entered
            self._inside[-1][1] += busy
        return result

    def _look(self, seen: _Seen, result: object) -> None:
        for name, value in self._reader.values(result):
            if name not in seen.fields:
                seen.fields[name] = FieldSeen(name)
            seen.fields[name].see(self._sample, value, self._reader.array(value))

    def of(self, place: int) -> Operator:
        """The operator at a place."""
        return self._seen[place].operator

    def told(self) -> list[OperatorJson]:
        """The operators in the order in which they first gave something, those that never did at the end."""
        silent = [place for place in range(len(self._seen)) if place not in self._order]
        return [self._seen[place].told(place) for place in (*self._order, *silent)]


def blamed(error: BaseException) -> int | None:
    """The place of the operator that an error began in."""
    return getattr(error, _KEPT, None)


def _users_line() -> Location | None:
    """The user's line that calls an operator."""
    frame = sys._getframe(2)
    while frame is not None:
        if is_users(frame.f_code.co_filename):
            return Location(frame.f_code.co_filename, frame.f_lineno)
        frame = frame.f_back  # type: ignore[assignment]
    return None
