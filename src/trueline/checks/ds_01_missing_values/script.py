"""Values are missing in the data: what a script says of it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final

from trueline.apitable.functions import functions_of, lower_of, names_of
from trueline.apitable.traits import Trait
from trueline.checks.ds_01_missing_values.markers import marked
from trueline.checks.engine.check import check, found, suspect, undecided
from trueline.checks.evidence.streams import training
from trueline.formats.run_folder.reader import Run
from trueline.model.finding import Certainty, Finding
from trueline.model.location import Location
from trueline.model.numbers import as_float
from trueline.script.analysis.columns import columns_of, plain, with_indexes
from trueline.script.analysis.passes import training_data
from trueline.script.analysis.statistics import reached
from trueline.script.script import Script
from trueline.script.trace import UNCALLED, Event, Trace
from trueline.script.values import Const, Derived, Made, Symbol, Value, ancestry, constant, options

_MISSING: Final = functions_of(Trait.NOT_FINITE)
# -9999 is left out: added to scores, it hides them.
_MARKERS: Final = (-999, 999, 9999, -99999, 99999)
_ASKING: Final = ("Eq", "NotEq", "Lt", "LtE", "Gt", "GtE")
_FILLING: Final = names_of(Trait.HANDLES_MISSING) | {"fit_transform"}
# What puts a number into an array.
_PUTTING: Final = functions_of(Trait.FILLS_VALUE, Trait.FILLS_WITH, Trait.SELECTS) | {"__setitem__"}


@check("ds.01", decides=False)
def from_script(script: Script) -> Iterator[Finding]:
    """Numbers that are not finite which the script itself writes into what it trains on."""
    trace = script.trace
    loaders = training_data(trace)
    if not loaders:
        yield undecided("ds_01.script.no_training_loop")
        return
    filled = [event for event in trace.events if event.method in _FILLING]
    used = {id(one) for loader in loaders for one in reached(loader)}
    told = False
    for event in trace.events:
        if any(one.kind == UNCALLED for one in event.scopes):
            continue
        written = event.arg(1) if event.method == "__setitem__" else event.arg(1, "fill_value")
        of = event.receiver if event.method == "__setitem__" else event.result
        if event.method not in _PUTTING or not _is_missing(written) or not {id(of), id(plain(of))} & used:
            continue
        told = True
        if filled:
            # That they are looked for does not show that none is left.
            places = [str(one.place) for one in filled]
            yield undecided("ds_01.script.filled", evidence=places, where=event.place)
        else:
            yield found("ds_01.script.written", event.place)
    for place, value in _markers(trace, loaders):
        told = True
        yield suspect("ds_01.script.marker", place, value=f"{value:g}")
    if not told:
        yield undecided("ds_01.script.only_the_data")


@check("ds.01", decides=False)
def from_script_and_run(script: Script, run: Run) -> Iterator[Finding]:
    """Where the script writes the markers that a run has shown to enter the network."""
    seen = {one.value: one for stream in training(run) for one in marked(run, stream) if one.enters}
    written = [(place, value) for place, value in _markers(script.trace, training_data(script.trace)) if value in seen]
    for place, value in written:
        count = len(seen[value].samples)
        yield found(
            "ds_01.script.marker",
            place,
            certainty=Certainty.LIKELY,
            measured=count,
            limit=0,
            evidence=[{"field": seen[value].field, "samples": count}],
            value=f"{value:g}",
        )
    if not written:
        yield undecided("ds_01.script.only_the_data")


def _markers(trace: Trace, loaders: Sequence[Value]) -> Iterator[tuple[Location, float]]:
    """Numbers such as 999 that are written into samples and that nothing asks for afterwards."""
    written = [
        (event, value)
        for event in trace.events
        if event.method == "__setitem__"
        and isinstance(value := constant(event.arg(1)), int | float)
        and value in _MARKERS
        and not any(one.kind == UNCALLED for one in event.scopes)
    ]
    if not written:
        return
    samples = {id(one) for loader in loaders for column in columns_of(loader, 0, trace) for one in with_indexes(column)}
    for event, value in written:
        if {id(event.receiver), id(plain(event.receiver))} & samples and not _is_known(trace, event, value):
            yield event.place, as_float(value)


def _is_known(trace: Trace, event: Event, value: float) -> bool:
    """Whether a number is compared with anything, or given to anything else, which may take it out or fill it in."""
    if any(constant(one) == value for other in trace.events if other is not event for one in _given(other)):
        return True
    return any(
        isinstance(one, Derived) and one.op in _ASKING and value in [constant(part) for part in one.of]
        for one in _everything(trace)
    )


def _given(event: Event) -> Iterator[Value]:
    yield from (one for one in (*event.args, *event.kwargs.values()) if isinstance(one, Const))


def _everything(trace: Trace) -> Iterator[Value]:
    for event in trace.events:
        yield from ancestry(event.receiver, *event.args, *event.kwargs.values(), most=30)
        for scope in event.scopes:
            if scope.value is not None:
                yield from ancestry(scope.value, most=10)


def _is_missing(value: Value | None) -> bool:
    for one in options(value):
        if isinstance(one, Const) and isinstance(one.value, float) and not math.isfinite(one.value):
            return True
        if isinstance(one, Derived) and one.op == "Div" and len(one.of) == 2:
            divisor = constant(one.of[1])
            if isinstance(divisor, int | float) and divisor == 0:
                return True
        if isinstance(one, Symbol) and one.name.rpartition(".")[2] in _MISSING:
            return True
        if isinstance(one, Made) and one.name == "builtins.float":
            given = one.event.arg(0)
            return isinstance(given, Const) and str(given.value).lower().lstrip("+-") in lower_of(Trait.NOT_FINITE)
    return False
