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
    used = {id(value) for loader in loaders for value in reached(loader)}
    reported = False
    for event in trace.events:
        if any(scope.kind == UNCALLED for scope in event.scopes):
            continue
        written = event.arg(1) if event.method == "__setitem__" else event.arg(1, "fill_value")
        of = event.receiver if event.method == "__setitem__" else event.result
        if event.method not in _PUTTING or not _is_missing(written) or not {id(of), id(plain(of))} & used:
            continue
        reported = True
        if filled:
            # That they are looked for does not show that none is left.
            places = [str(event.place) for event in filled]
            yield undecided("ds_01.script.filled", evidence=places, where=event.place)
        else:
            yield found("ds_01.script.written", event.place)
    for place, value in _markers(trace, loaders):
        reported = True
        yield suspect("ds_01.script.marker", place, value=f"{value:g}")
    if not reported:
        yield undecided("ds_01.script.only_the_data")


@check("ds.01", decides=False)
def from_script_and_run(script: Script, run: Run) -> Iterator[Finding]:
    """Where the script writes the markers that a run has shown to enter the network."""
    seen = {
        other_marked.value: other_marked
        for stream in training(run)
        for other_marked in marked(run, stream)
        if other_marked.enters
    }
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
        and not any(scope.kind == UNCALLED for scope in event.scopes)
    ]
    if not written:
        return
    samples = {
        id(value) for loader in loaders for column in columns_of(loader, 0, trace) for value in with_indexes(column)
    }
    for event, value in written:
        if {id(event.receiver), id(plain(event.receiver))} & samples and not _is_known(trace, event, value):
            yield event.place, as_float(value)


def _is_known(trace: Trace, event: Event, value: float) -> bool:
    """Whether a number is compared with anything, or given to anything else, which may take it out or fill it in."""
    if any(
        constant(part) == value
        for other_event in trace.events
        if other_event is not event
        for part in _given(other_event)
    ):
        return True
    return any(
        isinstance(other_value, Derived)
        and other_value.op in _ASKING
        and value in [constant(part) for part in other_value.of]
        for other_value in _everything(trace)
    )


def _given(event: Event) -> Iterator[Value]:
    yield from (value for value in (*event.args, *event.kwargs.values()) if isinstance(value, Const))


def _everything(trace: Trace) -> Iterator[Value]:
    for event in trace.events:
        yield from ancestry(event.receiver, *event.args, *event.kwargs.values(), most=30)
        for scope in event.scopes:
            if scope.value is not None:
                yield from ancestry(scope.value, most=10)


def _is_missing(value: Value | None) -> bool:
    for part in options(value):
        if isinstance(part, Const) and isinstance(part.value, float) and not math.isfinite(part.value):
            return True
        if isinstance(part, Derived) and part.op == "Div" and len(part.of) == 2:
            divisor = constant(part.of[1])
            if isinstance(divisor, int | float) and divisor == 0:
                return True
        if isinstance(part, Symbol) and part.name.rpartition(".")[2] in _MISSING:
            return True
        if isinstance(part, Made) and part.name == "builtins.float":
            given = part.event.arg(0)
            return isinstance(given, Const) and str(given.value).lower().lstrip("+-") in lower_of(Trait.NOT_FINITE)
    return False
