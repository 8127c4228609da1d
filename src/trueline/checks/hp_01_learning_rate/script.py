"""The learning rate is too high or too low: what a script says of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from trueline.apitable.functions import names_of, peaks
from trueline.apitable.traits import Trait
from trueline.checks.engine.check import check, found, suspect, undecided
from trueline.model.finding import Certainty, Finding
from trueline.model.location import Location
from trueline.script.roles import Role
from trueline.script.script import Script
from trueline.script.trace import UNCALLED, Event, Trace
from trueline.script.values import Const, Instance, Made, Seq, Table, Value, ancestry, constant, options
from trueline.script.walking import taken_apart

# Steps that are normalised by the gradients' size go as far as the rate says: from here on it is no rate.
_ADAPTIVE: Final = dict.fromkeys(names_of(Trait.STEP_IS_RATE), 1.0)
_PLAIN: Final = dict.fromkeys(names_of(Trait.PLAIN_STEP) | {"Adagrad"}, 10.0)
_ALONE: Final = {"SGD": 5.0, "Momentum": 5.0}
_DECAYED: Final = peaks()
_OF_A_RATE: Final = re.compile(r"(^|_)(lr|lrs|rate|peak|base|max|highest|initial|init|start)(_|$)")
_NAMES: Final = ("max_lr", "learning_rate", "learning_rates")


@dataclass(frozen=True, slots=True)
class _Rate:
    """A learning rate that is written down, and where; ``scheduled`` where something changes it.

    It is a ``part`` of a schedule of the project's own: nothing says what it is multiplied by.
    """

    value: float
    place: Location
    kind: str
    scheduled: bool
    part: bool = False


@check("hp.01", decides=False)
def from_script(script: Script, *, lowest: float = 1e-7) -> Iterator[Finding]:
    """Learning rates that are written down as numbers."""
    trace = script.trace
    built = [
        event for event in trace.of_role(Role.BUILD_OPTIMIZER) if not any(at.kind == UNCALLED for at in event.scopes)
    ]
    if not built:
        yield undecided("hp_01.script.no_optimizer")
        return
    rates = [rate for event in built for rate in _rates(event, trace)]
    if not rates:
        yield undecided("hp_01.script.not_written")
        return
    clipped = any(True for _ in trace.of_role(Role.CLIP))
    reported: set[str] = set()
    for rate in rates:
        limit = _limit(rate, clipped=clipped)
        key = str(rate.place)
        if key in reported:
            continue
        if limit is not None and rate.value >= limit:
            reported.add(key)
            yield found(
                "hp_01.script.high",
                rate.place,
                measured=rate.value,
                limit=limit,
                certainty=Certainty.LIKELY,
                rate=rate.value,
                optimizer=rate.kind,
            )
        elif 0 <= rate.value <= lowest:
            reported.add(key)
            yield found(
                "hp_01.script.low",
                rate.place,
                measured=rate.value,
                limit=lowest,
                certainty=Certainty.LIKELY,
                rate=rate.value,
                optimizer=rate.kind,
            )
        elif limit is not None and rate.value >= limit / 3:
            reported.add(key)
            yield suspect(
                "hp_01.script.high",
                rate.place,
                measured=rate.value,
                limit=limit,
                rate=rate.value,
                optimizer=rate.kind,
            )
    if not reported:
        # A usual number is no experiment.
        yield undecided("hp_01.script.usual", evidence=[{"rate": rate.value, "at": str(rate.place)} for rate in rates])


def _limit(rate: _Rate, *, clipped: bool) -> float | None:
    if rate.part:
        return None
    if rate.kind in _ADAPTIVE:
        return _ADAPTIVE[rate.kind]
    if rate.kind in _ALONE and not rate.scheduled and not clipped:
        return _ALONE[rate.kind]
    # Language models with clipped gradients are trained with rates of 20 and 30.
    return _PLAIN.get(rate.kind) if not clipped else None


def _rates(event: Event, trace: Trace) -> Iterator[_Rate]:
    """The rates of an optimizer: its own, those of its groups, the highest of a schedule."""
    kind = event.name.rpartition(".")[2]
    schedules = [
        other_event
        for other_event in trace.of_role(Role.BUILD_SCHEDULER)
        if _is_of(other_event.arg(0, "optimizer"), event)
    ]
    if any(other_event.method in names_of(Trait.SETS_RATE) for other_event in schedules) or _is_set_by_hand(trace):
        # The rate is multiplied by what a function gives, or set anew: what stands here is only a factor.
        return
    for other_event in schedules:
        if other_event.method == "OneCycleLR":
            yield from _numbers(other_event.arg(1, "max_lr"), kind, other_event.place, True)
            return
    given = event.arg(1, "lr", "learning_rate")
    scheduled = bool(schedules)
    for value in options(given):
        if isinstance(value, Made):
            at = _DECAYED.get(value.event.method)
            if at is not None:
                yield from _numbers(value.event.arg(at, *_NAMES), kind, value.event.place, True)
            continue
        if isinstance(value, Instance):
            yield from _of_schedule(value, kind)
            continue
        yield from _numbers(value, kind, event.place, scheduled)
    for table in ancestry(event.arg(0, "params"), most=60):
        if isinstance(table, Table) and "lr" in table.items:
            yield from _numbers(table.items["lr"], kind, event.place, scheduled)


def _of_schedule(value: Instance, kind: str) -> Iterator[_Rate]:
    """The highest of the rates that a schedule of the project's own keeps, by their names."""
    if not any(base.endswith("LearningRateSchedule") for base in value.cls.library_bases()):
        return
    held = [
        rate
        for name, part in value.attributes.items()
        if _OF_A_RATE.search(name)
        for rate in _numbers(part, kind, value.place, True)
    ]
    if held:
        yield replace(max(held, key=lambda rate: rate.value), part=True)


def _is_of(value: Value | None, event: Event) -> bool:
    return any(part is event.result for part in options(value))


def _is_set_by_hand(trace: Trace) -> bool:
    """``group["lr"] = …``."""
    return any(event.method == "__setitem__" and constant(event.arg(0)) == "lr" for event in trace.events)


def _numbers(value: Value | None, kind: str, place: Location, scheduled: bool) -> Iterator[_Rate]:
    """The number that is given, or the highest of a list and of lists in it; each list is looked at once."""
    rates = [
        _Rate(float(part.value), part.origin or place, kind, scheduled)
        for part in taken_apart(value, parts=lambda part: part.items if isinstance(part, Seq) else None)
        if isinstance(part, Const) and isinstance(part.value, int | float) and not isinstance(part.value, bool)
    ]
    if rates:
        yield max(rates, key=lambda rate: rate.value)
