"""Labels are wrong: what a script says of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trueline.apitable.functions import functions_of, names_of
from trueline.apitable.traits import Trait
from trueline.checks.ds_02_wrong_labels.overwritten import labels_overwritten, samples_overwritten
from trueline.checks.engine.check import check, found, undecided
from trueline.model.finding import Finding
from trueline.model.location import Location
from trueline.script.analysis.columns import batch_index, columns_of, outputs_of, plain, range_of, with_indexes
from trueline.script.loops import training_loops
from trueline.script.roles import Role
from trueline.script.script import Script
from trueline.script.trace import Event, Trace
from trueline.script.values import Derived, Item, Made, Value, ancestry

_CLASSES: Final = names_of(Trait.CLASS_LOSS)
_MIXING: Final = functions_of(Trait.PERMUTES)


@check("ds.02", decides=False)
def from_script(script: Script) -> Iterator[Finding]:
    """Labels that the network has no output for, and labels that are mixed without their samples."""
    trace = script.trace
    reported: set[str] = set()
    for loop in training_loops(trace):
        for event in loop.of(Role.LOSS):
            for finding in (*_outside(event, trace), *_mixed(event, trace), *_overwritten(event, trace)):
                if str(finding.where) not in reported:
                    reported.add(str(finding.where))
                    yield finding
    if not reported:
        yield undecided("ds_02.script.only_the_data")


def _target(event: Event) -> Value | None:
    return plain(event.arg(1, "target", "labels", "label"))


def _outside(event: Event, trace: Trace) -> Iterator[Finding]:
    if event.name.removesuffix(".__call__").rpartition(".")[2] not in _CLASSES:
        return
    outputs, at = outputs_of(event.arg(0)), batch_index(_target(event))
    if outputs is None or at is None:
        return
    for column in columns_of(at[0], at[1], trace):
        bounds = range_of(column)
        # From 1 to their number, or from -1: that is shifted by one, another item.
        if bounds is None or bounds in ((1, outputs), (-1, outputs - 2)):
            continue
        if bounds[1] >= outputs and bounds[1] - bounds[0] < 100_000:
            place = _drawn(column)
            if place is not None:
                yield found("ds_02.script.outside", place, low=bounds[0], high=bounds[1], outputs=outputs)


def _drawn(value: Value) -> Location | None:
    for part in ancestry(value, most=60):
        if isinstance(part, Derived) and part.op == "Mod":
            return part.place
        if isinstance(part, Made) and part.event.method in functions_of(Trait.DRAWS_WHOLE, Trait.COUNTS_UP):
            return part.event.place
    return None


def _mixed(event: Event, trace: Trace) -> Iterator[Finding]:
    """Labels in a random order of their own."""
    at = batch_index(_target(event))
    if at is None or at[1] in (0, "data"):
        return
    inputs = [value for column in columns_of(at[0], 0, trace) for value in with_indexes(column)]
    known = {id(value) for value in inputs}
    for column in columns_of(at[0], at[1], trace):
        value = plain(column)
        chosen = _order(value)
        if chosen is not None and inputs and id(chosen) not in known:
            yield found("ds_02.script.mixed", chosen.event.place)


def _overwritten(event: Event, trace: Trace) -> Iterator[Finding]:
    """Labels of other samples, or samples of other labels, written over what was there."""
    at = batch_index(_target(event))
    if at is None or at[1] in (0, "data"):
        return
    for change in labels_overwritten(at[0], at[1], trace):
        yield found("ds_02.script.mixed_in_part" if change.mixed else "ds_02.script.of_others", change.place)
    for change in samples_overwritten(at[0], at[1], trace):
        yield found("ds_02.script.copied_over", change.place)


def _order(value: Value | None) -> Made | None:
    """The random order that a label column was put in; None where it was not."""
    for _ in range(10):
        if (
            isinstance(value, Made)
            and value.event.method == "permutation"
            and not isinstance(value.event.arg(0), type(None))
        ):
            first = value.event.arg(0)
            return value if isinstance(first, Item | Made | Derived) else None
        if not isinstance(value, Item):
            return None
        index = plain(value.index)
        if isinstance(index, Made) and index.event.method in _MIXING:
            return index
        value = plain(value.of)
    return None
